import { MAX_DECODED_VALUES, MAX_PAYLOAD_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { createPacketError, type EnvelopeKey, Scanner } from './scanner.ts';

/**
 * The common part of CBOR and MessagePack, whose values begin with a byte, the token, that gives their kind
 * and length. Scanners accept values that JSON can hold, in maps whose keys are texts. They compare lengths
 * with the remaining bytes before they allocate anything.
 */
export abstract class TokenScanner extends Scanner {
  /** Number of members of the envelope that are still to come; below 0 before it has begun. */
  #left = -1;
  /** Values of the packet so far, and those that its lists and maps announce. */
  #values = 0;

  /**
   * Returns the number of pairs of the map, or bytes of the text, that `token` begins; undefined if it begins
   * another kind of value.
   */
  protected abstract mapSize(token: number): number | undefined;
  protected abstract textLength(token: number): number | undefined;
  /** Reads the value that `token` begins, nested in `depth` lists and maps. */
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
    return this.cachedTextAt(start, this.at);
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
      const key = this.cachedTextAt(start, this.at);
      // An assignment to this key would set the object's prototype.
      if (key === '__proto__') throw createPacketError('a key __proto__');
      object[key] = this.valueFrom(this.byte(), depth + 1);
    }
    return object;
  }

  /** Reads the next `length` bytes as text. */
  protected textOf(length: number): string {
    const start = this.over(length);
    return this.textAt(start, this.at);
  }

  protected refuse(what: string, token: number): never {
    throw createPacketError(`${what} (token 0x${token.toString(16)})`);
  }

  #envelopeSize(): number {
    const token = this.byte();
    return this.mapSize(token) ?? this.refuse('no map where a packet should begin', token);
  }

  /** Skips a text and returns the position where it began. */
  #textStart(): number {
    const token = this.byte();
    return this.over(this.textLength(token) ?? this.refuse('no text where one should be', token));
  }

  #checkItems(items: number, depth: number): void {
    if (depth > MAX_PAYLOAD_DEPTH) throw createPacketError(`nested deeper than ${MAX_PAYLOAD_DEPTH}`);
    if (items > this.bytes.length - this.at) throw createPacketError('it ends too early');
    this.#values += items;
    if (this.#values > MAX_DECODED_VALUES) throw createPacketError(`more than ${MAX_DECODED_VALUES} values`);
  }
}
