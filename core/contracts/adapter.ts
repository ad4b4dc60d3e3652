import type { JsonValue, Packet, PacketHead } from './packet.ts';

/**
 * A protocol: how a packet is written as bytes. The frame around the bytes is the mesh's, the same for all.
 *
 * An adapter is a factory (one value, no state); what it opens belongs to one connection, because structure tables,
 * keys and nonces are per-session state. To add one: a file in `protocols/`, a line in `protocols/registry.ts`.
 */
export interface ProtocolAdapter {
  readonly name: string;
  open(session: AdapterSession): Codec;

  /**
   * What this member of a run wants the others to know before the first packet, such as a public key or a DID document.
   * Called once per member and run; all offers are exchanged in the handshake and their bytes count as session bytes. What it
   * returns opens the member's sessions then, so that private keys stay where they were made.
   */
  join?(member: PeerIdentity): Membership;
}

export interface PeerIdentity {
  readonly runId: string;
  readonly self: string;
  /**
   * 32 secret bytes to derive the member's keys from, so that one who left can come back as the same: the `wire` command
   * does. Without it keys are fresh.
   */
  readonly seed?: Uint8Array;
}

export interface Membership extends Pick<ProtocolAdapter, 'open'> {
  readonly offer: JsonValue;
}

/** What both ends of a connection know when the handshake has ended. */
export interface AdapterSession {
  readonly runId: string;
  /** Node id of this end; `hub` at the hub. */
  readonly self: string;
  /** Node id of the other end. */
  readonly peer: string;
  /** 32 bytes that only the two ends know: HKDF-SHA256(secret, both nonces, run id). All zero without a secret. */
  readonly linkKey: Uint8Array;
  /**
   * 32 bytes that all members of the run know, the hub among them: HKDF-SHA256(secret, run id). Frames are forwarded as they
   * came, so what a sender encrypts or signs for all must be readable with a key of all. All zero without a secret.
   */
  readonly runKey: Uint8Array;
  /** The offers of all members, by node id; empty for adapters without {@link ProtocolAdapter.join}. */
  readonly offers: ReadonlyMap<string, JsonValue>;
}

/** What layers around a codec (checksum, signature, compression) do to the number of bytes. */
export interface LayerBytes {
  /** What they always add to a packet; part of {@link Codec.headerSize}. */
  readonly overhead: number;
  /** What they added to the packet that was encoded or decoded last; below 0 where they saved. */
  readonly last: number;
}

export interface Codec {
  /** The packet as bytes, without the frame's length prefix. */
  encode(packet: Packet): Uint8Array;

  /**
   * The packet that was encoded, equal in every value.
   *
   * @throws MeshError `packet` for bytes that are not one well-formed packet
   */
  decode(blob: Uint8Array): Packet;

  /**
   * Bytes that are written for the packet beyond its payload's own content: the frame's 4 plus the envelope,
   * `4 + |encode(packet with payload {})| − |encode({})|`, and what layers always add (see `core/contracts/ledger.ts`). Pure: it signs nothing and uses up no nonce.
   */
  headerSize(packet: Packet): number;

  /** Only codecs that have layers around them have it. */
  readonly layerBytes?: LayerBytes;

  /**
   * The head of the packet, read as far as the payload and not further; where the payload is not written last, all is decoded. Optional:
   * it spares the hub the decoding. It must agree with `decode` on the head of every packet that `decode` accepts, and refuse a
   * head with a key that comes twice; what stands in the payload, or behind it, is refused by who decodes.
   *
   * @throws MeshError `packet`
   */
  peek?(blob: Uint8Array): PacketHead;

  /**
   * The same for the packet in `bytes[start .. end)`: for codecs whose peek takes less time than the making of a view. The head may be
   * read from the bytes when it is asked for: whoever keeps it longer than these takes a copy (`copyHead`).
   */
  peekAt?(bytes: Buffer, start: number, end: number): PacketHead;
}

/** The head of a packet, as cheaply as `codec` can: the whole packet where it cannot peek. */
export function readHead(codec: Codec, blob: Uint8Array): PacketHead | Packet {
  return codec.peek === undefined ? codec.decode(blob) : codec.peek(blob);
}

/** The packet whose head is `head`. */
export function readPacket(codec: Codec, head: PacketHead | Packet, blob: Uint8Array): Packet {
  return 'payload' in head ? head : codec.decode(blob);
}
