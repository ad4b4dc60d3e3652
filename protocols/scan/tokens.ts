import { MAX_PAYLOAD_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { createPacketError, type EnvelopeKey, Scanner } from './scanner.ts';
import { decodeCachedText, decodeUtf8 } from './texts.ts';

/**
 * What CBOR and MessagePack share: each value begins with a byte, the token, that says what comes and how long it is. Taken is what
 * JSON can hold, in maps that have texts for keys. Lengths are held against the bytes that are left before anything is made.
 */
export abstract class TokenScanner extends Scanner {
  /** Members of the envelope that are still to come; below 0 before it has begun. */
  #left = -1;

  /** The number of pairs of the map, or bytes of the text, that `token` begins; undefined where it begins another kind of value. */
  protected abstract mapSize(token: number): number | undefined;
  protected abstract textLength(token: number): number | undefined;
  /** The value that `token` begins, `depth` lists and maps deep. */
  protected abstract valueFrom(token: number, depth: number): unknown;

  next(): EnvelopeKey | undefined {
    if (this.#left < 0) this.#left = this.#envelopeSize();
    if (this.#left === 0) {
      if (this.at < this.bytes.length)
        throw createPacketError(`${this.bytes.length - this.at} bytes after its end`);
      return undefined;
    }
    this.#left -= 1;
    const start = this.#textStart();
    return this.keyAt(start, this.at);
  }

  text(): string {
    const start = this.#textStart();
    return decodeCachedText(this.bytes, start, this.at);
  }

  value(): unknown {
    return this.valueFrom(this.byte(), 1);
  }

  skipPayload(): boolean {
    if (this.#left > 0) return false;
    this.at = this.bytes.length;
    return true;
  }

  protected list(items: number, depth: number): unknown[] {
    this.#checkItems(items, depth);
    const list: unknown[] = [];
    for (let left = items; left > 0; left--) list.push(this.valueFrom(this.byte(), depth + 1));
    return list;
  }

  protected map(pairs: number, depth: number): object {
    this.#checkItems(2 * pairs, depth);
    const object: Record<string, unknown> = {};
    for (let left = pairs; left > 0; left--) {
      const start = this.#textStart();
      const key = decodeCachedText(this.bytes, start, this.at);
      // Assigned to, it would be the object's prototype.
      if (key === '__proto__') throw createPacketError('a key __proto__');
      object[key] = this.valueFrom(this.byte(), depth + 1);
    }
    return object;
  }

  /** The text of `length` bytes that comes next. */
  protected textOf(length: number): string {
    const start = this.over(length);
    return decodeUtf8(this.bytes, start, this.at);
  }

  protected refuse(what: string, token: number): never {
    throw createPacketError(`${what} (token 0x${token.toString(16)})`);
  }

  #envelopeSize(): number {
    const token = this.byte();
    return this.mapSize(token) ?? this.refuse('no map where a packet should begin', token);
  }

  /** Goes over a text and says where it began. */
  #textStart(): number {
    const token = this.byte();
    return this.over(this.textLength(token) ?? this.refuse('no text where one should be', token));
  }

  #checkItems(items: number, depth: number): void {
    if (depth > MAX_PAYLOAD_DEPTH) throw createPacketError(`nested deeper than ${MAX_PAYLOAD_DEPTH}`);
    if (items > this.bytes.length - this.at) throw createPacketError('it ends too early');
  }
}
