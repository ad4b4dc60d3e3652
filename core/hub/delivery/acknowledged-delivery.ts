import type { Receipt } from '../../delivery.ts';
import { ACK_DELAY_MS, MAX_ACK_IDS, MAX_OUTBOX_PACKETS, REDELIVER_AFTER_MS } from '../../limits.ts';
import type { Link } from '../link.ts';
import { emptyMailboxBook, type Letter, Mailbox, type MailboxBook, type WriteLetter } from './mailbox.ts';

export interface AcknowledgedDeliveryOptions {
  readonly write: WriteLetter;
  /** Tells an agent how many packets of its connection were taken over. */
  readonly tellTaken: (link: Link, taken: number) => void;
  /** Whether deliveries get lost on living connections: only faults do that. */
  readonly isLossy: boolean;
}

/** What the hub knows of one agent as a sender. */
interface Sender {
  /** Ids of its last packets: at most as many as its outbox holds can come again. */
  readonly ids: Set<string>;
  last: string | null;
}

interface Taken {
  packets: number;
  told: number;
}

/**
 * Acknowledged delivery at the hub: a mailbox for each agent, what came from whom, and the acknowledgements to the senders. A packet
 * is taken over when it is in the mailboxes of all its destinations, those of agents on their way back among them.
 *
 * Backpressure: nothing is ever left unread, since acknowledgements come the same way as packets; instead nothing is taken over while
 * a mailbox is full. Memory: the mailboxes' bound, and beyond it what the outboxes of all senders can hold.
 */
export class AcknowledgedDelivery {
  readonly #options: AcknowledgedDeliveryOptions;
  readonly #mailboxes = new Map<string, Mailbox>();
  readonly #senders = new Map<string, Sender>();
  readonly #taken = new Map<Link, Taken>();
  readonly #repeating: NodeJS.Timeout | undefined;
  #telling: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(options: AcknowledgedDeliveryOptions) {
    this.#options = options;
    if (!options.isLossy) return;
    this.#repeating = setInterval(() => {
      for (const mailbox of this.#mailboxes.values()) mailbox.repeatLost(performance.now());
    }, REDELIVER_AFTER_MS / 2).unref();
  }

  /** The last packet that the hub has of an agent. */
  lastOf(id: string): string | null {
    return this.#senders.get(id)?.last ?? null;
  }

  /** A connection begins: the agent may send what it kept, and gets what was kept for it. */
  admit(link: Link, done: readonly string[]): void {
    this.#taken.set(link, { packets: 0, told: 0 });
    // Before it hears this it sends nothing: the handshake is over at the hub, too.
    this.#options.tellTaken(link, 0);
    this.#mailbox(link).open(link, done);
  }

  lost(link: Link): void {
    this.#taken.delete(link);
    this.#mailbox(link).close();
  }

  /** The agent does not come back: what was kept for it is undeliverable. */
  abandon(link: Link): void {
    this.#mailbox(link).abandon();
    this.#tellWhenRoom();
  }

  /** Whether the packet has come before: then it counts as taken over, and that is all. */
  isRepeated({ node }: Link, packetId: string): boolean {
    let sender = this.#senders.get(node.id);
    if (sender === undefined) {
      sender = { ids: new Set(), last: null };
      this.#senders.set(node.id, sender);
    }
    const { ids } = sender;
    if (ids.has(packetId)) return true;
    ids.add(packetId);
    sender.last = packetId;
    const [oldest] = ids;
    // Twice what an outbox holds at its bound: one work may go beyond it.
    if (ids.size > 2 * MAX_OUTBOX_PACKETS && oldest !== undefined) ids.delete(oldest);
    return false;
  }

  deliver(letter: Letter, link: Link): void {
    this.#mailbox(link).note(letter);
  }

  /** A packet of this connection was handed on, refused, or dropped since it had come before. */
  took(link: Link): void {
    const taken = this.#taken.get(link);
    if (taken === undefined) return;
    taken.packets += 1;
    if (taken.packets - taken.told >= MAX_ACK_IDS) this.#tellWhenRoom();
    else this.#telling ??= setTimeout(() => this.#tellWhenRoom(), ACK_DELAY_MS).unref();
  }

  hear(link: Link, receipt: Receipt): void {
    const mailbox = this.#mailbox(link);
    const wasFull = mailbox.isFull;
    mailbox.hear(receipt);
    if (wasFull && !mailbox.isFull) this.#tellWhenRoom();
  }

  /** What became of all deliveries; whatever is in mailboxes still is the difference. */
  get book(): MailboxBook & { readonly waiting: number } {
    const book = emptyMailboxBook();
    let waiting = 0;
    for (const mailbox of this.#mailboxes.values()) {
      waiting += mailbox.letters;
      for (const [line, { packets, bytes }] of Object.entries(mailbox.book)) {
        const sum = Object.entries(book).find(([name]) => name === line)?.[1];
        if (sum === undefined) continue;
        sum.packets += packets;
        sum.bytes += bytes;
      }
    }
    return { ...book, waiting };
  }

  /** The books are being closed: senders hear what was taken over, and then no more is said or repeated. */
  end(): void {
    if (this.#isEnded) return;
    clearInterval(this.#repeating);
    this.#tell();
    this.#isEnded = true;
  }

  #tellWhenRoom(): void {
    for (const mailbox of this.#mailboxes.values()) if (mailbox.isFull) return;
    this.#tell();
  }

  #tell(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    if (this.#isEnded) return;
    for (const [link, taken] of this.#taken) {
      if (taken.packets === taken.told) continue;
      taken.told = taken.packets;
      this.#options.tellTaken(link, taken.packets);
    }
  }

  #mailbox(link: Link): Mailbox {
    let mailbox = this.#mailboxes.get(link.node.id);
    if (mailbox === undefined) {
      mailbox = new Mailbox(link, this.#options.write);
      this.#mailboxes.set(link.node.id, mailbox);
    }
    return mailbox;
  }
}
