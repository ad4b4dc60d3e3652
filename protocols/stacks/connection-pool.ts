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

/** At most so many connections: one that nobody uses is preferred, then a new one, then the one with the fewest users. */
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
   * Resolves when the first connection is there: whoever is not there is not there now.
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
      // It could not be opened: the next exchange tries anew.
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
    // One that is being opened ends when it is open; one that could not be has nothing to end.
    slot.opening.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }
}
