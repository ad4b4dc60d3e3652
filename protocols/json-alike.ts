import type { AlikePackets } from '../core/adapter.ts';
import { arena } from '../core/arena.ts';
import { type FrameRun, PREFIX_BYTES } from '../core/frame.ts';
import type { Packet, PacketHead } from '../core/packet.ts';
import { jsonScan } from './json-scan.ts';
import { KnownJsonHead, PacketPlaces } from './known-json-head.ts';

/** Heads that one agent sends by turns: its types, in a few tasks at a time. */
const MAX_KNOWN = 8;
/** Where so many heads were learned without meeting one again, hardly any is learned any more. */
const MAX_LEARNED_IN_VAIN = 32;
const LEARN_EVERY = 64;

/**
 * Finds packets with heads that came before: compact JSON in the project's own order of keys, compared with a head that was peeked. It
 * accepts nothing that a peek refuses, and sees no other head than a peek; whatever it does not know at a glance is left to the peek.
 */
export class AlikeJson {
  /** The one that was met last comes first. */
  readonly #known: KnownJsonHead[] = [];
  readonly #places = new PacketPlaces();
  #learned = 0;
  #wants = false;

  /** See `Codec.alike`. */
  find(run: FrameRun): AlikePackets | undefined {
    let at = run.at;
    const firstEnd = run.endOf(at);
    if (firstEnd === -1) return undefined;
    const places = this.#places;
    const bytes = places.lookAt(run.bytes);
    const base = bytes.byteOffset;
    let packets = 0;
    let tokens = 0;
    let known: KnownJsonHead | undefined;
    const [last] = this.#known;
    // For one alone the call costs as much as it spares.
    if (last !== undefined && arena.has(bytes) && run.endOf(firstEnd) !== -1) {
      const scan = jsonScan();
      packets = scan.count(last.texts, base + at, base + bytes.length, run.maxFrameBytes);
      if (packets > 0) {
        this.#learned = 0;
        known = last;
        tokens = scan.tokens;
        at = scan.end - base;
      }
    }
    for (let end = run.endOf(at); end !== -1; end = run.endOf(at)) {
      const start = base + at + PREFIX_BYTES;
      const next = known ?? this.#knownAt(start, base + end);
      if (next === undefined) break;
      if (known !== undefined && !known.isAt(places, start, base + end)) break;
      if (!places.isPayloadLast(base + end)) break;
      known = next;
      tokens += places.tokens;
      packets += 1;
      at = end;
    }
    return known && { head: known.head, packets, end: at, tokens };
  }

  /** What a peek would see of a packet that plainly has a head that was peeked before. */
  headOf(blob: Uint8Array): PacketHead | undefined {
    const { byteOffset: start, length } = this.#places.lookAt(blob);
    const known = this.#knownAt(start, start + length);
    if (known === undefined || !this.#places.isPayloadLast(start + length)) return undefined;
    return known.headAt(this.#places);
  }

  /**
   * The whole packet where it plainly has a head that was peeked before: only its payload is left to `JSON.parse`.
   *
   * @throws MeshError `packet` for what is none
   */
  packetOf(blob: Uint8Array): Packet | undefined {
    const { byteOffset: start, length } = this.#places.lookAt(blob);
    return this.#knownAt(start, start + length)?.packetAt(this.#places);
  }

  /** After a peek at a packet that was not known. */
  learn(blob: Uint8Array, head: PacketHead): void {
    if (!this.#wants) return;
    this.#wants = false;
    this.#learned += 1;
    if (this.#learned > MAX_LEARNED_IN_VAIN && this.#learned % LEARN_EVERY !== 0) return;
    const known = new KnownJsonHead(head);
    const { byteOffset: start, length } = this.#places.lookAt(blob);
    if (!known.isAt(this.#places, start, start + length) || !this.#places.isPayloadLast(start + length))
      return;
    this.#known.unshift(known);
    this.#known.length = Math.min(this.#known.length, MAX_KNOWN);
  }

  /** The head of the packet in `[start, end)` of the memory, if it is known. */
  #knownAt(start: number, end: number): KnownJsonHead | undefined {
    this.#wants = false;
    for (const [index, known] of this.#known.entries()) {
      if (!known.isAt(this.#places, start, end)) continue;
      if (index > 0) this.#known.unshift(...this.#known.splice(index, 1));
      this.#learned = 0;
      return known;
    }
    this.#wants = true;
    return undefined;
  }
}
