import { MeshError } from '../contracts/errors.ts';
import { MAX_DECODED_VALUES, MAX_MESSAGE_DEPTH, MAX_PAYLOAD_DEPTH } from '../contracts/limits.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/packet.ts';

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Heap bytes of values in V8, rounded up: two megabytes of `{}` take fifty in memory. */
const TEXT_BYTES = 32;
const OBJECT_BYTES = 72;
const ITEM_BYTES = 24;
/** A member takes a slot; a new key also takes a shape or an entry of a table. */
const MEMBER_BYTES = 96;

/**
 * Parses a JSON text of a foreign sender: a client, a server, a model, a file of another program. The nesting
 * is checked before any value exists, in one pass without recursion, so that no later reader or writer of the
 * value runs out of stack.
 *
 * @throws SyntaxError for text that is not JSON, is nested too deep, or has a number that would be changed
 * @throws MeshError `limit` for a value that would take too much memory
 */
export function parseForeignJson(
  text: string,
  {
    maxDepth = MAX_PAYLOAD_DEPTH,
    maxBytes = Number.POSITIVE_INFINITY,
    isExact = false,
  }: {
    /** Maximum nesting of objects and arrays. */
    readonly maxDepth?: number;
    /** Maximum memory of the value, estimated before it exists. */
    readonly maxBytes?: number | undefined;
    /** True to refuse numbers that a JavaScript number changes: whole numbers beyond 2^53, and infinite ones. */
    readonly isExact?: boolean;
  } = {},
): unknown {
  let depth = 0;
  // The letters are counted here; each value and each key adds what it takes beyond them.
  let bytes = 2 * text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = findStringEnd(text, at);
      bytes += TEXT_BYTES;
    } else if (code === COMMA) {
      bytes += ITEM_BYTES;
    } else if (code === COLON) {
      bytes += MEMBER_BYTES;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      bytes += OBJECT_BYTES;
      if (depth > maxDepth) throw new SyntaxError(`nested deeper than ${maxDepth} levels`);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
    } else if (isExact && code >= ZERO && code <= NINE) {
      const start = at;
      while (!isScalarEnd(text.charCodeAt(at + 1))) at += 1;
      const digits = at - start < MIN_ROUNDED_DIGITS ? '' : text.slice(start, at + 1);
      if (digits !== '' && isRounded(digits))
        throw new SyntaxError(
          `the number ${digits.slice(0, 40)} is beyond what is kept exactly: send it as a text`,
        );
    }
  }
  if (bytes > maxBytes)
    throw new MeshError(
      'limit',
      `JSON: expected at most ${maxBytes} bytes of memory, received a value that takes ${bytes}`,
    );
  return parseJsonText(text);
}

/**
 * Estimates the memory of a decoded value as {@link parseForeignJson} does for a text. A value that occurs
 * twice counts twice.
 */
export function estimateBytes(value: unknown): number {
  let bytes = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const at = open.pop();
    bytes += ITEM_BYTES;
    if (typeof at === 'string') bytes += TEXT_BYTES + 2 * at.length;
    else if (typeof at !== 'object' || at === null) continue;
    else if (Array.isArray(at)) {
      bytes += OBJECT_BYTES;
      for (const item of at) open.push(item);
    } else {
      bytes += OBJECT_BYTES;
      for (const key of Object.keys(at)) {
        bytes += MEMBER_BYTES + 2 * key.length;
        open.push(Reflect.get(at, key));
      }
    }
  }
  return bytes;
}

/** Returns the position of the quote that ends the string which begins at `start`; the text's end if there is none. */
export function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - backslashes - 1] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * Parses a JSON text without a bug of `JSON.parse`.
 *
 * Since V8 13 (Node 24, and 26 still), `JSON.parse` compares the letters of a key as they are written,
 * escapes included, with keys that it has seen at the same place before: behind `{"h":[],"\\":0}` it reads
 * `{"h":1,"\n":2}` as `{"h":1,"\\":2}` (https://github.com/nodejs/node/issues/63785). The wrong key then
 * begins as the key is written, up to its first escape, so it always holds a backslash. Values with such keys
 * are rare and are parsed again here; all others cost a look at their keys, and only if the text has a
 * backslash at all.
 *
 * @throws SyntaxError for text that is not JSON, or has too many values
 */
export function parseJsonText(text: string): unknown {
  checkJsonValues(text);
  const value: unknown = JSON.parse(text);
  if (!text.includes('\\') || !hasBackslashKey(value)) return value;
  return new ValidText(text).value(0);
}

/**
 * Counts the values of a JSON text, or of lines of JSON, before memory is taken for them.
 *
 * @throws SyntaxError for more than `maxValues`
 */
export function checkJsonValues(text: string, maxValues = MAX_DECODED_VALUES): void {
  // Every value but the first has a mark in front of it: a line end, too, where each line is a value.
  if (text.length < maxValues) return;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (
      code === COMMA ||
      code === COLON ||
      code === OPEN_BRACKET ||
      code === OPEN_BRACE ||
      code === LINE_FEED
    )
      values += 1;
    else if (code === QUOTE) at = findStringEnd(text, at);
    if (values > maxValues) throw new SyntaxError(`more than ${maxValues} values`);
  }
}

function hasBackslashKey(value: unknown): boolean {
  // The search avoids recursion: JSON.parse accepts nesting that is deeper than the stack.
  const open = [value];
  for (let at = open.pop(); typeof at === 'object' && at !== null; at = open.pop()) {
    if (!Array.isArray(at) && Object.keys(at).some((key) => key.includes('\\'))) return true;
    const inside: unknown[] = Array.isArray(at) ? at : Object.values(at);
    for (const inner of inside) if (typeof inner === 'object' && inner !== null) open.push(inner);
  }
  return false;
}

/** Maximum nesting: deeper than any value read here may be; each level takes some of the stack. */
const MAX_DEPTH = 1000;

/** Reads a text that `JSON.parse` has accepted, so only its structure needs to be examined. */
class ValidText {
  readonly #text: string;
  readonly #foreign: Required<ForeignReading> | undefined;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string, foreign?: Required<ForeignReading>) {
    this.#text = text;
    this.#foreign = foreign;
  }

  value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) return this.#deep();
    switch (this.#next()) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#items(']', (index) => this.#inside(index, depth));
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #member(depth: number): [key: string, value: JsonValue] {
    this.#next();
    const key = this.#string();
    this.#next();
    this.#at += 1; // The colon.
    return [key, this.#inside(key, depth)];
  }

  #object(depth: number): JsonObject {
    const members = this.#items('}', () => this.#member(depth));
    const value = Object.fromEntries(members);
    if (this.#foreign === undefined || Object.keys(value).length === members.length) return value;
    const seen = new Set<string>();
    for (const [key] of members) {
      if (seen.has(key)) this.#foreign.onSecondKey([...this.#path, key]);
      seen.add(key);
    }
    return value;
  }

  /** Handles a value that is nested too deep for this reader: leaves a foreign one to `JSON.parse`, and refuses any other. */
  #deep(): JsonValue {
    if (this.#foreign === undefined) throw new SyntaxError(`nested deeper than ${MAX_DEPTH}`);
    const first = this.#next();
    if (first !== '{' && first !== '[') return first === '"' ? this.#string() : this.#scalar();
    const start = this.#at;
    let open = 0;
    do {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) this.#at = findStringEnd(this.#text, this.#at);
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) open += 1;
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open -= 1;
      this.#at += 1;
    } while (open > 0);
    return JSON.parse(this.#text.slice(start, this.#at));
  }

  #inside(step: string | number, depth: number): JsonValue {
    this.#path.push(step);
    const value = this.value(depth + 1);
    this.#path.pop();
    return value;
  }

  /** Reads the items between the next bracket and `end`. */
  #items<T>(end: string, read: (index: number) => T): T[] {
    this.#at += 1;
    const items: T[] = [];
    while (this.#next() !== end) {
      items.push(read(items.length));
      if (this.#next() === ',') this.#at += 1;
    }
    this.#at += 1;
    return items;
  }

  /** Reads a string; a string that stands alone has no key, so `JSON.parse` reads it correctly. */
  #string(): string {
    const start = this.#at;
    const end = findStringEnd(this.#text, start) + 1;
    this.#at = end;
    return JSON.parse(this.#text.slice(start, end));
  }

  #scalar(): JsonValue {
    const start = this.#at;
    while (!isScalarEnd(this.#text.charCodeAt(this.#at))) this.#at += 1;
    const scalar = this.#text.slice(start, this.#at);
    if (scalar === 'true' || scalar === 'false' || scalar === 'null') return JSON.parse(scalar);
    return this.#foreign !== undefined && isRounded(scalar)
      ? this.#foreign.keepNumber(scalar)
      : Number(scalar);
  }

  /** Returns the next character that is not white space, without consuming it. */
  #next(): string {
    while (this.#text.charCodeAt(this.#at) <= SPACE) this.#at += 1;
    return this.#text.charAt(this.#at);
  }
}

/** Returns true at the end of a number or a word; behind the text the code is NaN. */
function isScalarEnd(code: number): boolean {
  return !(code > SPACE) || code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE;
}

/**
 * A number that a JavaScript number would change: a whole number beyond 2^53, or one that is infinite. It is
 * kept as this object, which every adapter can carry, and becomes the same digits again where a value leaves
 * for other software ({@link formatForeignJson}).
 */
interface ExactNumber extends JsonObject {
  readonly $number: string;
}

const EXACT_NUMBER = /\{"\$number":"(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)"\}/g;

/** Receives a part of a foreign value that cannot be kept, by its path, and the reason. */
type OnLoss = (path: readonly (string | number)[], why: string) => void;

/** Maximum losses of one value that are named; further ones are counted. */
const MAX_LOSSES = 10;

/** The parts of one foreign value that could not be kept. */
class Losses {
  readonly #named: string[] = [];
  #more = 0;

  readonly add: OnLoss = (path, why) => {
    if (this.#named.length === MAX_LOSSES) this.#more += 1;
    else this.#named.push(path.length === 0 ? why : `${path.join('.')}: ${why}`);
  };

  get list(): string[] {
    return this.#more === 0 ? this.#named : [...this.#named, `${this.#more} more`];
  }
}

/** A foreign value as it can be kept here, and what was lost of it, each with its path and the reason. */
interface KeptJson {
  readonly value: JsonValue;
  readonly lost: readonly string[];
}

/**
 * Reads a foreign JSON text and keeps all of it that a packet can hold: see {@link keepForeignValue}. No number
 * is rounded; see {@link ExactNumber}.
 *
 * @throws SyntaxError for text that is not JSON, or is nested too deep
 */
export function keepForeignJson(text: string): KeptJson {
  const losses = new Losses();
  const onSecondKey = (path: readonly (string | number)[]) =>
    losses.add(path, 'the key comes twice: the last one counts');
  return keepForeignValue(parseExactJson(text, { onSecondKey }), losses);
}

interface ForeignReading {
  /** Maximum nesting. */
  readonly maxDepth?: number;
  /** Returns the value of a number that a JavaScript number would change; by default an {@link ExactNumber}. */
  readonly keepNumber?: (digits: string) => JsonValue;
  /** Receives the path of a key that comes twice in its object, where the last value counts. */
  readonly onSecondKey?: (path: readonly (string | number)[]) => void;
}

/**
 * Parses a foreign JSON text whose strings are pieces of longer ones, which may end within a character: they are
 * kept as they are. No number is rounded.
 *
 * @throws SyntaxError for text that is not JSON, or is nested too deep
 */
export function parseExactJson(
  text: string,
  {
    maxDepth = MAX_MESSAGE_DEPTH,
    keepNumber = ($number) => ({ $number }),
    onSecondKey = () => undefined,
  }: ForeignReading = {},
): JsonValue {
  const own = text.startsWith('\uFEFF') ? text.slice(1) : text;
  parseForeignJson(own, { maxDepth });
  return new ValidText(own, { maxDepth, keepNumber, onSecondKey }).value(0);
}

/**
 * Keeps all of a foreign value that a packet can hold: half characters become U+FFFD, members named `__proto__`
 * and values that JSON does not have are left out.
 */
export function keepForeignValue(value: unknown, losses = new Losses()): KeptJson {
  const kept = keepPart(value, [], { maxDepth: MAX_MESSAGE_DEPTH, onLoss: losses.add });
  return { value: kept ?? null, lost: losses.list };
}

/** Keeps all of a foreign value that the payload of a packet can hold; a value that is no object becomes a member of one. */
export function keepPayload(value: unknown, onLoss: OnLoss): JsonObject {
  const bounds = { maxDepth: MAX_PAYLOAD_DEPTH, onLoss };
  const kept = keepPart(isJsonObject(value) ? value : { value }, [], bounds);
  return isJsonObject(kept) ? kept : {};
}

function keepPart(
  value: unknown,
  path: (string | number)[],
  bounds: { readonly maxDepth: number; readonly onLoss: OnLoss },
): JsonValue | undefined {
  const { maxDepth, onLoss } = bounds;
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) onLoss(path, 'half a character became U+FFFD');
      return value.toWellFormed();
    case 'number':
      if (Number.isFinite(value)) return value;
      onLoss(path, `${value} is left out: JSON has no such number`);
      return undefined;
    case 'bigint':
      return toExactNumber(String(value));
    case 'boolean':
      return value;
    case 'object':
      break;
    default:
      if (value !== undefined) onLoss(path, `a ${typeof value} is left out: JSON has none`);
      return undefined;
  }
  if (value === null) return null;
  if (path.length >= maxDepth) {
    onLoss(path.slice(0, 3), `what is nested deeper than ${maxDepth} levels is left out`);
    return undefined;
  }
  const within = (step: string | number, inner: unknown) => {
    path.push(step);
    const kept = keepPart(inner, path, bounds);
    path.pop();
    return kept;
  };
  if (Array.isArray(value)) return value.map((inner, index) => within(index, inner) ?? null);
  const members = Object.entries(value).flatMap(([key, inner]): [string, JsonValue][] => {
    if (key === '__proto__') {
      onLoss([...path, key], 'a member of this name is left out: some programs obey it');
      return [];
    }
    if (!key.isWellFormed()) onLoss([...path, key.toWellFormed()], 'half a character became U+FFFD');
    const kept = within(key, inner);
    return kept === undefined ? [] : [[key.toWellFormed(), kept]];
  });
  return Object.fromEntries(members);
}

function toExactNumber(digits: string): number | ExactNumber {
  return isRounded(digits) ? { $number: digits } : Number(digits);
}

/** Shorter numbers are exact: `1e309` is the shortest that is infinite, and 2^53 has 16 digits. */
const MIN_ROUNDED_DIGITS = 4;
/** Longer numbers are infinite, or have more digits than a number keeps; comparing them takes too long. */
const MAX_NUMBER_CHARACTERS = 400;

/** Returns true if a JavaScript number would change a number: a whole one beyond 2^53, or one that is infinite. */
function isRounded(digits: string): boolean {
  if (digits.length > MAX_NUMBER_CHARACTERS) return true;
  const value = Number(digits);
  const isRisky = !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value));
  return isRisky && normalizeDecimal(digits) !== normalizeDecimal(String(value));
}

/** Returns the significant digits and the exponent of a decimal number, which are equal for equal numbers. */
function normalizeDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Formats a value for other software: each {@link ExactNumber} becomes the number that it was. */
export function formatForeignJson(value: unknown): string {
  return JSON.stringify(value)?.replace(EXACT_NUMBER, '$1') ?? 'null';
}
