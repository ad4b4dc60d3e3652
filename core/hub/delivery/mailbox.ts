import type { Receipt } from '../../delivery.ts';
import { DELIVERY_WINDOW, MAX_MAILBOX_BYTES, REDELIVER_AFTER_MS } from '../../limits.ts';
import type { PacketHead } from '../../packet.ts';
import type { Link } from '../link.ts';

/** A packet for one agent, kept until the agent is done with it. */
export interface Letter {
  readonly from: string;
  readonly frame: Buffer;
  readonly head: PacketHead;
}

export type WriteLetter = (letter: Letter, link: Link) => void;

interface Entry {
  readonly letter: Letter;
  /** When it was written to the present connection, monotonic milliseconds; undefined while it waits. */
  writtenMs: number | undefined;
  /** The agent has it and works on it. */
  isHere: boolean;
  /** Times that it was written, to this connection or to earlier ones. */
  writes: number;
}

/**
 * Packets and bytes, whole frames. noted = acknowledged + undeliverable + what is left in the mailbox; written = noted − unwritten +
 * repeated.
 */
export type MailboxBook = Record<
  'noted' | 'acknowledged' | 'undeliverable' | 'repeated' | 'unwritten',
  { packets: number; bytes: number }
>;

/** Sixteen seconds at most between two tries. */
const MAX_DOUBLINGS = 5;

/**
 * What one agent is to get and has not said to be done with: in the order in which it came, through the agent's death and return.
 * Of it at most {@link DELIVERY_WINDOW} are on the connection.
 */
export class Mailbox {
  readonly book: MailboxBook = emptyMailboxBook();
  bytes = 0;
  readonly #write: WriteLetter;
  readonly #entries = new Map<string, Entry>();
  /** Those of them that are not on the connection. */
  #waiting: Entry[] = [];
  #link: Link;
  /** The agent is there, and has said what it is done with. */
  #isOpen = false;
  /** Nobody will come any more. */
  #isAbandoned = false;

  constructor(link: Link, write: WriteLetter) {
    this.#link = link;
    this.#write = write;
  }

  get isFull(): boolean {
    return this.bytes > MAX_MAILBOX_BYTES;
  }

  get letters(): number {
    return this.#entries.size;
  }

  note(letter: Letter): void {
    this.#count('noted', letter);
    this.#count('unwritten', letter);
    const { id } = letter.head;
    // The same id from two senders: ids are the senders' own, and one that lies must not push out another's packet.
    if (this.#isAbandoned || this.#entries.has(id)) {
      this.#count('undeliverable', letter);
      return;
    }
    const entry = { letter, writtenMs: undefined, isHere: false, writes: 0 };
    this.#entries.set(id, entry);
    this.bytes += letter.frame.length;
    this.#waiting.push(entry);
    this.#pump();
  }

  /** The agent is there: all that it is not done with is written, in order. */
  open(link: Link, done: readonly string[]): void {
    this.#link = link;
    this.hear({ done: [...done], here: [] });
    this.#waiting = [...this.#entries.values()];
    for (const entry of this.#waiting) {
      entry.writtenMs = undefined;
      entry.isHere = false;
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
    for (const { letter } of this.#entries.values()) this.#count('undeliverable', letter);
    this.#entries.clear();
    this.#waiting = [];
    this.bytes = 0;
  }

  hear({ done, here }: Receipt): void {
    for (const id of here) {
      const entry = this.#entries.get(id);
      if (entry !== undefined) entry.isHere = true;
    }
    for (const id of done) {
      const entry = this.#entries.get(id);
      if (entry === undefined) continue;
      this.#entries.delete(id);
      this.bytes -= entry.letter.frame.length;
      this.#count('acknowledged', entry.letter);
    }
    this.#pump();
  }

  /** Writes again what must have been lost on the way; later each time, since the agent may only be slow. */
  repeatLost(nowMs: number): void {
    if (!this.#isOpen) return;
    for (const entry of this.#entries.values()) {
      if (entry.writtenMs === undefined) return;
      const patienceMs = REDELIVER_AFTER_MS * 2 ** Math.min(entry.writes - 1, MAX_DOUBLINGS);
      if (entry.isHere || nowMs - entry.writtenMs < patienceMs) continue;
      this.#put(entry);
    }
  }

  #pump(): void {
    while (this.#isOpen && this.#entries.size - this.#waiting.length < DELIVERY_WINDOW) {
      const entry = this.#waiting.shift();
      if (entry === undefined) return;
      if (this.#entries.get(entry.letter.head.id) === entry) this.#put(entry);
    }
  }

  #put(entry: Entry): void {
    if (entry.writes > 0) this.#count('repeated', entry.letter);
    else this.#count('unwritten', entry.letter, -1);
    entry.writes += 1;
    entry.writtenMs = performance.now();
    this.#write(entry.letter, this.#link);
  }

  #count(line: keyof MailboxBook, { frame }: Letter, times = 1): void {
    this.book[line].packets += times;
    this.book[line].bytes += times * frame.length;
  }
}

export function emptyMailboxBook(): MailboxBook {
  const none = () => ({ packets: 0, bytes: 0 });
  return {
    noted: none(),
    acknowledged: none(),
    undeliverable: none(),
    repeated: none(),
    unwritten: none(),
  };
}
