import type { AdapterSession, PeerIdentity } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';

/**
 * A layer turns the bytes of one packet into others and back. As with an adapter, the value has no state, and
 * the codec that it opens belongs to one connection. To add one, write a file in `protocols/layers/` and a
 * line in `protocols/layers/registry.ts`.
 */
export interface Layer {
  readonly name: string;
  /**
   * Opens the layer; the offers of the session are this layer's own. @throws MeshError `handshake` for a
   * layer that works through {@link join} only
   */
  open(session: AdapterSession): LayerCodec;
  /** Joins a run, for layers whose members have keys of their own; see `ProtocolAdapter.join`. */
  join?(member: PeerIdentity): LayerMembership;
}

interface LayerMembership extends Pick<Layer, 'open'> {
  readonly offer: JsonValue;
}

export interface LayerCodec {
  /** Number of bytes added to every packet, which is also the maximum. */
  readonly overheadBytes: number;

  seal(bytes: Uint8Array): Uint8Array;

  /**
   * Returns the sealed bytes, possibly as a view of `bytes`.
   *
   * @throws MeshError `packet` for anything that {@link seal} did not make with the keys of this run
   */
  unseal(bytes: Uint8Array): Opened;

  /**
   * Unseals for the hub: like {@link unseal}, but it may leave the costly verification to receivers, and then
   * says so in the stamp.
   */
  skim?(bytes: Uint8Array): Opened;
}

interface Opened {
  readonly bytes: Uint8Array;
  readonly stamp?: Stamp;
}

/** A layer's knowledge of a frame's sender. The stack compares it with the packet's `from` and refuses replays. */
interface Stamp {
  readonly sender: string;
  /** Number that rises with every frame of this sender. */
  readonly sequence: number;
  /** True if the bytes prove the sender. */
  readonly isVerified: boolean;
}

/** Creates the error for bytes that a layer refuses. */
export function createLayerError(layer: string, reason: string, cause?: unknown): MeshError {
  return new MeshError('packet', `${layer}: ${reason}`, cause === undefined ? {} : { cause });
}

/**
 * Returns the `open` of an adapter or a layer that needs the offers of its members, and is therefore opened
 * through `join`.
 */
export function refuseOpen(name: string): () => never {
  return () => {
    throw new MeshError('handshake', `${name}: members exchange keys first: open it through join`);
  };
}

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
