import { refusedBy, type Stamp } from './layer.ts';

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
  // Weak: a large blob must not stay in memory until the next one comes.
  #lastBlob: WeakRef<Uint8Array> | undefined;

  constructor(layer: string) {
    this.#layer = layer;
  }

  /** @throws MeshError `packet` when the packet says it is from somebody else, or the frame came before */
  check({ sender, sequence }: Stamp, from: string, blob: Uint8Array): void {
    if (sender !== from)
      throw refusedBy(this.#layer, `the packet says it is from ${from}, its frame is ${sender}'s`);
    const last = this.#lastOf.get(sender);
    if (last === undefined || sequence > last) return;
    if (sequence === last && this.#lastBlob?.deref() === blob) return;
    throw refusedBy(
      this.#layer,
      `frame ${sequence} of ${sender} came before, or after frame ${last}: replayed`,
    );
  }

  remember({ sender, sequence, isVerified }: Stamp, blob: Uint8Array): void {
    if (!isVerified || this.#lastOf.get(sender) === sequence) return;
    this.#lastOf.set(sender, sequence);
    this.#lastBlob = new WeakRef(blob);
  }
}
