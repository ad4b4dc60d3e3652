import { ACK_DELAY_MS, MAX_ACK_IDS, MAX_OUTBOX_PACKETS, REDELIVER_AFTER_MS } from '../../contracts/limits.ts';
import type { JsonObject, PacketHead } from '../../contracts/packet.ts';
import { readMonotonicUs } from '../../system/clock.ts';
import { parseReceipt } from '../../wire/delivery.ts';
import type { HubDelivery } from '../../wire/handshake-messages.ts';
import type { Batch, Message } from '../batch.ts';
import type { ControlSender } from '../control-sender.ts';
import type { Link } from '../link.ts';
import { DeliveryStrategy } from './delivery-strategy.ts';
import { Mailbox, type MailboxCounters, sumCounters } from './mailbox.ts';

/** State of one agent as a sender. */
interface Sender {
  /** Ids of its last packets: only the packets in its outbox can be repeated. */
  readonly ids: Set<string>;
  last: string | null;
}

/** Number of packets of one connection that were taken over, and the number reported to the agent. */
interface TakenPackets {
  readonly control: ControlSender;
  packets: number;
  told: number;
}

/**
 * Keeps each packet for every destination until the destination has finished it: it has a mailbox for each
 * agent, the ids of each sender's packets, and the acknowledgements to the senders. A packet is taken over
 * when it is in the mailboxes of all its destinations, including agents that are being restarted.
 *
 * Backpressure: the hub always reads, since acknowledgements arrive on the same connections as packets;
 * instead it takes over nothing while a mailbox is full. Memory is bounded by the mailboxes' limit plus the
 * contents of all senders' outboxes.
 */
export class AcknowledgedDelivery extends DeliveryStrategy {
  readonly isLossy: boolean;
  readonly #below: DeliveryStrategy;
  readonly #isReturning: (id: string) => boolean;
  readonly #mailboxes = new Map<string, Mailbox>();
  readonly #senders = new Map<string, Sender>();
  readonly #taken = new Map<Link, TakenPackets>();
  readonly #repeating: NodeJS.Timeout | undefined;
  #telling: NodeJS.Timeout | undefined;
  #isEnded = false;

  /** `below` makes each delivery attempt; `isReturning` tells whether a lost agent is being restarted. */
  constructor(below: DeliveryStrategy, isReturning: (id: string) => boolean) {
    super();
    this.#below = below;
    this.#isReturning = isReturning;
    this.isLossy = below.isLossy;
    if (!this.isLossy) return;
    this.#repeating = setInterval(() => {
      for (const mailbox of this.#mailboxes.values()) mailbox.repeatLost(performance.now());
    }, REDELIVER_AFTER_MS / 2).unref();
  }

  override terms(id: string): HubDelivery {
    const have = this.#senders.get(id)?.last ?? null;
    return { mode: 'acknowledged', have, lossy: this.isLossy ? true : undefined };
  }

  /** Lets the agent send its outbox, and sends it the packets that were kept for it. */
  override admit(link: Link, control: ControlSender): void {
    this.#below.admit(link, control);
    this.#taken.set(link, { control, packets: 0, told: 0 });
    // The agent sends nothing before this first acknowledgement: it means that the hub has finished the
    // handshake, too.
    control.acknowledge(link, 0);
    this.#mailbox(link).open(link, link.done);
  }

  override lost(link: Link): void {
    this.#below.lost(link);
    this.#taken.delete(link);
    this.#mailbox(link).close();
  }

  /** Counts the packets kept for the agent as undeliverable. */
  override abandon(link: Link): void {
    this.#below.abandon(link);
    this.#mailbox(link).abandon();
    this.#sendWhenRoom();
  }

  override awaits({ node }: Link): boolean {
    return this.#isReturning(node.id);
  }

  override reaches(link: Link): boolean {
    return this.awaits(link) || this.#below.reaches(link);
  }

  override receive(sender: Link, head?: PacketHead): boolean {
    const isNew = head === undefined || this.#remember(sender, head.id);
    const taken = this.#taken.get(sender);
    if (taken === undefined) return isNew;
    taken.packets += 1;
    if (taken.packets - taken.told >= MAX_ACK_IDS) this.#sendWhenRoom();
    else this.#telling ??= setTimeout(() => this.#sendWhenRoom(), ACK_DELAY_MS).unref();
    return isNew;
  }

  override acknowledge(sender: Link, payload: JsonObject | undefined): void {
    const receipt = parseReceipt(payload);
    if (receipt === undefined) return;
    const mailbox = this.#mailbox(sender);
    const wasFull = mailbox.isFull;
    mailbox.acknowledge(receipt);
    if (wasFull && !mailbox.isFull) this.#sendWhenRoom();
  }

  deliver(batch: Batch): void {
    batch.forwardedUs = readMonotonicUs();
    for (const message of batch.messages()) for (const link of batch.recipients) this.carry(message, link);
  }

  carry(message: Message, link: Link): void {
    this.#mailbox(link).note(message);
  }

  override flush(): void {
    this.#below.flush();
  }

  /** Reports the last counts to the senders; afterwards nothing is reported or repeated. */
  end(): void {
    this.#below.end();
    if (this.#isEnded) return;
    clearInterval(this.#repeating);
    this.#sendCounts();
    this.#isEnded = true;
  }

  /** Counters of all deliveries; `waiting` are still in mailboxes. */
  get counters(): MailboxCounters & { readonly waiting: number } {
    const mailboxes = [...this.#mailboxes.values()];
    const waiting = mailboxes.reduce((sum, { size }) => sum + size, 0);
    return { ...sumCounters(mailboxes.map(({ counters }) => counters)), waiting };
  }

  /** Remembers a packet id; returns false if the packet is a repetition. */
  #remember({ node }: Link, packetId: string): boolean {
    let sender = this.#senders.get(node.id);
    if (sender === undefined) {
      sender = { ids: new Set(), last: null };
      this.#senders.set(node.id, sender);
    }
    const { ids } = sender;
    if (ids.has(packetId)) return false;
    ids.add(packetId);
    sender.last = packetId;
    const [oldest] = ids;
    // Twice an outbox's bound, because a single work may exceed the bound.
    if (ids.size > 2 * MAX_OUTBOX_PACKETS && oldest !== undefined) ids.delete(oldest);
    return true;
  }

  #sendWhenRoom(): void {
    for (const mailbox of this.#mailboxes.values()) if (mailbox.isFull) return;
    this.#sendCounts();
  }

  #sendCounts(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    if (this.#isEnded) return;
    for (const [link, taken] of this.#taken) {
      if (taken.packets === taken.told) continue;
      taken.told = taken.packets;
      taken.control.acknowledge(link, taken.packets);
    }
  }

  #mailbox(link: Link): Mailbox {
    let mailbox = this.#mailboxes.get(link.node.id);
    if (mailbox === undefined) {
      mailbox = new Mailbox(link, (message, to) => this.#below.carry(message, to));
      this.#mailboxes.set(link.node.id, mailbox);
    }
    return mailbox;
  }
}
