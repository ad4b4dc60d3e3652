import type { StackSettings } from './contract/stack.ts';

/** A connection that several exchanges may use at the same time. */
interface Pooled {
  readonly isClosed: boolean;
  close(): void;
}

interface Slot<Connection> {
  readonly opening: Promise<Connection>;
  opened: Connection | undefined;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/**
 * A bounded number of connections. An exchange prefers an idle one, then a new one, then the one with the
 * fewest users.
 */
export class ConnectionPool<Connection extends Pooled> {
  readonly #open: () => Promise<Connection>;
  readonly #most: number;
  readonly #keepAliveMs: number;
  #slots: Slot<Connection>[] = [];

  private constructor(open: () => Promise<Connection>, most: number, keepAliveMs: number) {
    this.#open = open;
    this.#most = most;
    this.#keepAliveMs = keepAliveMs;
  }

  /**
   * Resolves when the first connection is open, so that an unreachable server is found at once.
   *
   * @param settings an idle connection is kept for `keepAliveMs`; with 0 it is closed at once
   */
  static async opened<Connection extends Pooled>(
    open: () => Promise<Connection>,
    { connections, keepAliveMs }: Pick<StackSettings, 'connections' | 'keepAliveMs'>,
  ): Promise<ConnectionPool<Connection>> {
    const pool = new ConnectionPool(open, connections, keepAliveMs);
    await pool.with(async () => undefined);
    return pool;
  }

  /** Does `work` on a connection. */
  async with<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const slot = this.#take();
    try {
      const connection = await slot.opening;
      slot.opened = connection;
      return await work(connection);
    } finally {
      slot.users -= 1;
      this.#rest(slot);
    }
  }

  close(): void {
    for (const slot of this.#slots) this.#end(slot);
    this.#slots = [];
  }

  #take(): Slot<Connection> {
    this.#slots = this.#slots.filter(({ opened }) => opened?.isClosed !== true);
    let slot = this.#slots.toSorted((a, b) => a.users - b.users)[0];
    if (slot === undefined || (slot.users > 0 && this.#slots.length < this.#most)) {
      slot = { opening: this.#open(), opened: undefined, users: 0, idle: undefined };
      this.#slots.push(slot);
    }
    clearTimeout(slot.idle);
    slot.users += 1;
    return slot;
  }

  #rest(slot: Slot<Connection>): void {
    if (slot.users > 0) return;
    if (slot.opened === undefined) {
      // The connection could not be opened, so the next exchange opens another.
      this.#slots = this.#slots.filter((other) => other !== slot);
      return;
    }
    if (this.#keepAliveMs > 0) {
      slot.idle = setTimeout(() => this.#drop(slot), this.#keepAliveMs).unref();
    } else {
      this.#drop(slot);
    }
  }

  #drop(slot: Slot<Connection>): void {
    this.#slots = this.#slots.filter((other) => other !== slot);
    this.#end(slot);
  }

  #end(slot: Slot<Connection>): void {
    clearTimeout(slot.idle);
    // A connection that is still being opened is closed afterwards; a failed one has nothing to close.
    slot.opening.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }
}
