import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';

/** Keywords whose value is a schema, a list of schemas, or schemas by name; their content is made portable, too. */
const ONE = ['items', 'additionalProperties'];
const LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const NAMED = ['properties', '$defs', 'definitions'];

/** Keywords that every server accepts unchanged. */
const PLAIN = ['type', 'enum', 'const', 'required', 'description', '$ref'];

/** Bounds that are sent up to a size: `number` limits a value, `count` a number of repetitions. */
const BOUNDS: Readonly<Record<string, 'number' | 'count'>> = {
  minimum: 'number',
  maximum: 'number',
  minItems: 'count',
  maxItems: 'count',
};

/**
 * Largest bounds that are sent. Grammars expand a count into repetitions: llama.cpp refuses 2000 of them, and is slow long before. A
 * number costs an alternative per digit.
 */
const LARGEST = { number: 100_000, count: 64 };

/**
 * Returns the part of a JSON Schema that every model server accepts: types, alternatives, names, descriptions and small bounds. Patterns,
 * formats, text lengths and large bounds make llama.cpp refuse the whole request (one `\s` is enough), Ollama's grammar likewise, and
 * OpenAI's strict mode refuses some of them. Calls and replies are checked here against the whole schema.
 *
 * Sources: the converter (`common/json-schema-to-grammar.cpp`, `MAX_REPETITION_THRESHOLD` in `src/llama-grammar.cpp`) of
 * https://github.com/ggml-org/llama.cpp.
 */
export function toPortableSchema(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      const portable = toPortableKeyword(key, value);
      return portable === undefined ? [] : [[key, portable]];
    }),
  );
}

/** Returns the portable value of a keyword; undefined for a keyword that is not sent. */
function toPortableKeyword(key: string, value: JsonValue): JsonValue | undefined {
  if (PLAIN.includes(key) || isSmall(key, value)) return value;
  if (ONE.includes(key)) return toPortableValue(value);
  if (LIST.includes(key) && Array.isArray(value)) return value.map(toPortableValue);
  if (!NAMED.includes(key) || !isJsonObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toPortableValue(inner)]));
}

function toPortableValue(value: JsonValue): JsonValue {
  return isJsonObject(value) ? toPortableSchema(value) : value;
}

function isSmall(key: string, value: JsonValue): boolean {
  const kind = Object.hasOwn(BOUNDS, key) ? BOUNDS[key] : undefined;
  return kind !== undefined && typeof value === 'number' && Math.abs(value) <= LARGEST[kind];
}

/**
 * Builds the portable JSON Schema of `schema` for a model.
 *
 * @param io `input` for values before defaults are filled in, such as a tool's arguments
 */
export function buildSchema(schema: z.ZodType, io: 'input' | 'output' = 'output'): JsonObject {
  return toPortableSchema(z.record(z.string(), z.json()).parse(z.toJSONSchema(schema, { io })));
}

/**
 * Returns true if OpenAI's strict mode accepts a schema: each object is closed, and each of its properties required. Otherwise the
 * schema is sent without strict mode, and models mostly follow it.
 */
export function isStrict(schema: JsonValue): boolean {
  if (typeof schema !== 'object' || schema === null) return true;
  if (!isJsonObject(schema)) return schema.every(isStrict);
  const { properties, required, additionalProperties } = schema;
  if (schema.type === 'object') {
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    if (additionalProperties !== false || !Array.isArray(required) || required.length !== names.length)
      return false;
  }
  return Object.values(schema).every(isStrict);
}
