import { isUtf8 } from 'node:buffer';
import { notAPacket } from './head.ts';

const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const PROTO = Buffer.from('__proto__');
/** Longer texts are decoded by a TextDecoder where msgpackr and cbor-x run without their native parts. */
const MAX_TEXT_WITHOUT_DECODER = 64;

/**
 * Judges the texts of a blob that msgpackr or cbor-x is to decode. Both replace what is not UTF-8 and rename `__proto__`;
 * both drop a byte order mark that begins a long text where they run without their native parts (as under `node --permission`).
 */
export class StrictTexts {
  readonly #bytes: Buffer;
  readonly #marked: { readonly token: number; readonly start: number; readonly end: number }[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The text in `[start .. end)`, whose header begins at `token`. */
  check(token: number, start: number, end: number, isKey: boolean): void {
    const text = this.#bytes.subarray(start, end);
    if (!isUtf8(text)) throw notAPacket('a text that is not UTF-8');
    if (isKey && text.equals(PROTO)) throw notAPacket('a key __proto__');
    const isMarked = text.length > MAX_TEXT_WITHOUT_DECODER && text.subarray(0, 3).equals(BYTE_ORDER_MARK);
    if (isMarked) this.#marked.push({ token, start, end });
  }

  /** The bytes with every dropped mark written twice: one of two is dropped. `longText` is the token of a text with a length of 32 bits. */
  withDoubledMarks(longText: number): Buffer {
    if (this.#marked.length === 0) return this.#bytes;
    const parts: Uint8Array[] = [];
    let copied = 0;
    for (const { token, start, end } of this.#marked) {
      const header = Buffer.alloc(5, longText);
      header.writeUInt32BE(end - start + BYTE_ORDER_MARK.length, 1);
      parts.push(this.#bytes.subarray(copied, token), header, BYTE_ORDER_MARK);
      copied = start;
    }
    return Buffer.concat([...parts, this.#bytes.subarray(copied)]);
  }
}
