import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Msg, NatsConnection, TlsOptions } from '@nats-io/transport-node';
import { MeshError, toErrorMessage } from '../../contracts/errors.ts';
import type { NatsAddress } from './nats-address.ts';

/** A server that leaves two of these pings unanswered is gone: without them, a stopped one would use up every task's time. */
const PING_EVERY_MS = 5000;

/** Time limit for connecting to a server. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Wait between attempts to reconnect to a lost server. */
const RECONNECT_WAIT_MS = 500;
/** Time limit for the last messages to a server. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Status with which a server answers a message that has a reply subject but no subscriber. */
const NO_RESPONDERS = 503;

export interface NatsMessage {
  readonly bytes: Uint8Array;
  /** Subject on which the sender expects replies, if any. */
  readonly reply: string | undefined;
  /** True for the server's own message that nothing was subscribed to a message with this reply subject. */
  readonly isNobodyThere: boolean;
}

/**
 * Channel on which Node reports every socket that this process opens; see `diagnostics_channel` in its
 * documentation.
 */
const NEW_SOCKETS = 'net.client.socket';

/**
 * Counts the bytes of this process's connections to one port at their sockets: the client of a server does
 * not expose its socket, and counts payloads alone.
 */
class ConnectionBytes {
  readonly #port: number;
  readonly #sockets: net.Socket[] = [];
  readonly #watch = (message: unknown) => {
    const socket = findMessageSocket(message);
    socket?.once('connect', () => {
      if (socket.remotePort === this.#port) this.#sockets.push(socket);
    });
  };

  constructor(port: number) {
    this.#port = port;
    subscribe(NEW_SOCKETS, this.#watch);
  }

  /** Bytes so far, including lost connections. */
  get total(): { readonly written: number; readonly read: number } {
    return {
      written: this.#sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
      read: this.#sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    };
  }

  /** Stops counting further connections. */
  end(): void {
    unsubscribe(NEW_SOCKETS, this.#watch);
  }
}

function findMessageSocket(message: unknown): net.Socket | undefined {
  if (typeof message !== 'object' || message === null || !('socket' in message)) return undefined;
  return message.socket instanceof net.Socket ? message.socket : undefined;
}

/**
 * This process's connection to a NATS server. While it lives, messages arrive whole and in order; when it is
 * lost, messages under way may be lost with it, and the {@link onLost} handlers are called.
 */
export class NatsServer {
  readonly address: NatsAddress;
  readonly #connection: NatsConnection;
  readonly #bytes: ConnectionBytes;
  readonly #lostHandlers = new Set<(fault: MeshError) => void>();
  #lastError: string | undefined;
  #errors = 0;
  #isClosing = false;

  private constructor(address: NatsAddress, connection: NatsConnection, bytes: ConnectionBytes) {
    this.address = address;
    this.#bytes = bytes;
    this.#connection = connection;
    void this.#watch();
  }

  /** @throws MeshError `io` if there is no server; the message says how to start one */
  static async connect({
    address,
    name,
    reconnects,
  }: {
    readonly address: NatsAddress;
    /** Name of this process in the server's lists. */
    readonly name: string;
    /** True to reconnect to a lost server: subscriptions survive then, messages do not. */
    readonly reconnects: boolean;
  }): Promise<NatsServer> {
    const { connect } = await import('@nats-io/transport-node');
    const { host, port, user, password, token, isTls } = address;
    const bytes = new ConnectionBytes(Number(port));
    // Node receives the host this way: with an address alone it would check the certificate against
    // "localhost".
    const tls: TlsOptions & { readonly host: string } = { host };
    try {
      const connection = await connect({
        servers: `${host}:${port}`,
        name,
        timeout: CONNECT_TIMEOUT_MS,
        reconnect: reconnects,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RECONNECT_WAIT_MS,
        pingInterval: PING_EVERY_MS,
        // Servers that this one announces would get the credentials, too.
        ignoreClusterUpdates: true,
        ...(user === undefined ? {} : { user, pass: password ?? '' }),
        ...(token === undefined ? {} : { token }),
        ...(isTls ? { tls } : {}),
      });
      return new NatsServer(address, connection, bytes);
    } catch (error) {
      bytes.end();
      throw new MeshError('io', explainRefusal(error, address), { cause: error });
    }
  }

  /** Bytes that the connection has carried so far, including NATS's own overhead. */
  get carried(): { readonly written: number; readonly read: number } {
    return this.#bytes.total;
  }

  /** Maximum bytes of a message that the server accepts. */
  get maxMessageBytes(): number {
    return this.#connection.info?.max_payload ?? 0;
  }

  /** Publishes a message. `bytes` must not change until the end of this turn of the event loop. */
  publish(subject: string, bytes: Uint8Array, reply?: string): void {
    if (this.#connection.isClosed()) return;
    this.#connection.publish(subject, bytes, reply === undefined ? {} : { reply });
  }

  /**
   * Subscribes to a subject and returns a function that ends the subscription. Subscribers in the same
   * `queue` share the messages, and each message goes to one of them.
   */
  subscribe(subject: string, onMessage: (message: NatsMessage) => void, queue?: string): () => void {
    if (this.#connection.isClosed()) return () => undefined;
    const subscription = this.#connection.subscribe(subject, {
      ...(queue === undefined ? {} : { queue }),
      callback: (error, message) => {
        // An error is a subscription that the server does not allow; `confirmed` reports it.
        if (error === null) onMessage(toNatsMessage(message));
      },
    });
    return () => {
      if (!this.#connection.isClosed()) subscription.unsubscribe();
    };
  }

  /**
   * Waits until the server has read everything sent so far.
   *
   * @throws MeshError `io` when it did not allow some of it, or is gone
   */
  async confirmed(): Promise<void> {
    const before = this.#errors;
    try {
      await this.#connection.flush();
    } catch (error) {
      throw this.#fault(toErrorMessage(error), error);
    }
    // A refusal comes before the server's answer, but takes a longer way through the client.
    await nextTurn();
    if (this.#errors > before && this.#lastError !== undefined) throw this.#fault(this.#lastError);
  }

  /**
   * Calls `handler` when the connection is lost, however soon it may be back. Returns a function that removes
   * the handler.
   */
  onLost(handler: (fault: MeshError) => void): () => void {
    this.#lostHandlers.add(handler);
    return () => this.#lostHandlers.delete(handler);
  }

  /** Closes the connection after the server has read everything that was sent, if it still can. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#bytes.end();
    if (this.#connection.isClosed()) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    // If the server has gone meanwhile, there is nothing to flush.
    await Promise.race([this.#connection.flush().catch(() => undefined), late]);
    clearTimeout(timer);
    await this.#connection.close();
  }

  async #watch(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'error') {
        this.#lastError = status.error.message;
        this.#errors += 1;
      }
      if (status.type === 'disconnect' || status.type === 'close') this.#lose();
    }
  }

  #lose(): void {
    if (this.#isClosing) return;
    const fault = this.#fault(`it is gone${this.#lastError === undefined ? '' : ` (${this.#lastError})`}`);
    for (const handler of this.#lostHandlers) handler(fault);
  }

  #fault(why: string, cause?: unknown): MeshError {
    return new MeshError('io', `NATS server ${this.address.shown}: ${why}`, { cause });
  }
}

function toNatsMessage({ data, reply, headers }: Msg): NatsMessage {
  return { bytes: data, reply, isNobodyThere: data.length === 0 && headers?.code === NO_RESPONDERS };
}

function explainRefusal(error: unknown, { shown, host, port }: NatsAddress): string {
  const message = toErrorMessage(error);
  if (!/connection refused|timeout/i.test(message)) return `NATS server ${shown}: ${message}`;
  return `no NATS server answers at ${shown} (${message}); start one: nats-server -a ${host} -p ${port}`;
}
