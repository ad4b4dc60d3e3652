import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonList, isJsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';

/** A recorded request with its reply. */
export interface RecordedExchange<Reply> {
  /** The request: a method, or a tool. */
  readonly what: string;
  readonly request: JsonValue;
  readonly reply: Reply;
  /** Words that say where the request is in its recording. */
  readonly where: string;
}

/** Members that differ in each run, whatever their values. */
const RUN_KEYS =
  /^(?:_meta|progressToken|traceparent|nonce|(?:request|correlation|idempotency|message|invocation)_?(?:id|key))$/i;
const TIME_KEYS = /^(?:ts|time|timestamp|date|now)$|(?:_at|At|_time|Time|_ts|_ms)$/;
/** Seconds, milliseconds and microseconds between 2001 and 2100. */
const EPOCHS = [1, 1e3, 1e6].map((unit) => [1e9 * unit, 4.1e9 * unit] as const);

/** Rules for values that change from run to run: two requests are the same if they differ only in these. */
const RULES: readonly { readonly name: string; readonly pattern: RegExp; readonly isMatch?: RegExp[] }[] = [
  { name: 'UUIDs', pattern: /\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/gi },
  {
    name: 'times',
    pattern: /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g,
  },
  // Random words: keys, tokens, digests. Words of people have no digits among letters of both cases.
  { name: 'tokens', pattern: /\b[\da-f]{16,}\b/gi, isMatch: [/\d/, /[a-f]/i] },
  { name: 'tokens', pattern: /\w{20,}/g, isMatch: [/\d/, /[A-Z]/, /[a-z]|^[\dA-HJKMNP-TV-Z]{26}$/] },
];
const REQUEST_IDS = 'ids of requests';

/** Maximum requests that are compared with one that was not recorded. */
const MAX_COMPARED = 1000;
const MAX_DIFFERENCES = 5;
const MAX_SHOWN = 80;

/** The replies of a recording. A request gets the reply to the same recorded request, or several such replies in their order. */
export class RecordedReplies<Reply> {
  /** The rules in words, for the help of `serve`. */
  static readonly rules: readonly string[] = [
    `${REQUEST_IDS} and messages: members such as _meta, requestId, messageId, traceparent, nonce`,
    'UUIDs',
    'times: ISO 8601, and numbers of seconds to microseconds in members such as timestamp and created_at',
    'tokens: 16 and more hexadecimal digits, 20 and more letters of both cases with digits',
  ];

  readonly #exchanges: readonly RecordedExchange<Reply>[];
  readonly #exact: ReadonlyMap<string, readonly RecordedExchange<Reply>[]>;
  readonly #masked: ReadonlyMap<string, readonly RecordedExchange<Reply>[]>;
  readonly #used = new Set<RecordedExchange<Reply>>();

  constructor(exchanges: readonly RecordedExchange<Reply>[]) {
    this.#exchanges = exchanges;
    this.#exact = Map.groupBy(exchanges, ({ what, request }) => toKey(what, request));
    this.#masked = Map.groupBy(exchanges, ({ what, request }) => toKey(what, mask(request, new Set())));
  }

  /**
   * Finds the reply to a request. When all recorded replies to the same request have been used, the last one is repeated.
   *
   * @returns the rules by which the request is the recorded one; none if it is the same
   * @throws MeshError `packet` for a request that was not recorded, with the nearest one
   */
  find(what: string, request: JsonValue): { readonly reply: Reply; readonly rules: readonly string[] } {
    const rules = new Set<string>();
    const exact = this.#exact.get(toKey(what, request));
    const same = exact ?? this.#masked.get(toKey(what, mask(request, rules)));
    const found = same?.find((one) => !this.#used.has(one)) ?? same?.at(-1);
    if (found === undefined) throw new MeshError('packet', this.#explainMiss(what, request));
    this.#used.add(found);
    return { reply: found.reply, rules: exact === undefined ? [...rules] : [] };
  }

  #explainMiss(what: string, request: JsonValue): string {
    const came = `not recorded: ${what} ${show(request)}`;
    const candidates = this.#exchanges.filter((one) => one.what === what).slice(0, MAX_COMPARED);
    const compared = candidates.map((one) => ({
      where: one.where,
      differences: listDifferences(mask(one.request, new Set()), mask(request, new Set())),
    }));
    const cost = ({ differences }: (typeof compared)[number]) =>
      differences.reduce((sum, difference) => sum + difference.cost, 0);
    const [nearest] = compared.toSorted((a, b) => cost(a) - cost(b));
    if (nearest === undefined) {
      const names = [...new Set(this.#exchanges.map((one) => one.what))].slice(0, 10).join(', ');
      return `${came}; recorded are ${names === '' ? 'no requests' : names}`;
    }
    const { where, differences } = nearest;
    const shown = differences.slice(0, MAX_DIFFERENCES).map(({ words }) => words);
    const more =
      differences.length > MAX_DIFFERENCES ? `, and ${differences.length - MAX_DIFFERENCES} more` : '';
    return `${came}; nearest is ${where}, which differs: ${shown.join('; ')}${more}`;
  }
}

function toKey(what: string, request: JsonValue): string {
  return `${what} ${JSON.stringify(sortKeys(request))}`;
}

function sortKeys(value: JsonValue): JsonValue {
  if (isJsonList(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  // Facts about the client itself are no part of the request.
  const keys = Object.keys(value)
    .filter((key) => key !== '_meta')
    .sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key] ?? null)]));
}

/** Replaces values that change from run to run, and adds the names of the rules that matched to `rules`. */
function mask(value: JsonValue, rules: Set<string>, key = ''): JsonValue {
  if (typeof value === 'string') return maskText(value, rules);
  if (typeof value === 'number') {
    const isTime = TIME_KEYS.test(key) && EPOCHS.some(([least, most]) => value >= least && value < most);
    if (!isTime) return value;
    rules.add('times');
    return '<times>';
  }
  if (isJsonList(value)) return value.map((item) => mask(item, rules, key));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]): [string, JsonValue][] => {
    if (!RUN_KEYS.test(name)) return [[name, mask(member, rules, name)]];
    rules.add(REQUEST_IDS);
    return [];
  });
  return Object.fromEntries(members);
}

function maskText(text: string, rules: Set<string>): string {
  let masked = text;
  for (const { name, pattern, isMatch = [] } of RULES)
    masked = masked.replaceAll(pattern, (found) => {
      if (!isMatch.every((one) => one.test(found))) return found;
      rules.add(name);
      return `<${name}>`;
    });
  return masked;
}

interface Difference {
  readonly words: string;
  /** Cost from 0 to 1; it is lower for texts with more words in common. */
  readonly cost: number;
}

function listDifferences(recorded: JsonValue, came: JsonValue, path = ''): Difference[] {
  const isBoth = (is: (value: unknown) => boolean) => is(recorded) && is(came);
  if (isBoth(isJsonObject) || isBoth(isJsonList)) {
    const [one, other] = [Object(recorded), Object(came)];
    const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    return keys.flatMap((key) => {
      const at = path === '' ? key : `${path}.${key}`;
      if (!Object.hasOwn(one, key)) return [{ words: `${at} is new`, cost: 1 }];
      if (!Object.hasOwn(other, key)) return [{ words: `${at} is missing`, cost: 1 }];
      return listDifferences(one[key], other[key], at);
    });
  }
  if (recorded === came) return [];
  const words = `${path === '' ? '' : `${path}: `}recorded ${show(recorded)}, came ${show(came)}`;
  const isText = typeof recorded === 'string' && typeof came === 'string';
  return [{ words, cost: isText ? compareWords(recorded, came) : 1 }];
}

/** Returns the share of words that two texts do not have in common. */
function compareWords(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => new Set(text.toLowerCase().slice(0, 10_000).split(/\W+/)));
  if (a === undefined || b === undefined) return 1;
  const common = [...a].filter((word) => b.has(word)).length;
  return 1 - common / Math.max(1, a.size + b.size - common);
}

function show(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
