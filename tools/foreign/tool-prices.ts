import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { TOOL_LIST_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { formatForeignJson, keepForeignValue } from '@gaia-mesh/core/system/parse-json.ts';

/** Returns the tokens of each text. */
type CountTokens = (texts: readonly string[]) => number[] | Promise<number[]>;

/** Tokens of a tool of an MCP server. All are of JSON without white space, but names and descriptions, which are texts. */
interface ToolPrice {
  readonly name: string;
  /** Tokens of the whole entry in `tools/list`. */
  readonly tokens: number;
  readonly name_tokens: number;
  readonly description_tokens: number;
  readonly schema_tokens: number;
  /** Tokens of members that clients rarely pass on to models, such as `outputSchema` and `annotations`. */
  readonly other_tokens: number;
}

/** A part that stands in several tools. */
interface Duplicate {
  readonly what: string;
  readonly tools: readonly string[];
  /** Tokens of all its copies but one. */
  readonly tokens: number;
}

/** The price of the tools of one server, in tokens. */
interface PricedTools {
  /** Tokens of the list as one JSON value. */
  readonly tokens: number;
  readonly tools: readonly ToolPrice[];
  readonly duplicates: readonly Duplicate[];
  /** The tokens that each change would save, one after the other. */
  readonly savings: readonly { readonly change: string; readonly tokens: number }[];
}

/** Maximum duplicates that are named: those that cost most. */
const MAX_DUPLICATES = 10;
/** Duplicates below this many tokens are not worth a definition of their own. */
const MIN_DUPLICATE_TOKENS = 20;

/**
 * Counts the tokens of the tools in `tools/list`, each and together.
 *
 * @throws MeshError `packet` for an entry that is no object, `limit` for a list that is too long
 */
export async function priceTools(listed: readonly unknown[], countTokens: CountTokens): Promise<PricedTools> {
  const tools = listed.map(readEntry);
  const list = formatForeignJson(tools);
  if (Buffer.byteLength(list) > TOOL_LIST_BYTES)
    throw new MeshError(
      'limit',
      `tools/list: expected at most ${TOOL_LIST_BYTES} bytes, came ${Buffer.byteLength(list)}`,
    );
  const wholes = await countTokens([list, ...tools.map(formatForeignJson)]);
  const parts = await countTokens(
    tools.flatMap(({ name, description, inputSchema }) => [
      toText(name),
      toText(description),
      formatForeignJson(inputSchema ?? {}),
      formatForeignJson({ name, description, inputSchema }),
    ]),
  );
  const at = (index: number) => parts[index] ?? 0;
  return {
    tokens: wholes[0] ?? 0,
    tools: tools.map(({ name }, index) => {
      const tokens = wholes[index + 1] ?? 0;
      return {
        name: toText(name),
        tokens,
        name_tokens: at(4 * index),
        description_tokens: at(4 * index + 1),
        schema_tokens: at(4 * index + 2),
        other_tokens: Math.max(0, tokens - at(4 * index + 3)),
      };
    }),
    duplicates: await findDuplicates(tools, countTokens),
    savings: await measureSavings(tools, wholes[0] ?? 0, countTokens),
  };
}

function readEntry(entry: unknown, index: number): JsonObject {
  // Values nested deeper than a message may be are left out, so that no walk through them overflows the stack.
  const { value } = keepForeignValue(entry);
  if (isJsonObject(value)) return value;
  throw new MeshError('packet', `tool ${index + 1}: expected an object with a name, came ${typeof entry}`);
}

const toText = (value: JsonValue | undefined) => (typeof value === 'string' ? value : '');

async function findDuplicates(tools: readonly JsonObject[], countTokens: CountTokens): Promise<Duplicate[]> {
  const found = new Map<string, { what: string; text: string; tools: string[] }>();
  const add = (what: string, text: string, tool: string) => {
    const key = `${what}\n${text}`;
    const same = found.get(key) ?? { what, text, tools: [] };
    found.set(key, same);
    same.tools.push(tool);
  };
  for (const tool of tools) {
    const name = toText(tool.name);
    add(`the name ${name}`, name, name);
    add('a description', toText(tool.description), name);
    for (const [property, schema] of Object.entries(toObject(toObject(tool.inputSchema).properties)))
      add(`the property ${property}`, `${JSON.stringify(property)}:${formatForeignJson(schema)}`, name);
  }
  const repeated = [...found.values()].filter(({ text, tools: { length } }) => length > 1 && text !== '');
  const tokens = await countTokens(repeated.map(({ text }) => text));
  return repeated
    .map(({ what, tools: all }, index) => ({
      what,
      tools: all,
      tokens: (tokens[index] ?? 0) * (all.length - 1),
    }))
    .filter((one) => one.what.startsWith('the name ') || one.tokens >= MIN_DUPLICATE_TOKENS)
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, MAX_DUPLICATES);
}

/** Changes that make a tool shorter and leave its names, descriptions and types: models make the same calls, and the server checks them as before. */
const CHANGES: readonly { readonly change: string; readonly apply: (tool: JsonObject) => JsonObject }[] = [
  {
    change:
      'leave out what clients rarely pass on: title, outputSchema, annotations, icons, execution, _meta',
    apply: ({ name, description, inputSchema }) => ({ name, description, inputSchema }) as JsonObject,
  },
  { change: 'leave out titles, $schema, $id and $comment in schemas', apply: inSchema(omitNotes) },
  { change: 'leave out additionalProperties: false', apply: inSchema(omitClosing) },
  {
    change: 'let optional parameters be left out instead of null: no `null` type, no `default: null`',
    apply: inSchema(omitNull),
  },
  {
    change: 'leave out the bounds of whole numbers (±2^53 − 1) and empty lists',
    apply: inSchema(omitBounds),
  },
  { change: 'leave out definitions that nothing refers to', apply: inSchema(omitUnused) },
];

async function measureSavings(tools: readonly JsonObject[], all: number, countTokens: CountTokens) {
  let short = tools;
  const lists = CHANGES.map(({ apply }) => {
    short = short.map(apply);
    return formatForeignJson(short);
  });
  const tokens = await countTokens(lists);
  return CHANGES.map(({ change }, index) => ({
    change,
    tokens: (index === 0 ? all : (tokens[index - 1] ?? 0)) - (tokens[index] ?? 0),
  })).filter((saving) => saving.tokens > 0);
}

/** Returns a schema without some of its keywords. `isOptional` is true for one of a property that may be left out. */
type Edit = (schema: JsonObject, isOptional: boolean) => JsonObject;

function inSchema(edit: Edit): (tool: JsonObject) => JsonObject {
  return (tool) => ({ ...tool, inputSchema: editSchema(toObject(tool.inputSchema), edit) });
}

/** Keywords whose value is schemas by name; all others hold schemas, lists of them, or data. */
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const DATA = ['enum', 'const', 'default', 'examples', 'required', 'type'];

function editSchema(schema: JsonObject, edit: Edit, isOptional = false): JsonObject {
  const required = isJsonList(schema.required) ? schema.required : [];
  const edited = Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
    if (DATA.includes(keyword)) return [keyword, value];
    if (!NAMED.includes(keyword)) return [keyword, editValue(value, edit)];
    const named = Object.entries(toObject(value)).map(([name, inner]): [string, JsonValue] => [
      name,
      isJsonObject(inner)
        ? editSchema(inner, edit, keyword === 'properties' && !required.includes(name))
        : inner,
    ]);
    return [keyword, Object.fromEntries(named)];
  });
  return edit(Object.fromEntries(edited), isOptional);
}

function editValue(value: JsonValue, edit: Edit): JsonValue {
  if (isJsonList(value)) return value.map((item) => editValue(item, edit));
  return isJsonObject(value) ? editSchema(value, edit) : value;
}

function toObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function omit(schema: JsonObject, isOmitted: (keyword: string, value: JsonValue) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword, value]) => !isOmitted(keyword, value)));
}

function omitNotes(schema: JsonObject): JsonObject {
  return omit(
    schema,
    (keyword, value) =>
      ['title', '$schema', '$id', '$comment'].includes(keyword) && typeof value === 'string',
  );
}

function omitClosing(schema: JsonObject): JsonObject {
  return omit(schema, (keyword, value) => keyword === 'additionalProperties' && value === false);
}

function omitNull(schema: JsonObject, isOptional: boolean): JsonObject {
  if (!isOptional) return schema;
  const { anyOf, ...rest } = omit(schema, (keyword, value) => keyword === 'default' && value === null);
  if (isJsonList(rest.type)) {
    const types = rest.type.filter((type) => type !== 'null');
    return { ...rest, type: types.length === 1 ? (types[0] ?? null) : types };
  }
  if (!isJsonList(anyOf)) return anyOf === undefined ? rest : { anyOf, ...rest };
  const others = anyOf.filter((one) => toObject(one).type !== 'null');
  const [only] = others;
  return others.length === 1 && isJsonObject(only) ? { ...only, ...rest } : { anyOf: others, ...rest };
}

function omitBounds(schema: JsonObject): JsonObject {
  return omit(
    schema,
    (keyword, value) =>
      (['minimum', 'maximum'].includes(keyword) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER) ||
      (keyword === 'required' && isJsonList(value) && value.length === 0),
  );
}

function omitUnused(schema: JsonObject): JsonObject {
  if (schema.$defs === undefined && schema.definitions === undefined) return schema;
  const text = JSON.stringify(schema);
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]): [string, JsonValue][] => {
      if (keyword !== '$defs' && keyword !== 'definitions') return [[keyword, value]];
      const used = Object.entries(toObject(value)).filter(([name]) => text.includes(`#/${keyword}/${name}"`));
      return used.length === 0 ? [] : [[keyword, Object.fromEntries(used)]];
    }),
  );
}
