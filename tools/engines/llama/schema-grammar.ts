import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';

/** The rules that values share, in llama.cpp's GBNF (github.com/ggml-org/llama.cpp, grammars/README.md). */
const SHARED = {
  // A reply in one line has half the tokens of one with a line for each value.
  ws: '" "?',
  // Small models repeat themselves in a text without a bound, until the reply is cut off.
  string: '"\\"" char{0,1000} "\\""',
  char: '[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})',
  natural: '"0" | [1-9] [0-9]{0,15}',
  integer: '"-"? natural',
  number: 'integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,3})?',
  boolean: '"true" | "false"',
  null: '"null"',
  value: 'object | array | string | number | boolean | null',
  object: '"{" ws (string ":" ws value ("," ws string ":" ws value)*)? ws "}"',
  array: '"[" ws (value ("," ws value)*)? ws "]"',
};

/** Ranges of integers up to this many values are written out, such as marks from 1 to 10. */
const LISTED_INTEGERS = 101;

/** Maximum items of a list without a bound of its own: small models would continue it forever. */
const MAX_ITEMS = 32;

/** Returns the grammar of a JSON text that fits a schema, in the keywords of `toPortableSchema`; others restrict nothing. */
export function buildSchemaGrammar(schema: JsonValue): string {
  return formatRules(new SchemaRules(schema).addRoot());
}

/**
 * Returns the grammar of what follows the mark that begins a tool call, up to the mark that ends the last of them.
 *
 * @param tools the names and the schemas of their arguments
 */
export function buildCallGrammar(
  tools: readonly { readonly name: string; readonly parameters: JsonValue }[],
): string {
  const calls = tools.map(({ name, parameters }) => ({
    type: 'object',
    properties: { name: { const: name }, arguments: parameters },
    required: ['name', 'arguments'],
    // References in a tool's schema are relative to it.
    ...(isJsonObject(parameters) && parameters.$defs !== undefined ? { $defs: parameters.$defs } : {}),
  }));
  const rules = new Map<string, string>();
  const names = calls.map((call, index) => {
    const own = new SchemaRules(call, `tool${index}-`).addRoot();
    for (const [name, rule] of own) rules.set(name === 'root' ? `tool${index}` : name, rule);
    return `tool${index}`;
  });
  rules.set('call', `ws (${names.join(' | ')}) ws "</tool_call>"`);
  rules.set('root', 'call (ws "<tool_call>" call){0,3}');
  return formatRules(rules);
}

function formatRules(rules: ReadonlyMap<string, string>): string {
  return [...Object.entries(SHARED), ...rules].map(([name, rule]) => `${name} ::= ${rule}`).join('\n');
}

/** The rules of one schema; its definitions become rules of their own, so that they may refer to themselves. */
class SchemaRules {
  readonly #rules = new Map<string, string>();
  readonly #root: JsonValue;
  readonly #prefix: string;

  constructor(root: JsonValue, prefix = '') {
    this.#root = root;
    this.#prefix = prefix;
  }

  addRoot(): ReadonlyMap<string, string> {
    this.#rules.set('root', this.#express(this.#root));
    return this.#rules;
  }

  #express(schema: JsonValue | undefined): string {
    if (!isJsonObject(schema)) return 'value';
    const { $ref, anyOf, oneOf, allOf, type } = schema;
    if (typeof $ref === 'string') return this.#refer($ref);
    if (schema.const !== undefined) return toLiteral(schema.const);
    if (Array.isArray(schema.enum)) return toChoice(schema.enum.map(toLiteral));
    const choices =
      anyOf ?? oneOf ?? (Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : undefined);
    if (Array.isArray(choices)) return toChoice(choices.map((one) => this.#express(one)));
    if (Array.isArray(allOf)) return this.#express(mergeSchemas(allOf));
    switch (type) {
      case 'object':
        return this.#expressObject(schema);
      case 'array':
        return this.#expressArray(schema);
      case 'integer':
        return expressInteger(schema);
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return type;
      default:
        return schema.properties === undefined ? 'value' : this.#expressObject(schema);
    }
  }

  #refer(reference: string): string {
    const name = `${this.#prefix}def-${reference.replaceAll(/[^a-zA-Z0-9]+/g, '-')}`;
    if (!this.#rules.has(name)) {
      // The name is taken before its schema is visited, because that may refer to it.
      this.#rules.set(name, 'value');
      this.#rules.set(name, this.#express(resolve(reference, this.#root)));
    }
    return name;
  }

  #expressObject({ properties, required, additionalProperties }: JsonObject): string {
    const own = isJsonObject(properties) ? Object.entries(properties) : [];
    if (own.length === 0) {
      if (additionalProperties === false) return '"{" ws "}"';
      const value = this.#express(additionalProperties);
      return `"{" ws (string ":" ws ${value} ("," ws string ":" ws ${value})*)? ws "}"`;
    }
    const pairs = own.map(([key, schema]) => ({
      pair: `${toLiteral(key)} ":" ws ${this.#express(schema)}`,
      isRequired: Array.isArray(required) && required.includes(key),
    }));
    const needed = pairs.filter(({ isRequired }) => isRequired).map(({ pair }) => pair);
    const optional = pairs.filter(({ isRequired }) => !isRequired).map(({ pair }) => pair);
    const begun = needed.join(' "," ws ');
    const more = (some: readonly string[]) => some.map((pair) => ` ("," ws ${pair})?`).join('');
    if (needed.length > 0) return `"{" ws ${begun}${more(optional)} ws "}"`;
    // Any optional property may be the first.
    const starts = optional.map((pair, index) => `${pair}${more(optional.slice(index + 1))}`);
    return `"{" ws (${starts.join(' | ')})? ws "}"`;
  }

  #expressArray({ items, prefixItems, minItems, maxItems }: JsonObject): string {
    if (Array.isArray(prefixItems))
      return `"[" ws ${prefixItems.map((item) => this.#express(item)).join(' "," ws ')} ws "]"`;
    const item = this.#express(items);
    const least = typeof minItems === 'number' ? minItems : 0;
    const most = Math.max(typeof maxItems === 'number' ? maxItems : MAX_ITEMS, least);
    if (most === 0) return '"[" ws "]"';
    const further = `{${Math.max(least - 1, 0)},${most - 1}}`;
    const list = `${item} ("," ws ${item})${further}`;
    return `"[" ws ${least > 0 ? list : `(${list})?`} ws "]"`;
  }
}

function toLiteral(value: JsonValue): string {
  return JSON.stringify(JSON.stringify(value));
}

function toChoice(choices: readonly string[]): string {
  return choices.length === 0 ? 'value' : `(${choices.join(' | ')})`;
}

function expressInteger({ minimum, maximum }: JsonObject): string {
  if (typeof minimum !== 'number') return 'integer';
  const count = typeof maximum === 'number' ? maximum - minimum + 1 : Number.POSITIVE_INFINITY;
  if (count >= 1 && count <= LISTED_INTEGERS)
    return toChoice(Array.from({ length: count }, (_, index) => toLiteral(minimum + index)));
  return minimum >= 0 ? 'natural' : 'integer';
}

/** Joins objects that a value must all fit. */
function mergeSchemas(schemas: readonly JsonValue[]): JsonValue {
  const objects = schemas.filter(isJsonObject);
  if (objects.length === 1) return objects[0] ?? {};
  return {
    type: 'object',
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    required: objects.flatMap(({ required }) => (Array.isArray(required) ? required : [])),
  };
}

function resolve(reference: string, root: JsonValue): JsonValue | undefined {
  let target: JsonValue | undefined = root;
  for (const key of reference.split('/').slice(1))
    target = isJsonObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  return target;
}
