import type { Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { copyHead, HEAD_LENGTHS, type PacketHead } from '@gaia-mesh/core/contracts/packet.ts';
import { JsonScanner, parseJson } from './scan/json.ts';
import { createCodec, toBuffer } from './scan/scanner.ts';

const QUOTE = 0x22;
const DIGIT_0 = 0x30;
const BACKSLASH = 0x5c;
const CLOSE_BRACE = 0x7d;
const MAX_TOKEN_DIGITS = 9;
const MAX_LOG_URI_LENGTH = 1024;
const WORD_BYTES = 8;

/** Maximum number of openings that one agent's connection remembers: one for each of its types and addressees. */
const MAX_OPENINGS = 32;
/** Number of buckets for the tasks that are under way at once. */
const BUCKETS = 256;
const BUCKET_SIZE = 4;

/** Compact UTF-8 JSON of the packet, keys in the sender's order. */
export const json: ProtocolAdapter = {
  name: 'json',
  open() {
    const heads = new CompactHeads();
    const { peek, ...codec } = createCodec({
      encode: (packet) => Buffer.from(JSON.stringify(packet)),
      scan: (blob) => new JsonScanner(blob),
      parse: parseJson,
      emptyPayloadBytes: '{}'.length,
    });
    const peekAt: Codec['peekAt'] = (bytes, start, end) =>
      heads.peekAt(bytes, start, end) ?? peek(bytes.subarray(start, end));
    return { ...codec, peekAt, peek: (blob) => copyHead(peekAt(toBuffer(blob), 0, blob.length)) };
  },
};

/**
 * Eight bytes or more that are searched for in later packets. They are compared eight at a time, as numbers;
 * the last eight may overlap the previous ones.
 */
class Stretch {
  readonly length: number;
  readonly words: readonly number[];

  constructor(bytes: Buffer) {
    const count = Math.ceil(bytes.length / WORD_BYTES);
    this.length = bytes.length;
    // No word is NaN, which would be unequal to itself, since these bytes are text.
    this.words = Array.from({ length: count }, (_, i) =>
      bytes.readDoubleLE(Math.min(WORD_BYTES * i, bytes.length - WORD_BYTES)),
    );
  }
}

/** The bytes from a packet's start to its id. */
class Opening extends Stretch {
  readonly type: string;
  readonly from: string;
  readonly to: string | undefined;

  constructor(bytes: Buffer, type: string, from: string, to: string | undefined) {
    super(bytes);
    this.type = type;
    this.from = from;
    this.to = to;
  }
}

/** The bytes from the end of the id, or of `reply_to`, to the tokens. */
class Middle extends Stretch {
  readonly task_id: string;
  readonly tag: string | undefined;
  /** The middle that followed this one last time. */
  next: Middle | undefined;

  constructor(bytes: Buffer, taskId: string, tag: string | undefined) {
    super(bytes);
    this.task_id = taskId;
    this.tag = tag;
  }
}

const TYPE = new Stretch(Buffer.from('{"type":"'));
const FROM = new Stretch(Buffer.from('","from":"'));
const TO = new Stretch(Buffer.from('","to":"'));
const ID = new Stretch(Buffer.from('","id":"'));
const REPLY_TO = new Stretch(Buffer.from('","reply_to":"'));
const REPLY_TO_WORD = Buffer.from('","r').readInt32LE();
const TASK_ID = new Stretch(Buffer.from('","task_id":"'));
const TAG = new Stretch(Buffer.from('","tag":"'));
const TOKENS = new Stretch(Buffer.from('","token_used":'));
const LOG_URI = new Stretch(Buffer.from(',"log_uri":"'));
const TS_BYTES = 6;
const TS_WORD = Buffer.from(',"ts').readInt32LE();
const TS_LAST_WORD = Buffer.from('ts":').readInt32LE();
const PAYLOAD = new Stretch(Buffer.from(',"payload":{'));

/** Holds 1 for printable ASCII that needs no escape in a text. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte <= 0x7e && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** A head made from known stretches; the id, which never comes again, is read from the bytes on demand. */
class CompactHead implements PacketHead {
  readonly #opening: Opening;
  readonly #middle: Middle;
  readonly #bytes: Buffer;
  readonly #idStart: number;
  readonly #idEnd: number;
  readonly token_used: number;

  constructor(
    opening: Opening,
    middle: Middle,
    tokens: number,
    bytes: Buffer,
    idStart: number,
    idEnd: number,
  ) {
    this.#opening = opening;
    this.#middle = middle;
    this.token_used = tokens;
    this.#bytes = bytes;
    this.#idStart = idStart;
    this.#idEnd = idEnd;
  }
  get type(): string {
    return this.#opening.type;
  }

  get from(): string {
    return this.#opening.from;
  }

  get to(): string | undefined {
    return this.#opening.to;
  }

  get id(): string {
    return readShortText(this.#bytes, this.#idStart, this.#idEnd);
  }

  get task_id(): string {
    return this.#middle.task_id;
  }

  get tag(): string | undefined {
    return this.#middle.tag;
  }
}

/**
 * Reads the heads of packets as `JSON.stringify` writes them with the keys in the order of `Packet`, up to
 * the payload. The payload is last if the packet ends with two braces, since no other key holds an object.
 * Two stretches come again in packet after packet (type, sender and addressee; task and tag): they are
 * compared with the known ones, and a new one is read byte by byte and remembered.
 *
 * For a packet that is written in any other way (white space, escapes, letters beyond ASCII, another order of
 * keys) the result is undefined, and the parser has to read it.
 */
class CompactHeads {
  /** The buffer that holds the packets, and the same bytes as a view for numbers. */
  #bytes: Buffer = Buffer.alloc(0);
  #view = new DataView(this.#bytes.buffer);
  readonly #openings: Opening[] = [];
  readonly #middles: readonly Middle[][] = Array.from({ length: BUCKETS }, () => []);
  #lastMiddle = new Middle(Buffer.alloc(WORD_BYTES), '', undefined);
  #learned = 0;

  /** Returns the head of the packet in `bytes[start .. end)`; undefined if only the parser can read it. */
  peekAt(bytes: Buffer, start: number, end: number): PacketHead | undefined {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    if (bytes[end - 1] !== CLOSE_BRACE || bytes[end - 2] !== CLOSE_BRACE) return undefined;
    const view = this.#view;
    const opening = findStretch(this.#openings, view, start, end) ?? this.#newOpening(start, end);
    if (opening === undefined) return undefined;
    const idStart = start + opening.length;
    const idEnd = findTextEnd(bytes, idStart, end, HEAD_LENGTHS.id);
    if (idEnd === -1 || idEnd + WORD_BYTES > end) return undefined;
    let at = idEnd;
    if (view.getInt32(at, true) === REPLY_TO_WORD)
      at = findMemberEnd(REPLY_TO, HEAD_LENGTHS.id, view, bytes, at, end);
    // Packets of many tasks often come in turn.
    const next = this.#lastMiddle.next;
    const middle = next !== undefined && isAt(next, view, at, end) ? next : this.#middle(at, end);
    if (middle === undefined) return undefined;
    this.#lastMiddle.next = middle;
    this.#lastMiddle = middle;
    at += middle.length;
    const tokensStart = at;
    let tokens = 0;
    for (; at < end; at++) {
      const digit = (bytes[at] ?? 0) - DIGIT_0;
      if (digit < 0 || digit > 9) break;
      tokens = tokens * 10 + digit;
    }
    if (!isPlainNumber(bytes, tokensStart, at) || !isPayloadNext(view, bytes, at, end)) return undefined;
    return new CompactHead(opening, middle, tokens, bytes, idStart, idEnd);
  }

  #newOpening(start: number, end: number): Opening | undefined {
    const view = this.#view;
    const bytes = this.#bytes;
    const from = findMemberEnd(TYPE, HEAD_LENGTHS.type, view, bytes, start, end);
    const fromEnd = findMemberEnd(FROM, HEAD_LENGTHS.from, view, bytes, from, end);
    const hasTo = isAt(TO, view, fromEnd, end);
    const toEnd = hasTo ? findMemberEnd(TO, HEAD_LENGTHS.to, view, bytes, fromEnd, end) : fromEnd;
    if (!isAt(ID, view, toEnd, end)) return undefined;
    const opening = new Opening(
      bytes.subarray(start, toEnd + ID.length),
      bytes.toString('latin1', start + TYPE.length, from),
      bytes.toString('latin1', from + FROM.length, fromEnd),
      hasTo ? bytes.toString('latin1', fromEnd + TO.length, toEnd) : undefined,
    );
    return this.#learn(this.#openings, MAX_OPENINGS, opening);
  }

  #middle(start: number, end: number): Middle | undefined {
    if (start === -1) return undefined;
    const view = this.#view;
    const bytes = this.#bytes;
    const task = start + TASK_ID.length;
    const taskEnd = findTextEnd(bytes, task, end, HEAD_LENGTHS.task_id);
    if (taskEnd === -1) return undefined;
    const bucket = this.#middles[hashBucket(view, task, taskEnd)] ?? [];
    const known = findStretch(bucket, view, start, end);
    if (known !== undefined || !isAt(TASK_ID, view, start, end)) return known;
    const hasTag = isAt(TAG, view, taskEnd, end);
    const tagEnd = hasTag ? findMemberEnd(TAG, HEAD_LENGTHS.tag, view, bytes, taskEnd, end) : taskEnd;
    if (!isAt(TOKENS, view, tagEnd, end)) return undefined;
    const middle = new Middle(
      bytes.subarray(start, tagEnd + TOKENS.length),
      bytes.toString('latin1', task, taskEnd),
      hasTag ? bytes.toString('latin1', taskEnd + TAG.length, tagEnd) : undefined,
    );
    return this.#learn(bucket, BUCKET_SIZE, middle);
  }

  #learn<Known extends Stretch>(known: Known[], max: number, learned: Known): Known {
    this.#learned += 1;
    known[known.length < max ? known.length : this.#learned % max] = learned;
    return learned;
  }
}

// These are functions over local variables, not methods, because they see each packet that is relayed. `end`
// is the packet's end.

function findStretch<Known extends Stretch>(
  known: readonly Known[],
  view: DataView,
  at: number,
  end: number,
): Known | undefined {
  for (const stretch of known) if (isAt(stretch, view, at, end)) return stretch;
  return undefined;
}

function isAt({ words, length }: Stretch, view: DataView, at: number, end: number): boolean {
  if (at < 0 || at + length > end) return false;
  const last = words.length - 1;
  for (let i = 0; i < last; i++) if (view.getFloat64(at + WORD_BYTES * i, true) !== words[i]) return false;
  return view.getFloat64(at + length - WORD_BYTES, true) === words[last];
}

/**
 * Finds the closing quote of a text of printable ASCII without escapes; returns -1 if the text is of another
 * kind, empty or too long.
 */
function findTextEnd(bytes: Buffer, start: number, end: number, maxLength: number): number {
  const bound = Math.min(end, start + maxLength + 1);
  let at = start;
  while (at < bound && IS_PLAIN[bytes[at] ?? 0] === 1) at += 1;
  return at < bound && at > start && bytes[at] === QUOTE ? at : -1;
}

/** Finds the closing quote of the text behind `key`; returns -1 also where the key is missing. */
function findMemberEnd(
  key: Stretch,
  maxLength: number,
  view: DataView,
  bytes: Buffer,
  at: number,
  end: number,
): number {
  return isAt(key, view, at, end) ? findTextEnd(bytes, at + key.length, end, maxLength) : -1;
}

/** Hashes both ends of a task's id, where counted ids differ as well as random ones. */
function hashBucket(view: DataView, start: number, end: number): number {
  const first = Math.imul(view.getInt32(start, true), 0x85ebca6b);
  return Math.imul(first + view.getInt32(end - 4, true) + end - start, 0x9e3779b1) >>> 24;
}

function isPlainNumber(bytes: Buffer, start: number, end: number): boolean {
  const digits = end - start;
  return digits === 1 || (digits > 1 && digits <= MAX_TOKEN_DIGITS && bytes[start] !== DIGIT_0);
}

/** Returns true if the payload begins at `start`, behind the time and the place of a log. */
function isPayloadNext(view: DataView, bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  // The closing quote is no part of the key that follows here.
  if (isAt(LOG_URI, view, at, end)) at = findMemberEnd(LOG_URI, MAX_LOG_URI_LENGTH, view, bytes, at, end) + 1;
  if (at === 0 || at + TS_BYTES > end || view.getInt32(at, true) !== TS_WORD) return false;
  if (view.getInt32(at + TS_BYTES - 4, true) !== TS_LAST_WORD) return false;
  at += TS_BYTES;
  const ts = at;
  while (at + 4 <= end && isDigits(view.getInt32(at, true))) at += 4;
  for (; at < end; at++) {
    const digit = (bytes[at] ?? 0) - DIGIT_0;
    if (digit < 0 || digit > 9) break;
  }
  return at > ts && isAt(PAYLOAD, view, at, end);
}

/** Returns true if four bytes are digits: all are in the row of the digits, and none is above the nine. */
function isDigits(word: number): boolean {
  return (word & 0xf0f0f0f0) === 0x30303030 && ((word + 0x06060606) & 0xf0f0f0f0) === 0x30303030;
}

/** Reads a text of plain bytes; a short one without a call into the system, which would take twice as long. */
function readShortText(bytes: Buffer, start: number, end: number): string {
  if (end - start > 16) return bytes.toString('latin1', start, end);
  const at = (offset: number) => bytes[start + offset] ?? 0;
  return String.fromCharCode(
    at(0),
    at(1),
    at(2),
    at(3),
    at(4),
    at(5),
    at(6),
    at(7),
    at(8),
    at(9),
    at(10),
    at(11),
    at(12),
    at(13),
    at(14),
    at(15),
  ).slice(0, end - start);
}
