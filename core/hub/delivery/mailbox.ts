import { DELIVERY_WINDOW, MAX_MAILBOX_BYTES, REDELIVER_AFTER_MS } from '../../contracts/limits.ts';
import type { Receipt } from '../../wire/delivery.ts';
import type { Message } from '../batch.ts';
import type { Volume } from '../faults/fault-counters.ts';
import type { Link } from '../link.ts';

/** A message that is kept until the agent is done with it. */
interface Entry {
  readonly message: Message;
  /** When it was written to the present connection, monotonic milliseconds; undefined while it waits. */
  writtenMs: number | undefined;
  /** The agent has it and works on it. */
  isInProgress: boolean;
  /** Times that it was written, to this connection or to earlier ones. */
  writes: number;
}

/**
 * Packets and bytes, whole frames. noted = acknowledged + undeliverable + what is left in the mailbox; written = noted − unwritten +
 * repeated.
 */
export type MailboxCounters = Record<(typeof LINES)[number], Volume>;
const LINES = ['noted', 'acknowledged', 'undeliverable', 'repeated', 'unwritten'] as const;

/** Of all mailboxes together. */
export function sumCounters(all: readonly MailboxCounters[]): MailboxCounters {
  const sum = createMailboxCounters();
  for (const counters of all) {
    for (const line of LINES) {
      sum[line].packets += counters[line].packets;
      sum[line].bytes += counters[line].bytes;
    }
  }
  return sum;
}

/** Sixteen seconds at most between two tries. */
const MAX_DOUBLINGS = 5;

/**
 * What one agent is to get and has not said to be done with: in the order in which it came, through the agent's death and return.
 * Of it at most {@link DELIVERY_WINDOW} are on the connection.
 */
export class Mailbox {
  readonly counters: MailboxCounters = createMailboxCounters();
  bytes = 0;
  readonly #write: (message: Message, link: Link) => void;
  readonly #entries = new Map<string, Entry>();
  /** Those of them that are not on the connection. */
  #waiting: Entry[] = [];
  #link: Link;
  /** The agent is there, and has said what it is done with. */
  #isOpen = false;
  /** Nobody will come any more. */
  #isAbandoned = false;

  constructor(link: Link, write: (message: Message, link: Link) => void) {
    this.#link = link;
    this.#write = write;
  }

  get isFull(): boolean {
    return this.bytes > MAX_MAILBOX_BYTES;
  }

  get size(): number {
    return this.#entries.size;
  }

  note(message: Message): void {
    this.#count('noted', message);
    this.#count('unwritten', message);
    const { id } = message.head;
    // The same id from two senders: ids are the senders' own, and one that lies must not push out another's packet.
    if (this.#isAbandoned || this.#entries.has(id)) {
      this.#count('undeliverable', message);
      return;
    }
    const entry = { message, writtenMs: undefined, isInProgress: false, writes: 0 };
    this.#entries.set(id, entry);
    this.bytes += message.frame.length;
    this.#waiting.push(entry);
    this.#pump();
  }

  /** The agent is there: all that it is not done with is written, in order. */
  open(link: Link, done: readonly string[]): void {
    this.#link = link;
    this.acknowledge({ done: [...done], inProgress: [] });
    this.#waiting = [...this.#entries.values()];
    for (const entry of this.#waiting) {
      entry.writtenMs = undefined;
      entry.isInProgress = false;
    }
    this.#isOpen = true;
    this.#pump();
  }

  /** The agent is gone, and may come back. */
  close(): void {
    this.#isOpen = false;
  }

  /** The agent does not come back. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#isOpen = false;
    for (const { message } of this.#entries.values()) this.#count('undeliverable', message);
    this.#entries.clear();
    this.#waiting = [];
    this.bytes = 0;
  }

  acknowledge({ done, inProgress }: Receipt): void {
    for (const id of inProgress) {
      const entry = this.#entries.get(id);
      if (entry !== undefined) entry.isInProgress = true;
    }
    for (const id of done) {
      const entry = this.#entries.get(id);
      if (entry === undefined) continue;
      this.#entries.delete(id);
      this.bytes -= entry.message.frame.length;
      this.#count('acknowledged', entry.message);
    }
    this.#pump();
  }

  /** Writes again what must have been lost on the way; later each time, since the agent may only be slow. */
  repeatLost(nowMs: number): void {
    if (!this.#isOpen) return;
    for (const entry of this.#entries.values()) {
      if (entry.writtenMs === undefined) return;
      const patienceMs = REDELIVER_AFTER_MS * 2 ** Math.min(entry.writes - 1, MAX_DOUBLINGS);
      if (entry.isInProgress || nowMs - entry.writtenMs < patienceMs) continue;
      this.#put(entry);
    }
  }

  #pump(): void {
    while (this.#isOpen && this.#entries.size - this.#waiting.length < DELIVERY_WINDOW) {
      const entry = this.#waiting.shift();
      if (entry === undefined) return;
      if (this.#entries.get(entry.message.head.id) === entry) this.#put(entry);
    }
  }

  #put(entry: Entry): void {
    if (entry.writes > 0) this.#count('repeated', entry.message);
    else this.#count('unwritten', entry.message, -1);
    entry.writes += 1;
    entry.writtenMs = performance.now();
    this.#write(entry.message, this.#link);
  }

  #count(line: keyof MailboxCounters, { frame }: Message, times = 1): void {
    this.counters[line].packets += times;
    this.counters[line].bytes += times * frame.length;
  }
}

function createMailboxCounters(): MailboxCounters {
  const none = () => ({ packets: 0, bytes: 0 });
  return {
    noted: none(),
    acknowledged: none(),
    undeliverable: none(),
    repeated: none(),
    unwritten: none(),
  };
}
