import { createLayerError, type Stamp } from './layer.ts';

/**
 * Refuses frames that came before. Order per sender is kept by the mesh, so the sequence numbers of a sender only rise; some
 * are missing where packets went to others.
 *
 * Whoever gets a frame may look at it twice (a `peek`, then a `decode`): the second look at the same blob object is no replay.
 * The same bytes coming again are another object. A blob must not be written over between the two looks.
 *
 * What is not verified is checked and not remembered: else one forged number would shut out its sender for good.
 */
export class ReplayGuard {
  readonly #layer: string;
  readonly #lastOf = new Map<string, number>();
  /** What came of a sender in its window, by number. */
  readonly #seenOf = new Map<string, Set<number>>();
  readonly #window: number;
  // Weak, so that no blob stays in memory for it; a WeakRef would keep it until the end of the turn.
  readonly #sequenceOf = new WeakMap<Uint8Array, number>();

  /** @param window numbers below the highest that may still come, once each, where order is not kept (as in RFC 4303, §3.4.3) */
  constructor(layer: string, window = 0) {
    this.#layer = layer;
    this.#window = window;
  }

  /** Both checks, where sender and packet are known at once. @throws MeshError `packet` */
  check(stamp: Stamp, from: string, blob: Uint8Array): void {
    this.checkSender(stamp, from);
    this.checkNew(stamp, blob);
  }

  /** @throws MeshError `packet` when the frame came before */
  checkNew({ sender, sequence }: Stamp, blob: Uint8Array): void {
    const last = this.#lastOf.get(sender);
    if (last === undefined || sequence > last) return;
    if (sequence === last && this.#sequenceOf.get(blob) === sequence) return;
    if (sequence > last - this.#window && this.#seenOf.get(sender)?.has(sequence) === false) return;
    throw createLayerError(
      this.#layer,
      `frame ${sequence} of ${sender} came before, or after frame ${last}: replayed`,
    );
  }

  /** @throws MeshError `packet` when the packet says that it is from somebody else */
  checkSender({ sender }: Stamp, from: string): void {
    if (sender === from) return;
    throw createLayerError(this.#layer, `the packet says it is from ${from}, its frame is ${sender}'s`);
  }

  remember({ sender, sequence, isVerified }: Stamp, blob: Uint8Array): void {
    const last = this.#lastOf.get(sender);
    if (!isVerified || last === sequence) return;
    const isHighest = last === undefined || sequence > last;
    if (this.#window > 0) this.#see(sender, sequence, isHighest ? sequence : last);
    if (!isHighest) return;
    this.#lastOf.set(sender, sequence);
    this.#sequenceOf.set(blob, sequence);
  }

  #see(sender: string, sequence: number, highest: number): void {
    const seen = this.#seenOf.get(sender) ?? new Set();
    this.#seenOf.set(sender, seen.add(sequence));
    // Now and then, so that it takes no time by the frame.
    if (seen.size < 2 * this.#window) return;
    for (const number of seen) if (number <= highest - this.#window) seen.delete(number);
  }
}
