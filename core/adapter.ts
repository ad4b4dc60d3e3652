import type { FrameRun } from './frame.ts';
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
  join?(member: MemberIdentity): Membership;
}

export interface MemberIdentity {
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
  /** What they added to the packet that was encoded last; below 0 where they saved. */
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
   * `4 + |encode(packet with payload {})| − |encode({})|`, and what layers always add (see `core/ledger.ts`). Pure: it signs nothing and uses up no nonce.
   */
  headerSize(packet: Packet): number;

  /** Only codecs that have layers around them have it. */
  readonly layerBytes?: LayerBytes;

  /**
   * The head of the packet without decoding its payload. Optional: it spares the hub the decoding.
   * It must agree with `decode` on every packet, and refuse an envelope with a key that comes twice.
   *
   * @throws MeshError `packet`
   */
  peek?(blob: Uint8Array): PacketHead;

  /**
   * From the next frame of a run on, the packets whose heads are one that `peek` has returned, `id` and `token_used` aside; it takes none.
   * Optional: it spares the hub a peek at each. Undefined where that is not plain to see; never for a packet that `peek` would refuse.
   */
  alike?(run: FrameRun): AlikePackets | undefined;
}

/** Packets that lie side by side in a run and have one head, `id` and `token_used` aside. */
export interface AlikePackets {
  /** The same object for the same head; its `id` and `token_used` are those of the packet that was peeked. */
  readonly head: PacketHead;
  readonly packets: number;
  /** Where the last one ends in the run. */
  readonly end: number;
  /** The sum of their `token_used`. */
  readonly tokens: number;
}

/** The head of a packet, as cheaply as `codec` can; the whole packet too where it had to be decoded for it. */
export function readHead(codec: Codec, blob: Uint8Array): { head: PacketHead; packet?: Packet } {
  if (codec.peek !== undefined) return { head: codec.peek(blob) };
  const packet = codec.decode(blob);
  return { head: packet, packet };
}
