import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { json } from '@gaia-mesh/protocols/json.ts';
import { AwaitedAnswers, createFailure } from '../awaited-answers.ts';
import { ConnectionPool } from '../connection-pool.ts';
import type { Inbox, Stack, StackServer, StackSettings } from '../contract/stack.ts';
import { withDeadline } from '../exchange-limit.ts';
import { meterStack } from '../meter/metered.ts';
import type { WireMeter } from '../meter/wire-meter.ts';
import { createCoder, type PacketCoder } from '../packet-coder.ts';

/** Messages both ways between two ends, in order, each whole: behind lengths on a socket, in frames of WebSocket. */
export interface MessageStream {
  readonly isClosed: boolean;
  send(message: Uint8Array): void;
  close(): void;
}

/** What one end does with what comes. */
export interface StreamHandler {
  /** `message` is the receiver's for as long as the call takes. */
  onMessage(message: Uint8Array): void;
  /** No message comes any more. `error` says why, unless it was closed in peace. */
  onClose(error?: Error): void;
}

/** Begins a stream of a server's: `open` is given what hears its messages, which is what this returns. */
export type Accept = (open: (handler: StreamHandler) => MessageStream) => StreamHandler;

/** A transport of streams. Packets are not its business. */
interface StreamTransport extends Pick<Stack, 'transport' | 'implementation'> {
  /** What its packets are written by, with members or without, with layers or without; `json` unless given. */
  readonly adapter?: ProtocolAdapter;
  /** `json/<transport>` unless given. */
  readonly name?: string;
  readonly hasTls?: boolean;
  listen(accept: Accept, settings: StackSettings, meter: WireMeter): Promise<Omit<StackServer, 'wire'>>;
  /** @throws MeshError `agent` when nobody listens there */
  dial(
    address: string,
    settings: StackSettings,
    handler: StreamHandler,
    meter: WireMeter,
  ): Promise<MessageStream>;
}

/**
 * Packets as messages of a stream: what answers one has its id as `reply_to`, as in the mesh. Nothing says when an answer is complete:
 * that is when as many packets have come as were expected.
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
    traits: {
      replies: 'same exchange',
      oneWay: 'silent',
      later: ['hold'],
      hasTls,
      largestMessageBytes: MAX_FRAME_BYTES,
    },
    serve(inbox, settings, meter) {
      const accept: Accept = (open) => {
        const handler = createPacketHandler(inbox, createCoder(adapter), () => stream);
        const stream = open(handler);
        return handler;
      };
      return listen(accept, settings, meter);
    },
    async connect(address, settings, meter) {
      const { deadlineMs } = settings;
      const pool = await ConnectionPool.opened(async () => {
        const packets = new PacketStream(name, createCoder(adapter));
        packets.stream = await dial(address, settings, packets, meter);
        return packets;
      }, settings);
      return {
        exchange: (packet, signal, answers = 1) =>
          withDeadline({ signal, deadlineMs, what: `${name}: ${packet.id}` }, (either) =>
            pool.with((stream) => stream.exchange(packet, either, answers)),
          ),
        async close() {
          pool.close();
        },
      };
    },
  });
}

/** What a server does with the packets of one connection: each is worked on at once, and answered when that is done. */
function createPacketHandler(inbox: Inbox, coder: PacketCoder, stream: () => MessageStream): StreamHandler {
  const over = new AbortController();
  const send = (packet: Packet) => {
    for (const message of coder.encode(packet)) stream().send(message);
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
  return {
    onMessage(message) {
      let packet: Packet | undefined;
      try {
        packet = coder.decode(message);
      } catch {
        // What is no packet is nobody's request, so there is nobody to tell; its sender is not listened to any longer.
        stream().close();
        return;
      }
      if (packet !== undefined) void answer(packet);
    },
    onClose: () => over.abort(),
  };
}

/** One connection of a client's, with the requests on it that wait for answers. */
class PacketStream implements StreamHandler {
  stream: MessageStream | undefined;
  readonly #name: string;
  readonly #coder: PacketCoder;
  readonly #answers: AwaitedAnswers;

  constructor(name: string, coder: PacketCoder) {
    this.#name = name;
    this.#coder = coder;
    this.#answers = new AwaitedAnswers(name);
  }

  get isClosed(): boolean {
    return this.stream?.isClosed ?? true;
  }

  close(): void {
    this.stream?.close();
  }

  async exchange(packet: Packet, signal: AbortSignal, wanted: number): Promise<readonly Packet[]> {
    signal.throwIfAborted();
    return this.#answers.to(packet, wanted, signal, () => {
      const messages = this.#coder.encode(packet);
      if (this.stream === undefined || this.stream.isClosed) throw this.#closed();
      for (const message of messages) this.stream.send(message);
    });
  }

  onMessage(message: Uint8Array): void {
    let packet: Packet | undefined;
    try {
      packet = this.#coder.decode(message);
    } catch (error) {
      // Whose answer it was cannot be known.
      this.#answers.fail(error instanceof MeshError ? error : this.#closed(error));
      this.close();
      return;
    }
    if (packet !== undefined) this.#answers.take(packet);
  }

  onClose(error?: Error): void {
    this.#answers.fail(error instanceof MeshError ? error : this.#closed(error));
  }

  #closed(cause?: unknown): MeshError {
    const why = cause === undefined ? 'it was closed' : toErrorMessage(cause);
    return new MeshError('agent', `${this.#name}: the connection is gone: ${why}`, { cause });
  }
}
