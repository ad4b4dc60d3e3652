import * as z from 'zod';
import { DELIVERY_LIMITS } from '../../contracts/limits.ts';
import type { JsonObject, PacketHead } from '../../contracts/packet.ts';
import type { HubDelivery } from '../../wire/handshake.ts';
import type { Message } from '../batch.ts';
import type { ControlSender } from '../control-sender.ts';
import { createVolumes } from '../faults/fault-counters.ts';
import type { Link } from '../link.ts';
import { DeliveryStrategy } from './delivery-strategy.ts';

const idsSchema = z.array(z.string()).max(1000).default([]);

/** An agent's report on packets that were delivered to it, by their ids. */
const receiptSchema = z.object({ done: idsSchema, in_progress: idsSchema });

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
type MailboxCounters = ReturnType<typeof createVolumes<(typeof LINES)[number]>>;
const LINES = ['noted', 'acknowledged', 'undeliverable', 'repeated', 'unwritten'] as const;

/** Sums the counters of all mailboxes. */
function sumCounters(all: readonly MailboxCounters[]): MailboxCounters {
  const sum = createVolumes(LINES);
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
 * return. At most {@link DELIVERY_LIMITS.window} of them are on the connection.
 */
class Mailbox {
  readonly counters: MailboxCounters = createVolumes(LINES);
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
    return this.bytes > DELIVERY_LIMITS.mailboxBytes;
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
    this.acknowledge(done, []);
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

  acknowledge(done: readonly string[], inProgress: readonly string[]): void {
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
      const patienceMs = DELIVERY_LIMITS.redeliverMs * 2 ** Math.min(entry.writes - 1, MAX_DOUBLINGS);
      if (entry.isInProgress || nowMs - entry.writtenMs < patienceMs) continue;
      this.#put(entry);
    }
  }

  #pump(): void {
    while (this.#isOpen && this.#entries.size - this.#waiting.length < DELIVERY_LIMITS.window) {
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
 * Acknowledged delivery: each side keeps a packet until the other has confirmed that it need not be sent again.
 * The two sides agree on it in the handshake; without it (`at-most-once`), packets under way when a connection
 * ends are lost.
 *
 *     agent → hub   the agent keeps sent packets in its outbox, on disk (`core/agent/outbox.ts`); the hub
 *                   reports how many packets of this connection it has taken over: `mesh.ack {taken}`, a
 *                   cumulative acknowledgement
 *     hub → agent   the hub keeps delivered packets in a mailbox for each agent; the agent reports which are
 *                   finished and which are in progress: `mesh.ack {done?, in_progress?}`
 *
 * A packet is taken over when it is in the mailboxes of all its destinations, including agents that are being
 * restarted. When a connection begins again, the hello names the last packet that the hub has from this agent,
 * and the welcome names the packets that the agent has finished. All others are sent again, in order;
 * duplicates are dropped by their id. The hub may be a new process: its knowledge of an agent is the mailbox
 * and the last id.
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
    }, DELIVERY_LIMITS.redeliverMs / 2).unref();
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
    if (taken.packets - taken.told >= DELIVERY_LIMITS.ackIds) this.#sendWhenRoom();
    else this.#telling ??= setTimeout(() => this.#sendWhenRoom(), DELIVERY_LIMITS.ackDelayMs).unref();
    return isNew;
  }

  override acknowledge(sender: Link, payload: JsonObject | undefined): void {
    const receipt = receiptSchema.safeParse(payload).data;
    // A broken agent only harms itself, since its packets are sent again.
    if (receipt === undefined) return;
    const mailbox = this.#mailbox(sender);
    const wasFull = mailbox.isFull;
    mailbox.acknowledge(receipt.done, receipt.in_progress);
    if (wasFull && !mailbox.isFull) this.#sendWhenRoom();
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
    if (ids.size > 2 * DELIVERY_LIMITS.outboxPackets && oldest !== undefined) ids.delete(oldest);
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
