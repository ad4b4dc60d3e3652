import { createHash } from 'node:crypto';
import type { Codec, Membership, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { HUB_ID, type JsonValue, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';

/** Translates between packets and the messages of one connection. */
export interface PacketCoder {
  /** Returns the packet's message, behind the messages that the other end needs in order to read it. */
  encode(packet: Packet): Uint8Array[];
  /**
   * Returns undefined for a message that carries no packet.
   *
   * @throws MeshError `packet`
   */
  decode(message: Uint8Array): Packet | undefined;
}

const RUN_ID = 'stack';
const NO_KEY = new Uint8Array(32);

/** @param adapter with members or without, with layers or without */
export function createCoder(adapter: ProtocolAdapter): PacketCoder {
  return adapter.join === undefined ? createStatelessCoder(adapter) : new MemberCoder(adapter, adapter.join);
}

function createStatelessCoder(adapter: ProtocolAdapter): PacketCoder {
  const session = {
    runId: RUN_ID,
    self: HUB_ID,
    peer: '*',
    linkKey: NO_KEY,
    runKey: NO_KEY,
    offers: new Map(),
  };
  const codec = adapter.open(session);
  return {
    encode: (packet) => [codec.encode(packet)],
    decode: (message) => codec.decode(message),
  };
}

/** Start of a message with offers; no adapter's packet begins with it. */
const OFFERS_START = '{"mesh.offers":';
const offersSchema = z.strictObject({ 'mesh.offers': z.record(z.string(), z.json()) });

/**
 * A coder for adapters whose members have keys. In the mesh the handshake exchanges all offers; a stack
 * learns of members from the packets that it carries, so it sends each offer before the first packet from or
 * to that member. These messages are set-up, and counted as such.
 */
class MemberCoder implements PacketCoder {
  readonly #adapter: ProtocolAdapter;
  readonly #join: NonNullable<ProtocolAdapter['join']>;
  readonly #members = new Map<string, Membership>();
  readonly #offers = new Map<string, JsonValue>();
  readonly #codecs = new Map<string, Codec>();

  constructor(adapter: ProtocolAdapter, join: NonNullable<ProtocolAdapter['join']>) {
    this.#adapter = adapter;
    this.#join = join;
    this.#know(HUB_ID);
  }

  encode(packet: Packet): Uint8Array[] {
    const named = new Set([packet.from, packet.to ?? packet.from]);
    const strangers = [...named].filter((id) => !this.#offers.has(id));
    const offers = Object.fromEntries(strangers.map((id) => [id, this.#know(id)]));
    const message = this.#codecOf(packet.from).encode(packet);
    if (strangers.length === 0) return [message];
    return [Buffer.from(JSON.stringify({ 'mesh.offers': offers })), message];
  }

  decode(message: Uint8Array): Packet | undefined {
    const text = Buffer.from(message.buffer, message.byteOffset, message.length);
    if (text.toString('latin1', 0, OFFERS_START.length) !== OFFERS_START) {
      return this.#codecOf(HUB_ID).decode(message);
    }
    const { 'mesh.offers': offers } = offersSchema.parse(parseJsonText(text.toString()));
    for (const id of Object.keys(offers)) this.#know(id);
    return undefined;
  }

  #know(id: string): JsonValue {
    // Both ends derive the same keys, so that a node that sends as a member here may answer as the same
    // member there.
    const seed = createHash('sha256').update(`gaia-mesh stack ${id}`).digest();
    const member = this.#join.call(this.#adapter, { runId: RUN_ID, self: id, seed });
    this.#members.set(id, member);
    this.#offers.set(id, member.offer);
    this.#codecs.clear();
    return member.offer;
  }

  #codecOf(self: string): Codec {
    let codec = this.#codecs.get(self);
    if (codec === undefined) {
      const member = this.#members.get(self) ?? this.#adapter;
      const peer = self === HUB_ID ? '*' : HUB_ID;
      codec = member.open({
        runId: RUN_ID,
        self,
        peer,
        linkKey: NO_KEY,
        runKey: NO_KEY,
        offers: this.#offers,
      });
      this.#codecs.set(self, codec);
    }
    return codec;
  }
}
