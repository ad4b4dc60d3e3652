import os from 'node:os';
import type { Batch } from '../hub/batch.ts';
import { readEpochMs } from '../system/log.ts';

const BUFFER_BYTES = 64 * 1024;
/**
 * Maximum bytes of a line: the texts of a head have at most 640 characters of at most six bytes each, and the
 * rest takes 400.
 */
const MAX_LINE_BYTES = 8 * 1024;
/** Maximum kept texts: task ids and tags are repeated in every line. */
const MAX_KEPT_TEXTS = 1000;

const DIGIT_0 = 0x30;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const WORD_BYTES = 8;
const IS_LITTLE_ENDIAN = os.endianness() === 'LE';

/**
 * Text that is written again and again, eight bytes at a time. The last eight bytes may reach beyond its end;
 * the next piece overwrites them. The words are copied as numbers, which keeps their bits: no valid UTF-8 is
 * NaN, the only number whose bits may change.
 */
class Piece {
  readonly length: number;
  readonly words: Float64Array;

  constructor(text: string) {
    this.length = Buffer.byteLength(text);
    const words = Math.ceil(this.length / WORD_BYTES);
    // The buffer has its own memory, so that it begins at a word boundary.
    const { buffer } = Buffer.alloc(words * WORD_BYTES).fill(text, 0, this.length);
    this.words = new Float64Array(buffer, 0, words);
  }
}

const TOKENS = new Piece(',"token_used":');
const BYTES = new Piece(',"bytes":');

/** Members whose text is repeated, such as `,"tag":"final_answer"`. */
class Members {
  readonly #key: string;
  readonly #kept = new Map<string, Piece>();

  constructor(key: string) {
    this.#key = key;
  }

  of(text: string): Piece {
    let piece = this.#kept.get(text);
    if (piece === undefined) {
      piece = new Piece(formatMember(this.#key, text));
      if (this.#kept.size >= MAX_KEPT_TEXTS) this.#kept.clear();
      this.#kept.set(text, piece);
    }
    return piece;
  }
}

function formatMember(key: string, text: string): string {
  return `,"${key}":${JSON.stringify(text)}`;
}

/**
 * Formats the lines of a hub's log, one JSON line per relayed packet. A hub relays a million packets a
 * second, so the lines are assembled as bytes from repeated pieces.
 */
export class PacketLines {
  readonly #write: (lines: Uint8Array) => void;
  readonly #bytes = Buffer.alloc(BUFFER_BYTES);
  readonly #view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, BUFFER_BYTES);
  #at = 0;
  readonly #tasks = new Members('task_id');
  readonly #tags = new Members('tag');

  /** `write` receives whole lines; their bytes are overwritten after it returns. */
  constructor(write: (lines: Uint8Array) => void) {
    this.#write = write;
  }

  add(batch: Batch): void {
    const { recipients, arrivedUs, forwardedUs } = batch;
    const begin = `{"level":"info","time":${readEpochMs().toFixed(3)},"event":"packet"`;
    const times = `"arrived_us":${Math.round(arrivedUs)},"forwarded_us":${Math.round(forwardedUs)}`;
    const end = new Piece(`,"recipients":${recipients.length},${times}}\n`);
    // Neighbours mostly share type, sender and recipient.
    let opening: Piece | undefined;
    let [lastType, lastFrom, lastTo]: (string | undefined)[] = [];
    batch.each(({ type, from, to, id, task_id, tag, token_used }, frameBytes) => {
      if (this.#at + MAX_LINE_BYTES > BUFFER_BYTES) this.#flush();
      if (opening === undefined || lastType !== type || lastFrom !== from || lastTo !== to) {
        const addressee = to === undefined ? '' : formatMember('to', to);
        opening = new Piece(
          `${begin}${formatMember('type', type)}${formatMember('from', from)}${addressee},"id":`,
        );
        [lastType, lastFrom, lastTo] = [type, from, to];
      }
      this.#piece(opening);
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

  #piece({ words, length }: Piece): void {
    const view = this.#view;
    const at = this.#at;
    for (let i = 0; i < words.length; i++)
      view.setFloat64(at + WORD_BYTES * i, words[i] ?? 0, IS_LITTLE_ENDIAN);
    this.#at = at + length;
  }

  /** Writes a text that is not repeated. */
  #text(text: string): void {
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = QUOTE;
    for (let i = 0; i < text.length; i++) {
      const character = text.charCodeAt(i);
      if (character < 0x20 || character > 0x7e || character === QUOTE || character === BACKSLASH) {
        this.#piece(new Piece(JSON.stringify(text)));
        return;
      }
      bytes[at++] = character;
    }
    bytes[at++] = QUOTE;
    this.#at = at;
  }

  /** Writes a non-negative whole number. */
  #number(number: number): void {
    if (number > 0x7fffffff) {
      this.#piece(new Piece(String(number)));
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
