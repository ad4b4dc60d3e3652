import { createLayerError, type Stamp } from './layer.ts';

/**
 * Refuses replayed frames. The mesh keeps order per sender, so the sequence numbers of a sender only rise;
 * some are missing where packets went to other receivers.
 *
 * A receiver may look at a frame twice (a `peek`, then a `decode`): the second look at the same blob object
 * is no replay. The same bytes that arrive again are another object. A blob must not be overwritten between
 * the two looks.
 *
 * Unverified frames are checked but not remembered: otherwise one forged number would shut out its sender for
 * good.
 */
export class ReplayGuard {
  readonly #layer: string;
  readonly #lastOf = new Map<string, number>();
  // A WeakMap keeps no blob in memory; a WeakRef would keep it until the end of the turn.
  readonly #sequenceOf = new WeakMap<Uint8Array, number>();

  constructor(layer: string) {
    this.#layer = layer;
  }

  /** Makes both checks, where sender and packet are known at once. @throws MeshError `packet` */
  check(stamp: Stamp, from: string, blob: Uint8Array): void {
    this.checkSender(stamp, from);
    this.checkNew(stamp, blob);
  }

  /** @throws MeshError `packet` for a replayed frame */
  checkNew({ sender, sequence }: Stamp, blob: Uint8Array): void {
    const last = this.#lastOf.get(sender);
    if (last === undefined || sequence > last) return;
    if (sequence === last && this.#sequenceOf.get(blob) === sequence) return;
    throw createLayerError(
      this.#layer,
      `frame ${sequence} of ${sender} came before, or after frame ${last}: replayed`,
    );
  }

  /** @throws MeshError `packet` if the packet names another sender than the frame */
  checkSender({ sender }: Stamp, from: string): void {
    if (sender === from) return;
    throw createLayerError(this.#layer, `the packet says it is from ${from}, its frame is ${sender}'s`);
  }

  remember({ sender, sequence, isVerified }: Stamp, blob: Uint8Array): void {
    const last = this.#lastOf.get(sender);
    if (!isVerified || (last !== undefined && sequence <= last)) return;
    this.#lastOf.set(sender, sequence);
    this.#sequenceOf.set(blob, sequence);
  }
}
