import type { AlikePackets } from '../core/adapter.ts';
import { arena } from '../core/arena.ts';
import { type FrameRun, PREFIX_BYTES } from '../core/frame.ts';
import { HEAD_LENGTHS, type PacketHead } from '../core/packet.ts';
import { type HeadTexts, jsonScan } from './json-scan.ts';
import { endOfNested } from './json-scanner.ts';

const QUOTE = 0x22;
const DIGIT_0 = 0x30;
const BACKSLASH = 0x5c;
const CLOSE_BRACE = 0x7d;

/** Heads that one agent sends by turns: its types, in a few tasks at a time. */
const MAX_KNOWN = 8;
/** Where so many heads were learned without meeting one again, hardly any is learned any more. */
const MAX_LEARNED_IN_VAIN = 32;
const LEARN_EVERY = 64;
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

/** A head as the project's own encoder writes it: all but ids, numbers and the payload. */
interface Known {
  readonly head: PacketHead;
  /** Up to the id. */
  readonly before: Words;
  /** Between the id (or `reply_to`) and the tokens. */
  readonly between: Words;
  readonly texts: HeadTexts;
}

const REPLY_TO = wordsOf('","reply_to":"');
const LOG_URI = wordsOf(',"log_uri":"');
const TS_BYTES = 6;
const TS_WORD = Buffer.from(',"ts').readInt32LE();
const TS_LAST_WORD = Buffer.from('ts":').readInt32LE();
const PAYLOAD = wordsOf(',"payload":{');

/**
 * Finds packets with one head in a run: compact JSON in the project's own order of keys, compared with a head that was peeked before. It
 * accepts nothing that a peek refuses, and sees no other head than a peek; whatever it does not know at a glance is left to the peek.
 */
export class AlikeJson {
  /** The one that was met last comes first. */
  readonly #known: Known[] = [];
  #learned = 0;
  #wants = false;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #all: Uint8Array = new Uint8Array(0);

  /** See `Codec.alike`. */
  find(run: FrameRun): AlikePackets | undefined {
    let at = run.at;
    const firstEnd = run.endOf(at);
    if (firstEnd === -1) return undefined;
    const bytes = this.#look(run.bytes);
    const base = bytes.byteOffset;
    let packets = 0;
    let tokens = 0;
    let known: Known | undefined;
    const [last] = this.#known;
    // For one alone the call costs as much as it spares.
    if (last !== undefined && arena.has(bytes) && run.endOf(firstEnd) !== -1) {
      const scan = jsonScan();
      packets = scan.count(last.texts, base + at, base + bytes.length, run.maxFrameBytes);
      if (packets > 0) {
        known = last;
        tokens = scan.tokens;
        at = scan.end - base;
      }
    }
    for (let end = run.endOf(at); end !== -1; end = run.endOf(at)) {
      const start = base + at + PREFIX_BYTES;
      const found = known === undefined ? -1 : this.#tokensOf(known, bytes, start, base + end);
      if (found >= 0) {
        tokens += found;
      } else {
        if (packets > 0) break;
        for (const [index, candidate] of this.#known.entries()) {
          const first = this.#tokensOf(candidate, bytes, start, base + end);
          if (first < 0) continue;
          if (index > 0) this.#known.unshift(...this.#known.splice(index, 1));
          known = candidate;
          tokens = first;
          break;
        }
        if (known === undefined) break;
      }
      packets += 1;
      at = end;
    }
    this.#wants = known === undefined;
    if (known === undefined) return undefined;
    this.#learned = 0;
    return { head: known.head, packets, end: at, tokens };
  }

  /** Whether the packet plainly has a head that was peeked before. */
  knows(blob: Uint8Array): boolean {
    return this.#match(blob) !== undefined;
  }

  /** What a peek would see of a packet that plainly has a head that was peeked before. */
  headOf(blob: Uint8Array): PacketHead | undefined {
    const match = this.#match(blob);
    if (match === undefined) return undefined;
    const { head, before } = match.known;
    const bytes = this.#look(blob);
    const start = bytes.byteOffset;
    const idEnd = endOfText(this.#all, start + before.length, start + bytes.length) - start;
    return { ...head, id: bytes.toString('latin1', before.length, idEnd), token_used: match.tokens };
  }

  /** After a peek at a packet that was not known. */
  learn(blob: Uint8Array, head: PacketHead): void {
    if (!this.#wants) return;
    this.#wants = false;
    this.#learned += 1;
    if (this.#learned > MAX_LEARNED_IN_VAIN && this.#learned % LEARN_EVERY !== 0) return;
    const to = head.to === undefined ? '' : `,"to":${JSON.stringify(head.to)}`;
    const tag = head.tag === undefined ? '' : `,"tag":${JSON.stringify(head.tag)}`;
    const { type, from, task_id } = head;
    const before = `{"type":${JSON.stringify(type)},"from":${JSON.stringify(from)}${to},"id":"`;
    const between = `","task_id":${JSON.stringify(task_id)}${tag},"token_used":`;
    const known = {
      head,
      before: wordsOf(before),
      between: wordsOf(between),
      texts: { before: Buffer.from(before), between: Buffer.from(between) },
    };
    const bytes = this.#look(blob);
    if (this.#tokensOf(known, bytes, bytes.byteOffset, bytes.byteOffset + bytes.length) < 0) return;
    this.#known.unshift(known);
    this.#known.length = Math.min(this.#known.length, MAX_KNOWN);
  }

  #match(blob: Uint8Array): { readonly known: Known; readonly tokens: number } | undefined {
    const bytes = this.#look(blob);
    const start = bytes.byteOffset;
    this.#wants = false;
    for (const known of this.#known) {
      const tokens = this.#tokensOf(known, bytes, start, start + bytes.length);
      if (tokens < 0) continue;
      this.#learned = 0;
      return { known, tokens };
    }
    this.#wants = true;
    return undefined;
  }

  /** Turns to the memory that `blob` lies in. */
  #look(blob: Uint8Array): Buffer {
    if (blob.buffer !== this.#all.buffer) {
      this.#view = new DataView(blob.buffer);
      this.#all = new Uint8Array(blob.buffer);
    }
    return Buffer.isBuffer(blob) ? blob : Buffer.from(blob.buffer, blob.byteOffset, blob.length);
  }

  /** The tokens of the packet in `[start, end)` of the whole memory that `bytes` is a part of; -1 where it is not plainly of this head. */
  #tokensOf(known: Known, bytes: Buffer, start: number, end: number): number {
    const view = this.#view;
    const all = this.#all;
    const { before, between } = known;
    if (!isAt(view, start, end, before)) return -1;
    let at = endOfText(all, start + before.length, end);
    if (at === -1) return -1;
    if (!isAt(view, at, end, between)) {
      if (!isAt(view, at, end, REPLY_TO)) return -1;
      at = endOfText(all, at + REPLY_TO.length, end);
      if (at === -1 || !isAt(view, at, end, between)) return -1;
    }
    at += between.length;
    const first = all[at] ?? 0;
    let tokens = 0;
    const tokensAt = at;
    for (; at < end; at++) {
      const digit = (all[at] ?? 0) - DIGIT_0;
      if (digit < 0 || digit > 9) break;
      tokens = tokens * 10 + digit;
    }
    const digits = at - tokensAt;
    if (digits === 0 || digits > MAX_TOKEN_DIGITS || (first === DIGIT_0 && digits > 1)) return -1;
    if (!isTsAt(view, at, end)) {
      if (!isAt(view, at, end, LOG_URI)) return -1;
      at = endOfText(all, at + LOG_URI.length, end);
      if (at === -1 || !isTsAt(view, at + 1, end)) return -1;
      at += 1;
    }
    at += TS_BYTES;
    const tsAt = at;
    while (at + 4 <= end && areDigits(view.getInt32(at, true))) at += 4;
    for (; at < end; at++) {
      const digit = (all[at] ?? 0) - DIGIT_0;
      if (digit < 0 || digit > 9) break;
    }
    if (at === tsAt || at - tsAt > MAX_TS_DIGITS) return -1;
    if (!isAt(view, at, end, PAYLOAD)) return -1;
    const payloadAt = at + PAYLOAD.length - 1;
    return this.#isToTheEnd(bytes, payloadAt, end) ? tokens : -1;
  }

  /**
   * Whether the object that begins at `start` ends where only the one around it ends behind it. Its first `}` is mostly its last: then
   * nothing can follow it, and one that it leaves open is a fault inside it.
   */
  #isToTheEnd(bytes: Buffer, start: number, end: number): boolean {
    const all = this.#all;
    const last = end - 2;
    if (last <= start || all[end - 1] !== CLOSE_BRACE || all[last] !== CLOSE_BRACE) return false;
    const base = bytes.byteOffset;
    if (last - start <= SHORT_PAYLOAD_BYTES) {
      if (!hasCloseBrace(this.#view, all, start + 1, last)) return true;
    } else if (bytes.indexOf(CLOSE_BRACE, start - base) + base === last) {
      return true;
    }
    const payload = bytes.subarray(start - base, end - base);
    return endOfNested(payload, 0) === payload.length - 1;
  }
}

function wordsOf(text: string): Words {
  const bytes = Buffer.from(text);
  const words = new Float64Array(Math.ceil(bytes.length / 8));
  for (let i = 0; i < words.length; i++) words[i] = bytes.readDoubleLE(Math.min(8 * i, bytes.length - 8));
  return { length: bytes.length, words };
}

/** Whether the text is there, and before `end`. */
function isAt(view: DataView, start: number, end: number, { length, words }: Words): boolean {
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
