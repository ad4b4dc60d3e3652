import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import net from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Msg, NatsConnection, TlsOptions } from '@nats-io/transport-node';
import { MeshError, toErrorMessage } from '../../contracts/errors.ts';
import type { NatsAddress } from './nats-address.ts';

/** A server that does not answer within this time is not there. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Between tries to find a lost server again. */
const RECONNECT_WAIT_MS = 500;
/** For the last words to a server. */
const CLOSE_TIMEOUT_MS = 1_000;

/** What a server answers where it was to tell who replies, and nobody is subscribed. */
const NO_RESPONDERS = 503;

export interface NatsMessage {
  readonly bytes: Uint8Array;
  /** Where the sender listens, if it said so. */
  readonly reply: string | undefined;
  /** From the server itself: nobody heard what was sent with this subject as its reply. */
  readonly isNobodyThere: boolean;
}

interface NatsServerOptions {
  readonly address: NatsAddress;
  /** What the server calls this process in its lists. */
  readonly name: string;
  /** Whether a lost server is looked for again: subscriptions live on then, messages do not. */
  readonly reconnects: boolean;
}

/** Where Node tells of every socket that this process opens; see `diagnostics_channel` in its documentation. */
const NEW_SOCKETS = 'net.client.socket';

/**
 * What this process's connections to one port carry, as their sockets count it: the client of a server does not show its socket, and
 * counts payloads alone.
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

  /** Bytes until now, of lost connections, too. */
  get total(): { readonly written: number; readonly read: number } {
    return {
      written: this.#sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
      read: this.#sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    };
  }

  /** No further connection is counted. */
  end(): void {
    unsubscribe(NEW_SOCKETS, this.#watch);
  }
}

function findMessageSocket(message: unknown): net.Socket | undefined {
  if (typeof message !== 'object' || message === null || !('socket' in message)) return undefined;
  return message.socket instanceof net.Socket ? message.socket : undefined;
}

/**
 * This process's connection to a NATS server. While it lives, messages come whole and in order; when it is lost, what was on its way
 * may be lost with it, and whoever asked is told ({@link onLost}).
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

  /** @throws MeshError `io` where there is none, saying how to start one */
  static async connect({ address, name, reconnects }: NatsServerOptions): Promise<NatsServer> {
    const { connect } = await import('@nats-io/transport-node');
    const { host, port, user, password, token, isTls } = address;
    const bytes = new ConnectionBytes(Number(port));
    // Passed on to Node, which checks the certificate against "localhost" where it is only given an address.
    const tls: TlsOptions & { readonly host: string } = { host };
    try {
      const connection = await connect({
        servers: `${host}:${port}`,
        name,
        timeout: CONNECT_TIMEOUT_MS,
        reconnect: reconnects,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RECONNECT_WAIT_MS,
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

  /** What the connection carried until now, with all that NATS puts around messages. */
  get carried(): { readonly written: number; readonly read: number } {
    return this.#bytes.total;
  }

  /** Longest message that the server takes. */
  get maxMessageBytes(): number {
    return this.#connection.info?.max_payload ?? 0;
  }

  /** `bytes` must stay as they are until the end of this turn of the event loop. */
  publish(subject: string, bytes: Uint8Array, reply?: string): void {
    if (this.#connection.isClosed()) return;
    this.#connection.publish(subject, bytes, reply === undefined ? {} : { reply });
  }

  /** Of those who subscribe in the same `queue`, one gets each message. The function ends the subscription. */
  subscribe(subject: string, onMessage: (message: NatsMessage) => void, queue?: string): () => void {
    if (this.#connection.isClosed()) return () => undefined;
    const subscription = this.#connection.subscribe(subject, {
      ...(queue === undefined ? {} : { queue }),
      callback: (error, message) => {
        // A subscription that the server does not allow: `confirmed` says so.
        if (error === null) onMessage(toNatsMessage(message));
      },
    });
    return () => {
      if (!this.#connection.isClosed()) subscription.unsubscribe();
    };
  }

  /**
   * Settles when the server has read all that was sent so far.
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
    // What it did not allow comes before its answer, but by a longer way.
    await nextTurn();
    if (this.#errors > before && this.#lastError !== undefined) throw this.#fault(this.#lastError);
  }

  /** Calls `handler` when the connection is lost, however soon it may be back. The function takes that back. */
  onLost(handler: (fault: MeshError) => void): () => void {
    this.#lostHandlers.add(handler);
    return () => this.#lostHandlers.delete(handler);
  }

  /** Closes when the server has read all that was sent, if it still does. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#bytes.end();
    if (this.#connection.isClosed()) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    // A server that went away meanwhile has nothing to be told.
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
