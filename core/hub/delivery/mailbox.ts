import { DELIVERY_WINDOW, MAX_MAILBOX_BYTES, REDELIVER_AFTER_MS } from '../../contracts/limits.ts';
import type { Receipt } from '../../wire/delivery.ts';
import type { Message } from '../batch.ts';
import type { Volume } from '../faults/fault-counters.ts';
import type { Link } from '../link.ts';

/** A message that is kept until the agent has finished it. */
interface Entry {
  readonly message: Message;
  /** Time of writing to the present connection in monotonic milliseconds; undefined while it waits. */
  writtenMs: number | undefined;
  /** True while the agent works on it. */
  isInProgress: boolean;
  /** Number of times it was written, including to earlier connections. */
  writes: number;
}

/**
 * Packets and bytes of whole frames. noted = acknowledged + undeliverable + remaining in the mailbox; written
 * = noted − unwritten + repeated.
 */
export type MailboxCounters = Record<(typeof LINES)[number], Volume>;
const LINES = ['noted', 'acknowledged', 'undeliverable', 'repeated', 'unwritten'] as const;

/** Sums the counters of all mailboxes. */
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

/** Limits the wait between two tries to sixteen seconds. */
const MAX_DOUBLINGS = 5;

/**
 * Packets for one agent that it has not finished, in order of arrival, kept across the agent's death and
 * return. At most {@link DELIVERY_WINDOW} of them are on the connection.
 */
export class Mailbox {
  readonly counters: MailboxCounters = createMailboxCounters();
  bytes = 0;
  readonly #write: (message: Message, link: Link) => void;
  readonly #entries = new Map<string, Entry>();
  /** Entries that are not on the connection. */
  #waiting: Entry[] = [];
  #link: Link;
  /** True while the agent is connected and has reported its finished packets. */
  #isOpen = false;
  /** True if the agent will not come back. */
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
    // Ids are chosen by their senders: a sender that reuses another's id must not push out that packet.
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

  /** Connects the agent and writes everything that it has not finished, in order. */
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

  /** Disconnects the agent, which may come back. */
  close(): void {
    this.#isOpen = false;
  }

  /** Gives up the agent for good. */
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

  /**
   * Writes again messages that must have been lost; the interval doubles each time, since the agent may only
   * be slow.
   */
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
