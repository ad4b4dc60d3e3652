import { findStringEnd, parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Receives what the value of a text cannot hold: a key that comes twice in an object, or a large number. */
type OnLoss = (kind: 'key' | 'number', what: string) => void;

/**
 * Parses a JSON text of another program. A whole number that a JavaScript number would round becomes a text of
 * its digits, so that two ids stay two.
 *
 * @throws SyntaxError for text that is not JSON
 */
export function parseExactJson(text: string, onLoss: OnLoss = () => undefined): unknown {
  const value = parseJsonText(text);
  const exact = quoteLargeNumbers(text, onLoss);
  return exact === text ? value : parseJsonText(exact);
}

/** Shorter numbers are exact. */
const MIN_ROUNDED_DIGITS = 16;

/** Puts whole numbers that would be rounded into quotes; the text is valid JSON. */
function quoteLargeNumbers(text: string, onLoss: OnLoss): string {
  /** Keys of the open objects, with undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  const pieces: string[] = [];
  let taken = 0;
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = findStringEnd(text, at);
      if (isKey) noteKey(open.at(-1), text.slice(at, end + 1), onLoss);
      at = end;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      open.push(code === OPEN_BRACE ? new Set() : undefined);
      isKey = code === OPEN_BRACE;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      open.pop();
    } else if (code === COMMA) {
      isKey = open.at(-1) !== undefined;
    } else if (code === COLON) {
      isKey = false;
    } else if (isNumberPart(code)) {
      const start = at;
      while (isNumberPart(text.charCodeAt(at + 1))) at += 1;
      const digits = text.slice(start, at + 1);
      if (!isRounded(digits)) continue;
      onLoss('number', digits);
      pieces.push(text.slice(taken, start), `"${digits}"`);
      taken = at + 1;
    }
  }
  return taken === 0 ? text : [...pieces, text.slice(taken)].join('');
}

function noteKey(keys: Set<string> | undefined, quoted: string, onLoss: OnLoss): void {
  const key: unknown = quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1);
  if (keys === undefined || typeof key !== 'string') return;
  if (keys.has(key)) onLoss('key', key);
  keys.add(key);
}

function isNumberPart(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === MINUS || code === PLUS || code === POINT;
}

function isRounded(digits: string): boolean {
  if (digits.length < MIN_ROUNDED_DIGITS || !/^-?\d+$/.test(digits)) return false;
  const value = Number(digits);
  // A number of more than 300 digits is infinite, which the import names.
  return Number.isFinite(value) && BigInt(value) !== BigInt(digits);
}

/** One of the JSON values that a text consists of. */
interface TextValue {
  readonly text: string;
  /** Number of its first line, from 1. */
  readonly line: number;
}

/**
 * Yields the values of a text, each of which has a line to itself or, printed for people, several. A value
 * that is never closed ends before the next line that begins with a bracket.
 */
export function* splitJsonValues(text: string): Generator<TextValue> {
  let begun: { readonly lines: string[]; readonly line: number; depth: number } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const isBracket = line.startsWith('{') || line.startsWith('[');
    if (begun !== undefined && isBracket && begun.lines.length > 0) {
      yield* giveUp(begun);
      begun = undefined;
    }
    if (begun === undefined) {
      if (line.trim() === '') continue;
      const depth = countDepth(line);
      if (!isBracket || depth <= 0) yield { text: line, line: index + 1 };
      else begun = { lines: [line], line: index + 1, depth };
      continue;
    }
    begun.lines.push(line);
    begun.depth += countDepth(line);
    if (begun.depth > 0) continue;
    yield { text: begun.lines.join('\n'), line: begun.line };
    begun = undefined;
  }
  if (begun !== undefined) yield* giveUp(begun);
}

/** Yields the lines of a value that was never closed, one by one. */
function* giveUp({
  lines,
  line,
}: {
  readonly lines: readonly string[];
  readonly line: number;
}): Generator<TextValue> {
  for (const [index, text] of lines.entries()) if (text.trim() !== '') yield { text, line: line + index };
}

/** Returns the brackets that a line opens, less those that it closes. A string never spans lines. */
function countDepth(line: string): number {
  let depth = 0;
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(line, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return depth;
}
