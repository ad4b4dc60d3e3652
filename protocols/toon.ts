import { isUtf8 } from 'node:buffer';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DECODED_VALUES, MAX_PAYLOAD_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { decode as decodeToon, encode as encodeToon } from '@toon-format/toon';
import { parseJson } from './scan/json.ts';
import { createCodec, createPacketError, type EnvelopeKey, Scanner, toBuffer } from './scan/scanner.ts';

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** End of a packet: a line end and an empty line, which stands nowhere else, so that a truncated text is refused. */
const PACKET_END = '\n\n';

/** Deepest indentation: a list in an object in a list takes two steps of two spaces. */
const MAX_INDENT = 4 * (MAX_PAYLOAD_DEPTH + 1);

/**
 * The packet as TOON (token-oriented object notation), keys in the sender's order, followed by an empty line.
 * The format is meant for models, so its figure is prompt tokens, not bytes.
 */
export const toon: ProtocolAdapter = {
  name: 'toon',
  // An empty payload takes no bytes: only its key is written.
  open: () => createCodec({ encode, parse, scan: (blob) => new ToonScanner(blob), emptyPayloadBytes: 0 }),
};

function encode(packet: Packet): Uint8Array {
  return Buffer.from(encodeToon(packet) + PACKET_END);
}

/** Parses only what the encoder writes: no comments, empty lines, other delimiters or white space. */
function parse(blob: Uint8Array): unknown {
  if (!isUtf8(blob)) throw createPacketError('it is not UTF-8');
  const text = toBuffer(blob).toString('utf8', 0, blob.length - PACKET_END.length);
  assertPlainToon(text);
  try {
    return decodeToon(text);
  } catch (error) {
    throw createPacketError(toErrorMessage(error), error);
  }
}

/** Scans the lines of the envelope. Indented lines belong to the payload, which the library reads. */
class ToonScanner extends Scanner {
  readonly #end: number;

  constructor(blob: Uint8Array) {
    super(blob);
    this.#end = this.bytes.length - 1;
    if (this.bytes[this.#end] !== LINE_FEED || this.bytes[this.#end - 1] !== LINE_FEED) {
      throw createPacketError('it does not end with an empty line');
    }
  }

  next(): EnvelopeKey | undefined {
    if (this.at === this.#end) return undefined;
    const start = this.at;
    let byte = this.bytes[start];
    while (byte !== COLON && byte !== OPEN_BRACKET && byte !== LINE_FEED) {
      this.at += 1;
      byte = this.bytes[this.at];
    }
    return this.keyAt(start, this.at);
  }

  text(): string {
    const start = this.#line();
    const end = this.at - 1;
    if (this.bytes[start] === QUOTE) {
      const text = parseJson(this.bytes.subarray(start, end));
      if (typeof text !== 'string' || !text.isWellFormed())
        throw createPacketError('a text with a lone surrogate');
      return text;
    }
    if (start === end || this.bytes[start] === SPACE || this.bytes[end - 1] === SPACE) {
      throw createPacketError('a text with spaces around it, or none');
    }
    return this.cachedTextAt(start, end);
  }

  /** Reads a number as the encoder writes it; returns undefined for anything else. */
  value(): number | undefined {
    const start = this.#line();
    const digits = this.bytes.toString('latin1', start, this.at - 1);
    return /^(?:0|[1-9]\d{0,15})$/.test(digits) ? Number(digits) : undefined;
  }

  skipPayload(): boolean {
    do this.at = this.bytes.indexOf(LINE_FEED, this.at) + 1;
    while (this.bytes[this.at] === SPACE);
    return true;
  }

  /** Skips a line `key: value` and returns the position of its value, which ends before the line end. */
  #line(): number {
    if (this.bytes[this.at] !== COLON || this.bytes[this.at + 1] !== SPACE) {
      throw createPacketError("': ' expected behind a key");
    }
    const start = this.at + 2;
    this.at = this.bytes.indexOf(LINE_FEED, this.at) + 1;
    return start;
  }
}
/**
 * Matches at an opening bracket: the empty list, or the length in the header of a list or table. Nothing else
 * has brackets.
 */
const BRACKETS = /\[(?:\](?![^\n])|\d{1,9}:?\](?=[:{]))/y;

/**
 * Refuses text that the encoder never writes and on which the decoder would spend more time or stack than
 * there are bytes: it searches for the end of white space, of nested field lists and of blank lines again and
 * again.
 *
 * @throws MeshError `packet`
 */
function assertPlainToon(text: string): void {
  if (text.length > 2 * MAX_DECODED_VALUES) checkValues(text);
  for (let at = 0; at < text.length; ) at = findLineEnd(text, at);
}

/** Counts values by what separates them. */
function checkValues(text: string): void {
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === LINE_FEED || unit === COMMA) values += 1;
  }
  if (values > MAX_DECODED_VALUES) throw createPacketError(`more than ${MAX_DECODED_VALUES} values`);
}

/** Returns the end of the line that begins at `start`, including the line end. */
function findLineEnd(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) === SPACE) at += 1;
  if (at - start > MAX_INDENT) throw createPacketError('nested too deep');
  if (text[at] === '#') throw createPacketError('a comment');
  if (at === text.length || text[at] === '\n') throw createPacketError('an empty line');
  let isQuoted = false;
  let hasBrackets = false;
  let braces = 0;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === LINE_FEED) break;
    if (unit < SPACE) throw createPacketError('a control character');
    if (unit === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) at += unit === BACKSLASH ? 1 : 0;
    else if (unit === OPEN_BRACKET) {
      BRACKETS.lastIndex = at;
      const [brackets] = BRACKETS.exec(text) ?? [];
      if (brackets === undefined || hasBrackets) throw createPacketError('misplaced brackets');
      hasBrackets = true;
      at += brackets.length - 1;
    } else if (unit === OPEN_BRACE) {
      const isFirst = braces === 0;
      if (isFirst && text[at - 1] !== ']') throw createPacketError('misplaced braces');
      braces += 1;
      if (braces > MAX_PAYLOAD_DEPTH) throw createPacketError(`nested deeper than ${MAX_PAYLOAD_DEPTH}`);
    } else if (unit === CLOSE_BRACE) {
      braces -= 1;
      if (braces < 0 || (braces === 0 && text[at + 1] !== ':')) throw createPacketError('misplaced braces');
    }
  }
  if (isQuoted || braces > 0) throw createPacketError('a line that ends inside quotes or braces');
  return at + 1;
}
