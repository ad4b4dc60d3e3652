import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import type { Packet } from '../../../../core/contracts/packet.ts';
import type { BindingClient, BindingSettings } from '../../contract/binding.ts';
import { ConnectionPool } from '../connection-pool.ts';
import { withDeadline } from '../exchange-limit.ts';
import { failureIn } from './failure.ts';
import type { MessageStream, StreamHandler } from './message-stream.ts';
import type { PacketCoder } from './packet-coder.ts';

export interface StreamClientOptions {
  /** Begins messages: `json/unix`. */
  readonly name: string;
  readonly settings: BindingSettings;
  open(handler: StreamHandler): Promise<MessageStream>;
  /** A coder for one connection. */
  coder(): PacketCoder;
}

/**
 * A client of a stream of packets: each is a message, and what answers it has its id as `reply_to`, as in the mesh. Nothing says
 * when an answer is complete: that is when as many packets have come as were expected.
 */
export async function streamClient(options: StreamClientOptions): Promise<Omit<BindingClient, 'wire'>> {
  const { name, settings } = options;
  const { connections, keepAliveMs, deadlineMs } = settings;
  const pool = new ConnectionPool(() => PacketStream.open(options), connections, keepAliveMs);
  // A session is set up: whoever is not there is not there now.
  await pool.with(async () => undefined);
  return {
    exchange: (packet, signal, answers = 1) => {
      const what = `${name}: ${packet.id}`;
      return withDeadline({ signal, deadlineMs, what }, (either) =>
        pool.with((stream) => stream.exchange(packet, either, answers)),
      );
    },
    async close() {
      pool.close();
    },
  };
}

interface Waiting {
  readonly came: Packet[];
  readonly wanted: number;
  readonly resolve: (packets: readonly Packet[]) => void;
  readonly reject: (error: Error) => void;
}

/** One connection, with the requests on it that wait for answers. */
class PacketStream {
  readonly #name: string;
  readonly #coder: PacketCoder;
  readonly #waiting = new Map<string, Waiting>();
  #stream: MessageStream | undefined;

  private constructor(name: string, coder: PacketCoder) {
    this.#name = name;
    this.#coder = coder;
  }

  static async open({ name, open, coder }: StreamClientOptions): Promise<PacketStream> {
    const packets = new PacketStream(name, coder());
    packets.#stream = await open({
      onMessage: (message) => packets.#take(message),
      onClose: (error) => packets.#fail(error),
    });
    return packets;
  }

  get isClosed(): boolean {
    return this.#stream?.isClosed ?? true;
  }

  close(): void {
    this.#stream?.close();
  }

  async exchange(packet: Packet, signal: AbortSignal, wanted: number): Promise<readonly Packet[]> {
    signal.throwIfAborted();
    if (this.#waiting.has(packet.id)) {
      throw new MeshError('packet', `${this.#name}: a packet ${packet.id} is being answered already`);
    }
    const messages = this.#coder.encode(packet);
    if (this.#stream === undefined || this.#stream.isClosed) throw this.#closed();
    for (const message of messages) this.#stream.send(message);
    if (wanted === 0) return [];
    const { promise, resolve, reject } = Promise.withResolvers<readonly Packet[]>();
    const abort = () => reject(signal.reason);
    this.#waiting.set(packet.id, { came: [], wanted, resolve, reject });
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await promise;
    } finally {
      this.#waiting.delete(packet.id);
      signal.removeEventListener('abort', abort);
    }
  }

  #take(message: Uint8Array): void {
    let packet: Packet | undefined;
    try {
      packet = this.#coder.decode(message);
    } catch (error) {
      // Whose answer it was cannot be known.
      this.#fail(error instanceof Error ? error : new Error(messageOf(error)));
      this.close();
      return;
    }
    const waiting = this.#waiting.get(packet?.reply_to ?? '');
    // An answer that nobody waits for any more.
    if (packet === undefined || waiting === undefined) return;
    const failure = failureIn(packet);
    if (failure !== undefined) waiting.reject(new MeshError('agent', `${this.#name}: ${failure}`));
    else waiting.came.push(packet);
    if (waiting.came.length === waiting.wanted) waiting.resolve(waiting.came);
  }

  #fail(error?: Error): void {
    for (const { reject } of this.#waiting.values())
      reject(error instanceof MeshError ? error : this.#closed(error));
    this.#waiting.clear();
  }

  #closed(cause?: Error): MeshError {
    const why = cause === undefined ? 'it was closed' : messageOf(cause);
    return new MeshError('agent', `${this.#name}: the connection is gone: ${why}`, { cause });
  }
}
