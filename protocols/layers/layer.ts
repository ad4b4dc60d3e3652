import type { AdapterSession, PeerIdentity } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';

/**
 * What a layer is for. They stand in this order in every stack, at most one of each: what is compressed is signed, what is signed
 * is encrypted, and a checksum is outermost, so that a receiver judges the whole before it reads the parts.
 */
export const LAYER_STAGES = ['compress', 'sign', 'encrypt', 'checksum'] as const;
export type LayerStage = (typeof LAYER_STAGES)[number];

/**
 * A layer: turns the bytes of one packet into others and back. As with an adapter, the value has no state, and what it opens
 * belongs to one connection. To add one: a file in `protocols/layers/`, a line in `protocols/layers/registry.ts`.
 */
export interface Layer {
  readonly name: string;
  /** The offers of the session are this layer's own. @throws MeshError `handshake` for one that works through {@link join} only */
  open(session: AdapterSession): LayerCodec;
  /** As `ProtocolAdapter.join`: layers whose members have keys of their own. */
  join?(member: PeerIdentity): LayerMembership;
}

export interface LayerMembership extends Pick<Layer, 'open'> {
  readonly offer: JsonValue;
}

export interface LayerCodec {
  /** What it adds to every packet, whatever the packet; it never adds more. */
  readonly overheadBytes: number;

  seal(bytes: Uint8Array): Uint8Array;

  /**
   * The bytes that were sealed. May be a view of `bytes`.
   *
   * @throws MeshError `packet` for anything that {@link seal} has not made, with the keys of this run
   */
  unseal(bytes: Uint8Array): Opened;

  /** As {@link unseal}, for the hub: it may leave the costly verification to those who decode, and says so in the stamp. */
  skim?(bytes: Uint8Array): Opened;
}

export interface Opened {
  readonly bytes: Uint8Array;
  readonly stamp?: Stamp;
}

/** What a layer knows of a frame's sender. The stack holds it against the packet's `from` and refuses replays. */
export interface Stamp {
  readonly sender: string;
  /** Higher in every later frame of this sender. */
  readonly sequence: number;
  /** Whether the bytes prove it. */
  readonly isVerified: boolean;
}

/** The error for bytes that a layer refuses. */
export function createLayerError(layer: string, reason: string, cause?: unknown): MeshError {
  return new MeshError('packet', `${layer}: ${reason}`, cause === undefined ? {} : { cause });
}

/** What a member offered as `what`: so many bytes, in hex. @throws MeshError `handshake` for anything else */
export function parseOfferedBytes(
  layer: string,
  node: string,
  offer: JsonValue,
  what: string,
  bytes: number,
): Buffer {
  if (typeof offer !== 'string' || offer.length !== 2 * bytes || /[^0-9a-f]/.test(offer)) {
    throw new MeshError('handshake', `${layer}: ${node} offered no ${what} of ${bytes} bytes in hex`);
  }
  return Buffer.from(offer, 'hex');
}

/** The `open` of an adapter or a layer that needs what its members offered, and is therefore opened through `join`. */
export function refuseOpen(name: string): () => never {
  return () => {
    throw new MeshError('handshake', `${name}: members exchange keys first: open it through join`);
  };
}
