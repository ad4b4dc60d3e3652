import type { RelayedBatch } from '../hub/mesh-observer.ts';
import { nowMs } from '../system/log.ts';

const BUFFER_BYTES = 64 * 1024;
/** The texts of a head have 640 characters at most, each of six bytes at most, and what is around them takes 400. */
const MAX_LINE_BYTES = 8 * 1024;
/** Types, ids of agents and of tasks come again in every line; more of them than this are not kept. */
const MAX_KEPT_TEXTS = 1000;
/** Longer pieces are copied by the system. */
const SHORT_PIECE_BYTES = 48;

const DIGIT_0 = 0x30;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const ID = Buffer.from(',"id":');
const TOKENS = Buffer.from(',"token_used":');
const BYTES = Buffer.from(',"bytes":');

/** A member whose text comes again: `,"type":"note"`, and the like. */
class Members {
  readonly #key: string;
  readonly #kept = new Map<string, Buffer>();

  constructor(key: string) {
    this.#key = key;
  }

  of(text: string): Buffer {
    let member = this.#kept.get(text);
    if (member === undefined) {
      member = Buffer.from(`,"${this.#key}":${JSON.stringify(text)}`);
      if (this.#kept.size >= MAX_KEPT_TEXTS) this.#kept.clear();
      this.#kept.set(text, member);
    }
    return member;
  }
}

/**
 * Lines of a hub's log, one a relayed packet, as JSON. A hub relays a million packets a second: the lines are put together as bytes, out of
 * pieces that come again.
 */
export class PacketLines {
  readonly #write: (lines: Uint8Array) => void;
  readonly #bytes = Buffer.allocUnsafe(BUFFER_BYTES);
  #at = 0;
  readonly #types = new Members('type');
  readonly #senders = new Members('from');
  readonly #addressees = new Members('to');
  readonly #tasks = new Members('task_id');
  readonly #tags = new Members('tag');

  /** `write` takes whole lines; their bytes are written over after it returns. */
  constructor(write: (lines: Uint8Array) => void) {
    this.#write = write;
  }

  add(batch: RelayedBatch): void {
    const { recipients, arrivedUs, forwardedUs } = batch;
    const begin = Buffer.from(`{"level":"info","time":${nowMs().toFixed(3)},"event":"packet"`);
    const times = `"arrived_us":${Math.round(arrivedUs)},"forwarded_us":${Math.round(forwardedUs)}`;
    const end = Buffer.from(`,"recipients":${recipients.length},${times}}\n`);
    batch.each(({ type, from, to, id, task_id, tag, token_used }, frameBytes) => {
      if (this.#at + MAX_LINE_BYTES > BUFFER_BYTES) this.#flush();
      this.#piece(begin);
      this.#piece(this.#types.of(type));
      this.#piece(this.#senders.of(from));
      if (to !== undefined) this.#piece(this.#addressees.of(to));
      this.#piece(ID);
      this.#text(id);
      this.#piece(this.#tasks.of(task_id));
      if (tag !== undefined) this.#piece(this.#tags.of(tag));
      this.#piece(TOKENS);
      this.#number(token_used);
      this.#piece(BYTES);
      this.#number(frameBytes);
      this.#piece(end);
    });
    this.#flush();
  }

  #flush(): void {
    this.#write(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
  }

  #piece(piece: Buffer): void {
    const bytes = this.#bytes;
    const at = this.#at;
    const { length } = piece;
    if (length > SHORT_PIECE_BYTES) bytes.set(piece, at);
    else for (let i = 0; i < length; i++) bytes[at + i] = piece[i] ?? 0;
    this.#at = at + length;
  }

  /** One that does not come again. */
  #text(text: string): void {
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = QUOTE;
    for (let i = 0; i < text.length; i++) {
      const character = text.charCodeAt(i);
      if (character < 0x20 || character > 0x7e || character === QUOTE || character === BACKSLASH) {
        this.#piece(Buffer.from(JSON.stringify(text)));
        return;
      }
      bytes[at++] = character;
    }
    bytes[at++] = QUOTE;
    this.#at = at;
  }

  /** A whole number that is not below 0. */
  #number(number: number): void {
    if (number > 0x7fffffff) {
      this.#piece(Buffer.from(String(number)));
      return;
    }
    let digits = 1;
    for (let rest = number; rest > 9; rest = (rest / 10) | 0) digits += 1;
    let rest = number;
    for (let at = this.#at + digits - 1; at >= this.#at; at--) {
      const tenth = (rest / 10) | 0;
      this.#bytes[at] = DIGIT_0 + rest - 10 * tenth;
      rest = tenth;
    }
    this.#at += digits;
  }
}
