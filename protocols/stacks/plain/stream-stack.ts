import { createHash } from 'node:crypto';
import type { Codec, Membership, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import {
  HUB_ID,
  type JsonValue,
  MESH_TYPE_PREFIX,
  type Packet,
  shortenReason,
} from '@gaia-mesh/core/contracts/packet.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';
import { json } from '@gaia-mesh/protocols/json.ts';
import * as z from 'zod';
import { ConnectionPool } from '../connection-pool.ts';
import type { Inbox, Stack, StackServer, StackSettings } from '../contract/stack.ts';
import { meterStack } from '../meter/metered.ts';
import type { WireMeter } from '../meter/wire-meter.ts';

/**
 * A stream of whole messages in order, both ways between two ends: behind lengths on a socket, in frames of
 * WebSocket.
 */
export interface MessageStream {
  readonly isClosed: boolean;
  /** Begins to read. It is called once, as soon as the stream is there. */
  start(handler: StreamHandler): void;
  send(message: Uint8Array): void;
  close(): void;
}

/** One end's handler of incoming messages. */
interface StreamHandler {
  /** Receives a message, which it may use only during the call. */
  onMessage(message: Uint8Array): void;
  /** Learns that no message comes any more; `error` gives the reason, unless the stream was closed normally. */
  onClose(error?: Error): void;
}

/** A transport of streams, which knows nothing of packets. */
interface StreamTransport extends Pick<Stack, 'transport' | 'implementation'> {
  /** Adapter that writes the packets, with members or without, with layers or without; `json` unless given. */
  readonly adapter?: ProtocolAdapter;
  /** Name of the stack; `json/<transport>` unless given. */
  readonly name?: string;
  readonly hasTls?: boolean;
  listen(
    accept: (stream: MessageStream) => void,
    settings: StackSettings,
    meter: WireMeter,
  ): Promise<Omit<StackServer, 'wire'>>;
  /** @throws MeshError `agent` if no server listens there */
  dial(address: string, settings: StackSettings, meter: WireMeter): Promise<MessageStream>;
}

/**
 * Creates a stack of packets as messages of a stream. An answer has the request's id as `reply_to`, as in the
 * mesh. The protocol does not say when an answer is complete, so an exchange ends when the expected number of
 * packets has come.
 */
export function createStreamStack({
  listen,
  dial,
  adapter = json,
  hasTls = true,
  ...own
}: StreamTransport): Stack {
  const name = own.name ?? `json/${own.transport}`;
  return meterStack({
    ...own,
    name,
    protocol: adapter.name,
    traits: { oneWay: 'silent', hasTls },
    serve: (inbox, settings, meter) =>
      listen((stream) => answerPackets(stream, inbox, createCoder(adapter)), settings, meter),
    async connect(address, settings, meter) {
      const pool = await ConnectionPool.opened(
        async () => new PacketStream(name, createCoder(adapter), await dial(address, settings, meter)),
        settings,
      );
      return {
        exchange: (packet, signal, answers = 1) =>
          pool.with((stream) => stream.exchange(packet, signal, answers)),
        async close() {
          pool.close();
        },
      };
    },
  });
}

/** Answers the packets of one connection of a server: it works on each at once, and answers when that is done. */
function answerPackets(stream: MessageStream, inbox: Inbox, coder: PacketCoder): void {
  const over = new AbortController();
  const send = (packet: Packet) => {
    for (const message of coder.encode(packet)) stream.send(message);
  };
  const answer = async (packet: Packet) => {
    try {
      for (const reply of await inbox(packet, over.signal)) {
        send(reply.reply_to === undefined ? { ...reply, reply_to: packet.id } : reply);
      }
    } catch (error) {
      send(createFailure(packet, error));
    }
  };
  stream.start({
    onMessage(message) {
      let packet: Packet | undefined;
      try {
        packet = coder.decode(message);
      } catch {
        // A message that is no packet answers no request and cannot be refused by name, so its connection is
        // closed.
        stream.close();
        return;
      }
      if (packet !== undefined) void answer(packet);
    },
    onClose: () => over.abort(),
  });
}

/**
 * One connection of a client, with the requests on it that wait for answers. Answers are messages of their own:
 * each names in `reply_to` the packet that it answers.
 */
class PacketStream {
  readonly #name: string;
  readonly #coder: PacketCoder;
  readonly #stream: MessageStream;
  readonly #awaited = new Map<string, Awaited>();

  /** @param name begins error messages: `json/unix` */
  constructor(name: string, coder: PacketCoder, stream: MessageStream) {
    this.#name = name;
    this.#coder = coder;
    this.#stream = stream;
    stream.start({
      onMessage: (message) => this.#take(message),
      onClose: (error) => this.#fail(error),
    });
  }

  get isClosed(): boolean {
    return this.#stream.isClosed;
  }

  close(): void {
    this.#stream.close();
  }

  /**
   * Sends a packet and resolves with its answers when the expected number has come.
   *
   * @throws MeshError `packet` for an id that is already awaited, `agent` for a packet that failed at the
   * other end
   */
  async exchange(packet: Packet, signal: AbortSignal, wanted: number): Promise<readonly Packet[]> {
    signal.throwIfAborted();
    const { id } = packet;
    if (this.#awaited.has(id))
      throw new MeshError('packet', `${this.#name}: a packet ${id} already waits for its answer`);
    const messages = this.#coder.encode(packet);
    if (this.#stream.isClosed) throw this.#closed();
    for (const message of messages) this.#stream.send(message);
    if (wanted === 0) return [];
    const awaited = { came: [], wanted, ...Promise.withResolvers<readonly Packet[]>() };
    this.#awaited.set(id, awaited);
    try {
      return await raceAbort(signal, awaited.promise);
    } finally {
      this.#awaited.delete(id);
    }
  }

  /** Takes an answer, whose exchange may have ended already. */
  #take(message: Uint8Array): void {
    let packet: Packet | undefined;
    try {
      packet = this.#coder.decode(message);
    } catch (error) {
      // The request to which this answer belongs cannot be known.
      this.#fail(error);
      this.close();
      return;
    }
    const awaited = this.#awaited.get(packet?.reply_to ?? '');
    if (packet === undefined || awaited === undefined) return;
    const failure = readFailure(packet);
    if (failure !== undefined) awaited.reject(new MeshError('agent', `${this.#name}: ${failure}`));
    else awaited.came.push(packet);
    if (awaited.came.length === awaited.wanted) awaited.resolve(awaited.came);
  }

  /** Rejects all exchanges, as no answer will come any more. */
  #fail(cause: unknown): void {
    const error = cause instanceof MeshError ? cause : this.#closed(cause);
    for (const { reject } of this.#awaited.values()) reject(error);
    this.#awaited.clear();
  }

  #closed(cause?: unknown): MeshError {
    const why = cause === undefined ? 'it was closed' : toErrorMessage(cause);
    return new MeshError('agent', `${this.#name}: the connection is gone: ${why}`, { cause });
  }
}

interface Awaited extends PromiseWithResolvers<readonly Packet[]> {
  readonly came: Packet[];
  readonly wanted: number;
}

/** A type that no application's packet can have. */
const FAILED = `${MESH_TYPE_PREFIX}failed`;

/** Creates the packet that reports a failure to the sender of a packet. */
function createFailure({ id, task_id, to }: Packet, error: unknown): Packet {
  return {
    type: FAILED,
    from: to ?? HUB_ID,
    id: 'failed',
    reply_to: id,
    task_id,
    token_used: 0,
    ts: 0,
    payload: { reason: shortenReason(toErrorMessage(error)) },
  };
}

/** Returns the reason if the packet reports a failure. */
function readFailure({ type, payload }: Packet): string | undefined {
  return type === FAILED ? String(payload.reason) : undefined;
}

/** Translates between packets and the messages of one connection. */
interface PacketCoder {
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
function createCoder(adapter: ProtocolAdapter): PacketCoder {
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
