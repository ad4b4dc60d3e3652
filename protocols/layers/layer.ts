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

export interface LayerMembership extends Pick<Layer, 'open'> {
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

export interface Opened {
  readonly bytes: Uint8Array;
  readonly stamp?: Stamp;
}

/** A layer's knowledge of a frame's sender. The stack compares it with the packet's `from` and refuses replays. */
export interface Stamp {
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
