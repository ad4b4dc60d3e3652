import { Buffer } from 'node:buffer';
import { HEAD_LENGTHS, isPayload, isPlainPacket, type Packet, type PacketHead } from '../core/packet.ts';
import type { HeadTexts } from './json-scan.ts';
import { bufferOf, endOfNested, parseJson } from './json-scanner.ts';

const QUOTE = 0x22;
const DIGIT_0 = 0x30;
const BACKSLASH = 0x5c;
const CLOSE_BRACE = 0x7d;

/** A loop over words is quicker than a search by the system up to so many bytes. */
const SHORT_PAYLOAD_BYTES = 128;
/** Digits of a number that is plain to see. */
const MAX_TOKEN_DIGITS = 9;
const MAX_TS_DIGITS = 15;

/** Text of eight bytes or more to be found in bytes, eight at a time; the last eight may lie over those before. */
interface Words {
  readonly length: number;
  /** Eight bytes of JSON are never NaN and never zero, so that equal numbers are equal bytes. */
  readonly words: Float64Array;
}

const REPLY_TO = wordsOf('","reply_to":"');
const LOG_URI = wordsOf(',"log_uri":"');
const TS_BYTES = 6;
const TS_WORD = Buffer.from(',"ts').readInt32LE();
const TS_LAST_WORD = Buffer.from('ts":').readInt32LE();
const PAYLOAD = wordsOf(',"payload":{');

/** Bytes that may hold a packet, and the parts of it that {@link KnownJsonHead.isAt} found in them last: places in `all`. */
export class PacketPlaces {
  bytes: Buffer = Buffer.alloc(0);
  /** The memory that `bytes` is a part of. */
  all: Uint8Array = new Uint8Array(0);
  view: DataView = new DataView(new ArrayBuffer(0));
  /** Theirs: to ask a view for its memory costs more than to compare a head. */
  #memory: ArrayBufferLike | undefined;
  idEnd = 0;
  /** 0 without a `reply_to`. */
  replyToEnd = 0;
  tokens = 0;
  tokensEnd = 0;
  /** 0 without a `log_uri`. */
  logUriEnd = 0;
  ts = 0;
  tsEnd = 0;
  payload = 0;

  lookAt(blob: Uint8Array): Buffer {
    const { buffer } = blob;
    if (buffer !== this.#memory) {
      this.#memory = buffer;
      this.view = new DataView(buffer);
      this.all = new Uint8Array(buffer);
    }
    this.bytes = bufferOf(blob);
    return this.bytes;
  }

  /**
   * Whether the payload ends where only the packet ends behind it, at `end`. Its first `}` is mostly its last: then nothing can follow it,
   * and one that it leaves open is a fault inside it.
   */
  isPayloadLast(end: number): boolean {
    const { all, bytes, payload } = this;
    const last = end - 2;
    if (last <= payload || all[end - 1] !== CLOSE_BRACE || all[last] !== CLOSE_BRACE) return false;
    const base = bytes.byteOffset;
    if (last - payload <= SHORT_PAYLOAD_BYTES) {
      if (!hasCloseBrace(this.view, all, payload + 1, last)) return true;
    } else if (bytes.indexOf(CLOSE_BRACE, payload - base) + base === last) {
      return true;
    }
    const rest = bytes.subarray(payload - base, end - base);
    return endOfNested(rest, 0) === rest.length - 1;
  }

  /** Printable ASCII between two places. */
  text(start: number, end: number): string {
    const base = this.bytes.byteOffset;
    return this.bytes.toString('latin1', start - base, end - base);
  }
}

type MutablePacket = { -readonly [K in keyof Packet]: Packet[K] };

/** A head that was seen before, as the project's own encoder writes it: all but ids, numbers, `log_uri` and the payload. */
export class KnownJsonHead {
  readonly head: PacketHead;
  readonly texts: HeadTexts;
  /** Up to the id. */
  readonly #before: Words;
  /** Between the id (or `reply_to`) and the tokens. */
  readonly #between: Words;
  /** A peek leaves the syntax of node ids to `decode`. */
  readonly #isPacketHead: boolean;
  readonly #templates: MutablePacket[] = [];

  constructor(head: PacketHead) {
    const to = head.to === undefined ? '' : `,"to":${JSON.stringify(head.to)}`;
    const tag = head.tag === undefined ? '' : `,"tag":${JSON.stringify(head.tag)}`;
    const before = `{"type":${JSON.stringify(head.type)},"from":${JSON.stringify(head.from)}${to},"id":"`;
    const between = `","task_id":${JSON.stringify(head.task_id)}${tag},"token_used":`;
    this.head = head;
    this.texts = { before: Buffer.from(before), between: Buffer.from(between) };
    this.#before = wordsOf(before);
    this.#between = wordsOf(between);
    this.#isPacketHead = isPlainPacket({ ...head, ts: 0, payload: {} });
  }

  /** Whether bytes are plainly a packet with this head as far as a payload begins. Then `places` says where its parts are. */
  isAt(places: PacketPlaces, start: number, end: number): boolean {
    const { view, all } = places;
    const between = this.#between;
    if (!isThere(view, start, end, this.#before)) return false;
    let at = endOfText(all, start + this.#before.length, end);
    if (at === -1) return false;
    places.idEnd = at;
    places.replyToEnd = 0;
    if (!isThere(view, at, end, between)) {
      if (!isThere(view, at, end, REPLY_TO)) return false;
      at = endOfText(all, at + REPLY_TO.length, end);
      if (at === -1 || !isThere(view, at, end, between)) return false;
      places.replyToEnd = at;
    }
    at += between.length;
    const tokensAt = at;
    at = endOfDigits(all, at, end);
    const digits = at - tokensAt;
    if (digits === 0 || digits > MAX_TOKEN_DIGITS || (all[tokensAt] === DIGIT_0 && digits > 1)) return false;
    places.tokens = numberAt(all, tokensAt, at);
    places.tokensEnd = at;
    places.logUriEnd = 0;
    if (!isTsAt(view, at, end)) {
      if (!isThere(view, at, end, LOG_URI)) return false;
      at = endOfText(all, at + LOG_URI.length, end);
      if (at === -1 || !isTsAt(view, at + 1, end)) return false;
      places.logUriEnd = at;
      at += 1;
    }
    at += TS_BYTES;
    places.ts = at;
    while (at + 4 <= end && areDigits(view.getInt32(at, true))) at += 4;
    at = endOfDigits(all, at, end);
    places.tsEnd = at;
    if (at === places.ts || at - places.ts > MAX_TS_DIGITS) return false;
    places.payload = at + PAYLOAD.length - 1;
    return isThere(view, at, end, PAYLOAD);
  }

  /** The head of the packet that was found, and is all that `places` looks at. */
  headAt(places: PacketPlaces): PacketHead {
    const start = places.bytes.byteOffset;
    const id = places.text(start + this.#before.length, places.idEnd);
    return { ...this.head, id, token_used: places.tokens };
  }

  /**
   * The packet itself, its keys in the order in which they came; undefined where it is none after all, or not plainly. It need not be
   * known whether its payload is the last.
   *
   * @throws MeshError `packet` for a payload that is no JSON
   */
  packetAt(places: PacketPlaces): Packet | undefined {
    const start = places.bytes.byteOffset;
    const { all, bytes, idEnd, replyToEnd, tokensEnd, logUriEnd, ts, tsEnd } = places;
    if (all[start + bytes.length - 1] !== CLOSE_BRACE) return undefined;
    if (!this.#isPacketHead || (all[ts] === DIGIT_0 && tsEnd - ts > 1)) return undefined;
    const payload = parseJson(bytes, places.payload - start, bytes.length - 1);
    if (!isPayload(payload)) return undefined;
    const packet = { ...this.#template(replyToEnd > 0, logUriEnd > 0) };
    packet.id = places.text(start + this.#before.length, idEnd);
    if (replyToEnd > 0) packet.reply_to = places.text(idEnd + REPLY_TO.length, replyToEnd);
    packet.token_used = places.tokens;
    if (logUriEnd > 0) packet.log_uri = places.text(tokensEnd + LOG_URI.length, logUriEnd);
    packet.ts = numberAt(all, ts, tsEnd);
    packet.payload = payload;
    return packet;
  }

  /** A packet with these keys, to be copied: that costs less than to put keys one after the other into a new one. */
  #template(hasReplyTo: boolean, hasLogUri: boolean): MutablePacket {
    const index = (hasReplyTo ? 1 : 0) + (hasLogUri ? 2 : 0);
    const known = this.#templates[index];
    if (known !== undefined) return known;
    const { type, from, to, task_id, tag } = this.head;
    const template: MutablePacket = {
      type,
      from,
      ...(to === undefined ? {} : { to }),
      id: '',
      ...(hasReplyTo ? { reply_to: '' } : {}),
      task_id,
      ...(tag === undefined ? {} : { tag }),
      token_used: 0,
      ...(hasLogUri ? { log_uri: '' } : {}),
      // No small integer, as times are none: V8 would change the copies' layout.
      ts: Number.MAX_SAFE_INTEGER,
      payload: {},
    };
    this.#templates[index] = template;
    return template;
  }
}

function wordsOf(text: string): Words {
  const bytes = Buffer.from(text);
  const words = new Float64Array(Math.ceil(bytes.length / 8));
  for (let i = 0; i < words.length; i++) words[i] = bytes.readDoubleLE(Math.min(8 * i, bytes.length - 8));
  return { length: bytes.length, words };
}

/** Whether the text is there, and before `end`. */
function isThere(view: DataView, start: number, end: number, { length, words }: Words): boolean {
  if (start + length > end) return false;
  const last = words.length - 1;
  for (let i = 0; i < last; i++) if (view.getFloat64(start + 8 * i, true) !== words[i]) return false;
  return view.getFloat64(start + length - 8, true) === words[last];
}

function isTsAt(view: DataView, at: number, end: number): boolean {
  if (at + TS_BYTES > end) return false;
  return view.getInt32(at, true) === TS_WORD && view.getInt32(at + TS_BYTES - 4, true) === TS_LAST_WORD;
}

/** Whether four bytes are digits. */
function areDigits(word: number): boolean {
  return (word & 0xf0f0f0f0) === 0x30303030 && ((word + 0x06060606) & 0xf0f0f0f0) === 0x30303030;
}

function endOfDigits(all: Uint8Array, start: number, end: number): number {
  let at = start;
  for (; at < end; at++) {
    const digit = (all[at] ?? 0) - DIGIT_0;
    if (digit < 0 || digit > 9) break;
  }
  return at;
}

/** Of nothing but digits. */
function numberAt(all: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + (all[at] ?? 0) - DIGIT_0;
  return value;
}

/** Where the closing quote of a short text of printable ASCII without escapes is; -1 if it is another kind of text, or empty. */
function endOfText(all: Uint8Array, start: number, end: number): number {
  const bound = Math.min(end, start + HEAD_LENGTHS.id + 1);
  let at = start;
  while (at < bound && IS_PLAIN[all[at] ?? 0] === 1) at += 1;
  return at < bound && at > start && all[at] === QUOTE ? at : -1;
}

/** 1 for printable ASCII that may stand in a text as it is. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte <= 0x7e && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** Whether there is a `}` in `[start, end)`: words with a zero byte in them, once it is taken from each byte. */
function hasCloseBrace(view: DataView, all: Uint8Array, start: number, end: number): boolean {
  let at = start;
  let found = 0;
  for (; at + 4 <= end; at += 4) {
    const rest = view.getInt32(at, true) ^ 0x7d7d7d7d;
    found |= (rest - 0x01010101) & ~rest;
  }
  if ((found & 0x80808080) !== 0) return true;
  for (; at < end; at++) if (all[at] === CLOSE_BRACE) return true;
  return false;
}
