// The import is faster than the global of this name, which is looked up each time.
import { type Buffer, isAscii } from 'node:buffer';
import { type MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import { createPacketError, type EnvelopeKey, Scanner, toBuffer } from './scanner.ts';

// A byte order mark stays in the text, where JSON.parse refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Value of the byte behind the last one. */
const END = -1;

/** Walks over one JSON text, byte by byte. It never goes back, and calls do not nest with the depth of the text. */
export class JsonScanner extends Scanner {
  #isOpen = false;

  next(): EnvelopeKey | undefined {
    if (!this.#isOpen) {
      this.#expect(OPEN_BRACE);
      this.#isOpen = true;
    } else if (!this.#hasMore()) {
      this.end();
      return undefined;
    }
    this.#expect(QUOTE);
    const start = this.at;
    const end = findPlainTextEnd(this.bytes, start);
    if (end !== END) this.at = end + 1;
    const key = end === END ? this.keyNamed(this.#escapedText()) : this.keyAt(start, end);
    this.#expect(COLON);
    return key;
  }

  text(): string {
    this.#expect(QUOTE);
    const start = this.at;
    const end = findPlainTextEnd(this.bytes, start);
    if (end === END) return this.#escapedText();
    this.at = end + 1;
    return this.cachedTextAt(start, end);
  }

  value(): unknown {
    this.#next();
    const start = this.at;
    this.skipValue();
    return parseSmallNumber(this.bytes, start, this.at) ?? parseJson(this.bytes.subarray(start, this.at));
  }

  skipPayload(): boolean {
    const last = this.bytes.length - 1;
    // The system's search is many times faster than a walk, and most payloads have no closing brace but their
    // own.
    const isFlatAndLast =
      this.bytes[last] === CLOSE_BRACE && this.bytes.indexOf(CLOSE_BRACE, this.at) === last - 1;
    if (isFlatAndLast) this.at = last;
    else this.skipValue();
    return true;
  }

  /** Walks over the members of an object: `read` reads or skips the value of each; false ends the walk. */
  members(read: (name: string) => boolean): boolean {
    this.#expect(OPEN_BRACE);
    do {
      const name = this.text();
      this.#expect(COLON);
      if (!read(name)) return false;
    } while (this.#hasMore());
    return true;
  }

  /** Reads a list of exactly one item. */
  item(read: () => boolean): boolean {
    this.#expect(OPEN_BRACKET);
    if (!read()) return false;
    this.#expect(CLOSE_BRACKET);
    return true;
  }

  skipValue(): void {
    const first = this.#next();
    if (first === QUOTE) {
      this.#skipText();
    } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      this.at = this.#found(findNestedEnd(this.bytes, this.at), 'a closing bracket');
    } else {
      const start = this.at;
      this.at = findScalarEnd(this.bytes, start);
      if (this.at === start) throw this.#unexpected('a value');
    }
  }

  end(): void {
    if (this.#next() !== END) throw this.#unexpected('the end');
  }

  #expect(byte: number): void {
    if (this.#next() !== byte) throw this.#unexpected(`'${String.fromCharCode(byte)}'`);
    this.at += 1;
  }

  /**
   * Reads the byte behind a member of the object; returns true if another member follows, and false at the
   * object's end.
   */
  #hasMore(): boolean {
    const byte = this.#next();
    if (byte !== COMMA && byte !== CLOSE_BRACE) throw this.#unexpected("',' or '}'");
    this.at += 1;
    return byte === COMMA;
  }

  /** Returns the next byte that is not white space, without consuming it. */
  #next(): number {
    for (;;) {
      const byte = this.bytes[this.at] ?? END;
      if (byte > SPACE || !isWhiteSpace(byte)) return byte;
      this.at += 1;
    }
  }

  #skipText(): void {
    this.at = this.#found(findTextEnd(this.bytes, this.at + 1), 'the end of a text');
  }

  #found(end: number, wanted: string): number {
    if (end === END) throw createPacketError(`${wanted} expected, but it ends`);
    return end;
  }

  /** Reads the text whose opening quote was just read, as JSON.parse reads it. */
  #escapedText(): string {
    this.at -= 1;
    const start = this.at;
    this.#skipText();
    const text = parseJson(this.bytes.subarray(start, this.at));
    if (typeof text !== 'string' || !text.isWellFormed())
      throw createPacketError('a text with a lone surrogate');
    return text;
  }

  #unexpected(expected: string): MeshError {
    return createPacketError(`${expected} expected at byte ${this.at}`);
  }
}

/**
 * Parses a JSON value.
 *
 * @throws MeshError `packet` for bytes that are not UTF-8 or not JSON
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return parseJsonText(isAscii(bytes) ? toBuffer(bytes).toString('latin1') : utf8.decode(bytes));
  } catch (error) {
    throw createPacketError(toErrorMessage(error), error);
  }
}

// These loops see every byte of relayed packets, so they are functions over local variables, not methods.

/**
 * Finds the end of an object or array that begins at `start`; returns END if there is none. Brackets are
 * counted, not matched.
 */
function findNestedEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at];
    at += 1;
    if (byte === QUOTE) {
      at = findTextEnd(bytes, at);
      if (at === END) return END;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return END;
}

/** Length from which the system's search for the quote is faster than a loop. */
const SHORT_TEXT_BYTES = 48;

/**
 * Finds the end, behind the closing quote, of the text whose opening quote is before `start`; returns END if
 * there is none.
 */
function findTextEnd(bytes: Buffer, start: number): number {
  const loopEnd = Math.min(start + SHORT_TEXT_BYTES, bytes.length);
  let at = start;
  while (at < loopEnd) {
    const byte = bytes[at];
    at += 1;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return END;
    let backslashes = 0;
    while (quote - backslashes > at && bytes[quote - backslashes - 1] === BACKSLASH) backslashes += 1;
    at = quote + 1;
    if (backslashes % 2 === 0) return at;
  }
}

/** Finds the closing quote of a text of printable ASCII without escapes; returns END for any other text. */
function findPlainTextEnd(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] ?? END;
    if (byte === QUOTE) return at;
    if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return END;
  }
  return END;
}

function findScalarEnd(bytes: Buffer, start: number): number {
  let at = start;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? END;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isWhiteSpace(byte)) break;
  }
  return at;
}

/**
 * Parses the number in `bytes[start .. end)` if it consists of up to 15 digits, which are exact; else returns
 * undefined.
 */
function parseSmallNumber(bytes: Buffer, start: number, end: number): number | undefined {
  if (end - start > 15 || (bytes[start] === DIGIT_0 && end - start > 1)) return undefined;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? END) - DIGIT_0;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

function isWhiteSpace(byte: number): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB;
}
