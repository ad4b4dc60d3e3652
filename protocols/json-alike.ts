import type { AlikePackets } from '../core/adapter.ts';
import { type FrameRun, PREFIX_BYTES } from '../core/frame.ts';
import { HEAD_LENGTHS, type PacketHead } from '../core/packet.ts';
import { endOfNested } from './json-scanner.ts';

const QUOTE = 0x22;
const DIGIT_0 = 0x30;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Heads that one agent sends by turns: its types, in a few tasks at a time. */
const MAX_KNOWN = 8;
/** Where so many heads were learned without meeting one again, hardly any is learned any more. */
const MAX_LEARNED_IN_VAIN = 32;
const LEARN_EVERY = 64;
/** A loop over words is quicker than two searches by the system up to so many bytes. */
const SHORT_PAYLOAD_BYTES = 256;
/** Digits of a number that is plain to see. */
const MAX_TOKEN_DIGITS = 9;
const MAX_TS_DIGITS = 15;

/** Text to be found in bytes, four at a time; the last four may lie over those before. */
interface Words {
  readonly length: number;
  readonly words: Int32Array;
}

/** A head as the project's own encoder writes it: all but ids, numbers and the payload. */
interface Known {
  readonly head: PacketHead;
  /** Up to the id. */
  readonly before: Words;
  /** Between the id (or `reply_to`) and the tokens. */
  readonly between: Words;
}

const REPLY_TO = wordsOf('","reply_to":"');
const LOG_URI = wordsOf(',"log_uri":"');
const TS = wordsOf(',"ts":');
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

  find(run: FrameRun, from: number): AlikePackets | undefined {
    const { ends } = run;
    const bytes = this.#look(run.bytes);
    const base = bytes.byteOffset;
    let start = base + (from === 0 ? 0 : (ends[from - 1] ?? 0));
    let packets = 0;
    let tokens = 0;
    let known: Known | undefined;
    for (let i = from; i < ends.length; i++) {
      const end = base + (ends[i] ?? 0);
      const found = known === undefined ? -1 : this.#tokensOf(known, bytes, start + PREFIX_BYTES, end);
      if (found >= 0) {
        tokens += found;
      } else {
        if (packets > 0) break;
        for (const [index, candidate] of this.#known.entries()) {
          const first = this.#tokensOf(candidate, bytes, start + PREFIX_BYTES, end);
          if (first < 0) continue;
          if (index > 0) this.#known.unshift(...this.#known.splice(index, 1));
          known = candidate;
          tokens = first;
          break;
        }
        if (known === undefined) break;
      }
      packets += 1;
      start = end;
    }
    this.#wants = known === undefined;
    if (known === undefined) return undefined;
    this.#learned = 0;
    return { head: known.head, packets, tokens };
  }

  /** Whether the packet plainly has a head that was peeked before. */
  knows(blob: Uint8Array): boolean {
    const bytes = this.#look(blob);
    const end = bytes.byteOffset + bytes.length;
    this.#wants = !this.#known.some((known) => this.#tokensOf(known, bytes, bytes.byteOffset, end) >= 0);
    if (!this.#wants) this.#learned = 0;
    return !this.#wants;
  }

  /** After a peek at a packet that was not known. */
  learn(blob: Uint8Array, head: PacketHead): void {
    if (!this.#wants) return;
    this.#wants = false;
    this.#learned += 1;
    if (this.#learned > MAX_LEARNED_IN_VAIN && this.#learned % LEARN_EVERY !== 0) return;
    const to = head.to === undefined ? '' : `,"to":${JSON.stringify(head.to)}`;
    const tag = head.tag === undefined ? '' : `,"tag":${JSON.stringify(head.tag)}`;
    const known = {
      head,
      before: wordsOf(`{"type":${JSON.stringify(head.type)},"from":${JSON.stringify(head.from)}${to},"id":"`),
      between: wordsOf(`","task_id":${JSON.stringify(head.task_id)}${tag},"token_used":`),
    };
    const bytes = this.#look(blob);
    if (this.#tokensOf(known, bytes, bytes.byteOffset, bytes.byteOffset + bytes.length) < 0) return;
    this.#known.unshift(known);
    this.#known.length = Math.min(this.#known.length, MAX_KNOWN);
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
    let at = start + before.length;
    // Behind each text there is more, so it suffices that the text ends before the end.
    if (at >= end || !isAt(view, start, before)) return -1;
    at = endOfText(all, at, end);
    if (at === -1 || at + between.length >= end) return -1;
    if (!isAt(view, at, between)) {
      if (!isAt(view, at, REPLY_TO)) return -1;
      at = endOfText(all, at + REPLY_TO.length, end);
      if (at === -1 || at + between.length >= end || !isAt(view, at, between)) return -1;
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
    if (at + PAYLOAD.length >= end) return -1;
    if (!isAt(view, at, TS)) {
      if (!isAt(view, at, LOG_URI)) return -1;
      at = endOfText(all, at + LOG_URI.length, end);
      if (at === -1 || at + 1 + PAYLOAD.length >= end || !isAt(view, at + 1, TS)) return -1;
      at += 1;
    }
    at += TS.length;
    const tsAt = at;
    for (; at < end; at++) {
      const digit = (all[at] ?? 0) - DIGIT_0;
      if (digit < 0 || digit > 9) break;
    }
    if (at === tsAt || at - tsAt > MAX_TS_DIGITS || at + PAYLOAD.length >= end) return -1;
    if (!isAt(view, at, PAYLOAD)) return -1;
    const payloadAt = at + PAYLOAD.length - 1;
    return this.#isToTheEnd(bytes, payloadAt, end) ? tokens : -1;
  }

  /** Whether the object that begins at `start` ends where only the one around it ends behind it. */
  #isToTheEnd(bytes: Buffer, start: number, end: number): boolean {
    const all = this.#all;
    const last = end - 2;
    if (last <= start || all[end - 1] !== CLOSE_BRACE || all[last] !== CLOSE_BRACE) return false;
    if (last - start <= SHORT_PAYLOAD_BYTES) {
      if (!hasBrace(this.#view, all, start + 1, last)) return true;
    } else {
      const base = bytes.byteOffset;
      // Both searches end in this packet, or at the next one's first byte.
      const nextOpen = bytes.indexOf(OPEN_BRACE, start + 1 - base);
      if (
        (nextOpen === -1 || nextOpen + base >= end) &&
        bytes.indexOf(CLOSE_BRACE, start - base) + base === last
      )
        return true;
    }
    const payload = bytes.subarray(start - bytes.byteOffset, end - bytes.byteOffset);
    return endOfNested(payload, 0) === payload.length - 1;
  }
}

function wordsOf(text: string): Words {
  const bytes = Buffer.from(text);
  const words = new Int32Array(Math.ceil(bytes.length / 4));
  for (let i = 0; i < words.length; i++) words[i] = bytes.readInt32LE(Math.min(4 * i, bytes.length - 4));
  return { length: bytes.length, words };
}

function isAt(view: DataView, start: number, { length, words }: Words): boolean {
  const last = words.length - 1;
  if (start + length > view.byteLength) return false;
  for (let i = 0; i < last; i++) if (view.getInt32(start + 4 * i, true) !== words[i]) return false;
  return view.getInt32(start + length - 4, true) === words[last];
}

/** Where the closing quote of a short text of printable ASCII without escapes is; -1 if it is another kind of text, or empty. */
function endOfText(all: Uint8Array, start: number, end: number): number {
  const bound = Math.min(end, start + HEAD_LENGTHS.id + 1);
  for (let at = start; at < bound; at++) {
    const byte = all[at] ?? 0;
    if (byte === QUOTE) return at === start ? -1 : at;
    if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return -1;
  }
  return -1;
}

/** Whether there is a brace in `[start, end)`: words with a zero byte in them, once braces are taken from each byte. */
function hasBrace(view: DataView, all: Uint8Array, start: number, end: number): boolean {
  let at = start;
  let found = 0;
  for (; at + 4 <= end; at += 4) {
    const word = view.getInt32(at, true);
    const opening = word ^ 0x7b7b7b7b;
    const closing = word ^ 0x7d7d7d7d;
    found |= (opening - 0x01010101) & ~opening;
    found |= (closing - 0x01010101) & ~closing;
  }
  if ((found & 0x80808080) !== 0) return true;
  for (; at < end; at++) if (all[at] === OPEN_BRACE || all[at] === CLOSE_BRACE) return true;
  return false;
}
