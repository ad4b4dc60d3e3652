import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { CONNECTION_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';

/** Address at which a server listens: a port of the loopback or another address, 0 for any free one; or a socket file. */
type Endpoint = { readonly port: number; readonly host?: string } | { readonly path: string };

/** @returns the port; 0 for a socket file */
export async function listenOnPlace(server: Server, endpoint: Endpoint): Promise<number> {
  server.listen('port' in endpoint ? { host: '127.0.0.1', ...endpoint } : endpoint);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * Listens at a socket file in a folder that only this user may enter.
 *
 * @returns the file, and a function that removes it
 */
export async function listenInPrivate(server: Server): Promise<{ file: string; remove: () => void }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-'));
  const file = path.join(folder, 'socket');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await listenOnPlace(server, { path: file });
  } catch (error) {
    remove();
    throw error;
  }
  return { file, remove };
}

/** A connection to a server. */
interface Connection {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

type ConnectionLimits = Readonly<Record<keyof typeof CONNECTION_LIMITS, number>>;

/** A request of a client, and its answer. */
interface Exchange {
  /** Returns true once the request has come whole. */
  readonly isWhole: () => boolean;
  /** Its end is the exchange's. */
  readonly answer: { once(event: 'close', listener: () => void): unknown };
}

/**
 * The connections of a server that anyone on the machine can reach. Strangers, which have shown no token,
 * have a small share of the places and a few seconds, and the oldest makes room for the next: no number of
 * them keeps a client out. Among the known ones a quiet connection makes room, and none that is being
 * answered.
 */
export class Admission {
  readonly #limits: ConnectionLimits;
  /** Strangers with the time at which they came, the oldest first. */
  readonly #strangers = new Map<Connection, number>();
  /** Known connections with their open exchanges and the times at which these began, the one that has been quiet longest first. */
  readonly #known = new Map<Connection, Map<Exchange, number>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { ...CONNECTION_LIMITS, ...limits };
  }

  /** Takes a new connection, which is a stranger. */
  enter(connection: Connection): void {
    this.#strangers.set(connection, performance.now());
    connection.once('close', () => {
      this.#strangers.delete(connection);
      this.#known.delete(connection);
    });
    const [oldest] = this.#strangers.keys();
    if (this.#strangers.size > this.#limits.maxInBurst && oldest !== undefined) this.#turnAway(oldest);
    this.#schedule();
  }

  /**
   * Books an exchange of a client that has shown the token.
   *
   * @returns false if all places are taken by clients that are being answered
   */
  admit(connection: Connection, exchange: Exchange): boolean {
    const exchanges = this.#known.get(connection) ?? new Map<Exchange, number>();
    if (!this.#known.has(connection) && this.#known.size >= this.#limits.maxKnown && !this.#makeRoom())
      return false;
    this.#strangers.delete(connection);
    this.#known.delete(connection);
    this.#known.set(connection, exchanges);
    exchanges.set(exchange, performance.now());
    exchange.answer.once('close', () => {
      exchanges.delete(exchange);
      if (!this.#known.delete(connection)) return;
      this.#known.set(connection, exchanges);
    });
    return true;
  }

  /** Closes the connection that has been sending a request for longest, if it had enough time for that. */
  dropUnfinished(): void {
    const nowMs = performance.now();
    for (const [connection, exchanges] of this.#known) {
      const [beganMs] = exchanges.values();
      if (beganMs === undefined || nowMs - beganMs < this.#limits.patienceMs) continue;
      if (this.#drop(connection, exchanges)) return;
    }
  }

  /** Closes the known connection that has been quiet longest. */
  #makeRoom(): boolean {
    for (const [connection, exchanges] of this.#known) if (this.#drop(connection, exchanges)) return true;
    return false;
  }

  /** Closes a connection unless the server owes it an answer; it owes none to a request that never ends. */
  #drop(connection: Connection, exchanges: ReadonlyMap<Exchange, number>): boolean {
    for (const { isWhole } of exchanges.keys()) if (isWhole()) return false;
    this.#known.delete(connection);
    connection.destroy();
    return true;
  }

  #turnAway(stranger: Connection): void {
    this.#strangers.delete(stranger);
    stranger.destroy();
  }

  /** Turns away strangers whose time has passed, and surplus ones that had time to send something. */
  #review(): void {
    const nowMs = performance.now();
    for (const [stranger, cameMs] of this.#strangers) {
      const isTooMany = this.#strangers.size > this.#limits.maxStrangers;
      if (nowMs - cameMs < (isTooMany ? this.#limits.firstWordMs : this.#limits.patienceMs)) break;
      this.#turnAway(stranger);
    }
  }

  #schedule(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#review();
      if (this.#strangers.size > 0) this.#schedule();
    }, this.#limits.firstWordMs).unref();
  }
}
