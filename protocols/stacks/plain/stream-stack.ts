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

/**
 * A stream of whole messages in order, both ways between two ends: behind lengths on a socket, in frames of
 * WebSocket.
 */
export interface MessageStream {
  readonly isClosed: boolean;
  send(message: Uint8Array): void;
  close(): void;
}

/** One end's handler of incoming messages. */
export interface StreamHandler {
  /** Receives a message, which it may use only during the call. */
  onMessage(message: Uint8Array): void;
  /** Learns that no message comes any more; `error` gives the reason, unless the stream was closed normally. */
  onClose(error?: Error): void;
}

/** Begins a stream on a server: `open` gets the handler of its messages, which this also returns. */
export type Accept = (open: (handler: StreamHandler) => MessageStream) => StreamHandler;

/** A transport of streams, which knows nothing of packets. */
interface StreamTransport extends Pick<Stack, 'transport' | 'implementation'> {
  /** Adapter that writes the packets, with members or without, with layers or without; `json` unless given. */
  readonly adapter?: ProtocolAdapter;
  /** Name of the stack; `json/<transport>` unless given. */
  readonly name?: string;
  readonly hasTls?: boolean;
  listen(accept: Accept, settings: StackSettings, meter: WireMeter): Promise<Omit<StackServer, 'wire'>>;
  /** @throws MeshError `agent` if no server listens there */
  dial(
    address: string,
    settings: StackSettings,
    handler: StreamHandler,
    meter: WireMeter,
  ): Promise<MessageStream>;
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
    traits: {
      oneWay: 'silent',
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

/**
 * Creates a server's handler for the packets of one connection: it works on each at once, and answers when
 * that is done.
 */
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
        // A message that is no packet answers no request and cannot be refused by name, so its connection is
        // closed.
        stream().close();
        return;
      }
      if (packet !== undefined) void answer(packet);
    },
    onClose: () => over.abort(),
  };
}

/** One connection of a client, with the requests on it that wait for answers. */
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
      // The request to which this answer belongs cannot be known.
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
