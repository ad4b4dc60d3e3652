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
  // Weak, so that no blob stays in memory for it; a WeakRef would keep it until the end of the turn.
  readonly #sequenceOf = new WeakMap<Uint8Array, number>();

  constructor(layer: string) {
    this.#layer = layer;
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
    throw refusedBy(
      this.#layer,
      `frame ${sequence} of ${sender} came before, or after frame ${last}: replayed`,
    );
  }

  /** @throws MeshError `packet` when the packet says that it is from somebody else */
  checkSender({ sender }: Stamp, from: string): void {
    if (sender === from) return;
    throw refusedBy(this.#layer, `the packet says it is from ${from}, its frame is ${sender}'s`);
  }

  remember({ sender, sequence, isVerified }: Stamp, blob: Uint8Array): void {
    if (!isVerified || this.#lastOf.get(sender) === sequence) return;
    this.#lastOf.set(sender, sequence);
    this.#sequenceOf.set(blob, sequence);
  }
}
