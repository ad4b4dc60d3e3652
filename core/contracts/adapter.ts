import type { JsonValue, Packet, PacketHead } from './packet.ts';

/**
 * A protocol: how a packet is written as bytes. The frame around the bytes belongs to the mesh and is the
 * same for all protocols.
 *
 * An adapter is a factory (one value, no state); what it opens belongs to one connection, because structure
 * tables, keys and nonces are per-session state. To add an adapter, add a file in `protocols/` and a line in
 * `protocols/registry.ts`.
 */
export interface ProtocolAdapter {
  readonly name: string;
  open(session: AdapterSession): Codec;

  /**
   * Returns what this member of a run offers to the others before the first packet, such as a public key or a
   * DID document. The mesh calls it once per member and run; all offers are exchanged in the handshake, and
   * their bytes count as session bytes. The returned membership then opens the member's sessions, so private
   * keys stay where they were made.
   */
  join?(member: PeerIdentity): Membership;
}

export interface PeerIdentity {
  readonly runId: string;
  readonly self: string;
  /**
   * 32 secret bytes from which the member derives its keys, so that a member that left can come back with the
   * same identity. Without a seed the keys are fresh.
   */
  readonly seed?: Uint8Array;
}

export interface Membership extends Pick<ProtocolAdapter, 'open'> {
  readonly offer: JsonValue;
}

/** Facts that both ends of a connection know when the handshake has ended. */
export interface AdapterSession {
  readonly runId: string;
  /** Node id of this end; `hub` at the hub. */
  readonly self: string;
  /** Node id of the other end. */
  readonly peer: string;
  /** 32 bytes that only the two ends know: HKDF-SHA256(secret, both nonces, run id). All zero without a secret. */
  readonly linkKey: Uint8Array;
  /**
   * 32 bytes that all members of the run know, including the hub: HKDF-SHA256(secret, run id). The hub
   * forwards frames unchanged, so what a sender encrypts or signs for all members must be readable with this
   * key. All zero without a secret.
   */
  readonly runKey: Uint8Array;
  /** The offers of all members, by node id; empty for adapters without {@link ProtocolAdapter.join}. */
  readonly offers: ReadonlyMap<string, JsonValue>;
}

/** Bytes that the layers around a codec (checksum, signature, compression) add to a packet. */
export interface LayerBytes {
  /** Bytes that the layers always add to a packet; part of {@link Codec.headerSize}. */
  readonly overhead: number;
  /** Bytes that the layers added to the packet encoded or decoded last; negative if they saved bytes. */
  readonly last: number;
}

export interface Codec {
  /** Returns the packet as bytes, without the frame's length prefix. */
  encode(packet: Packet): Uint8Array;

  /**
   * Returns the packet that was encoded, equal in every value.
   *
   * @throws MeshError `packet` for bytes that are not one well-formed packet
   */
  decode(blob: Uint8Array): Packet;

  /**
   * Returns the bytes written for the packet beyond its payload's own content: 4 for the frame plus the
   * envelope, `4 + |encode(packet with payload {})| − |encode({})|`, and the bytes that layers always add
   * (see `core/contracts/ledger.ts`). It is pure: it signs nothing and uses up no nonce.
   */
  headerSize(packet: Packet): number;

  /** Present only on codecs that have layers around them. */
  readonly layerBytes?: LayerBytes;

  /**
   * Reads the head of the packet up to the payload and no further; if the payload is not written last, it
   * decodes everything. This method is optional: it spares the hub the decoding. It must agree with `decode`
   * on the head of every packet that `decode` accepts, and refuse a head with a duplicate key; faults in the
   * payload or behind it are left to `decode`.
   *
   * @throws MeshError `packet`
   */
  peek?(blob: Uint8Array): PacketHead;

  /**
   * Peeks at the packet in `bytes[start .. end)`, for codecs whose peek is faster than making a view. The
   * returned head may read from the bytes lazily: a caller that keeps the head longer than the bytes takes a
   * copy (`copyHead`).
   */
  peekAt?(bytes: Buffer, start: number, end: number): PacketHead;
}

/** Reads the head of a packet as cheaply as `codec` can; a codec without `peek` decodes the whole packet. */
export function readHead(codec: Codec, blob: Uint8Array): PacketHead | Packet {
  return codec.peek === undefined ? codec.decode(blob) : codec.peek(blob);
}

/**
 * Returns the packet whose head is `head`, decoding `blob` only if the head is not already the whole packet.
 */
export function readPacket(codec: Codec, head: PacketHead | Packet, blob: Uint8Array): Packet {
  return 'payload' in head ? head : codec.decode(blob);
}
