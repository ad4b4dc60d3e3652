import { HUB_ID, type PacketHead } from '@gaia-mesh/core/contracts/packet.ts';
import type { RelayedBatch } from '@gaia-mesh/core/hub/mesh-observer.ts';
import type { NewEvent } from './watch-event.ts';

/** Milliseconds between ticks, about as short as the eye notices. */
const TICK_MS = 100;
/** Packets sent individually in a tick: 2,000 a second. */
const MAX_PACKETS = 200;
/** Packets sent in a tick after a flood, so that the kept events reach back further than some seconds. */
const SAMPLED_PACKETS = 20;
/** Faults of one kind sent individually in a tick; all are counted. */
const MAX_FAULTS = 10;
/** Interval, in totals, at which all agents are included for pages that opened later. */
const WHOLE_EVERY = 20;
/** Maximum other events that wait for a tick, so that a bug or a slow disk cannot fill the queue. */
const MAX_PENDING = 5_000;

interface Counts {
  packets: number;
  bytes: number;
  tokens: number;
}

/** Called when there are new events. */
type Listener = () => void;

/**
 * Events of a run for its viewers. The hub hands over the relayed packets and goes on: counters grow, some headers are noted, and the rest
 * happens ten times a second. The feed never waits for viewers: they request events when they can take them.
 */
export class EventFeed {
  readonly #kept = new KeptEvents();
  readonly #listeners = new Set<Listener>();
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout | undefined;
  #pending: { at: number; event: NewEvent }[] = [];
  #total: Counts = { packets: 0, bytes: 0, tokens: 0 };
  #agents = new Map<string, Counts & { changed: boolean }>();
  #faults: Record<string, number> = {};
  #faultsNow: Record<string, number> = {};
  #unshown = 0;
  #packetsNow = 0;
  #shownNow = 0;
  #packetsBefore = 0;
  #isChanged = false;
  #isEnded = false;
  #told = 0;
  #last = 0;

  /** @param nowMs the time since the watch began; given for a run that is over, whose events bring their own */
  constructor(nowMs?: () => number) {
    const startMs = performance.now();
    this.#nowMs = nowMs ?? (() => performance.now() - startMs);
    // The timer does not keep the process alive.
    if (nowMs === undefined) this.#timer = setInterval(() => this.tick(), TICK_MS).unref();
  }

  /** Number of the last event. */
  get last(): number {
    return this.#last;
  }

  add(event: NewEvent): void {
    if (event.kind === 'run') {
      // The counts belong to the run before.
      this.tick();
      this.#reset();
    }
    if (this.#pending.length < MAX_PENDING) this.#pending.push({ at: this.#nowMs(), event });
  }

  /** Adds a fault; beyond a limit, faults of one kind are only counted. */
  fault(what: string, text: () => string): void {
    this.#isChanged = true;
    this.#faults[what] = (this.#faults[what] ?? 0) + 1;
    const now = (this.#faultsNow[what] ?? 0) + 1;
    this.#faultsNow[what] = now;
    if (now <= MAX_FAULTS) this.add({ kind: 'fault', what, text: text() });
  }

  relayed(batch: RelayedBatch): void {
    const { sender, recipients, size } = batch;
    let tokens = 0;
    let bytes = 0;
    batch.each((head, frameBytes) => {
      tokens += head.token_used;
      bytes += frameBytes;
      this.#show(head, frameBytes, recipients.length);
    });
    this.#count(sender.node.id, { packets: size, bytes, tokens });
  }

  /** Adds a single packet, such as the document that opens a task. */
  packet(head: PacketHead, bytes: number, copies: number): void {
    this.#show(head, bytes, copies);
    this.#count(head.from, { packets: 1, bytes, tokens: head.token_used });
  }

  /** Appends the pending events and notifies the listeners. */
  tick(): void {
    this.#unshown += this.#packetsNow - this.#shownNow;
    this.#packetsBefore = this.#packetsNow;
    this.#packetsNow = 0;
    this.#shownNow = 0;
    this.#faultsNow = {};
    const pending = this.#pending;
    this.#pending = [];
    if (this.#isChanged) pending.push({ at: this.#nowMs(), event: this.#totals() });
    this.#isChanged = false;
    if (pending.length === 0) return;
    for (const { at, event } of pending) {
      this.#last += 1;
      const text = JSON.stringify({ n: this.#last, at: Math.round(at * 1000) / 1000, ...event });
      this.#kept.add(this.#last, text, event.kind === 'packet' || event.kind === 'totals');
    }
    for (const listener of this.#listeners) listener();
  }

  /** Returns the kept events from number `n` on as JSON, and the number to continue from. */
  from(n: number, most: number): { readonly texts: readonly string[]; readonly next: number } {
    const events = this.#kept.from(n, most);
    return { texts: events.map(({ text }) => text), next: (events.at(-1)?.n ?? this.#last) + 1 };
  }

  /** @returns a function that removes the listener */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends the feed with a last event. */
  end(text: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.tick();
    this.add({ kind: 'end', text });
    this.tick();
    clearInterval(this.#timer);
  }

  /**
   * Adds a packet if there is room; in a flood it takes a sample, at an interval that follows from the number of packets in the tick
   * before.
   */
  #show({ type, from, to, id, task_id, tag, token_used }: PacketHead, bytes: number, copies: number): void {
    this.#packetsNow += 1;
    const isFlood = this.#packetsBefore > MAX_PACKETS;
    const stride = isFlood ? Math.ceil(this.#packetsBefore / SAMPLED_PACKETS) : 1;
    if (this.#shownNow >= (isFlood ? SAMPLED_PACKETS : MAX_PACKETS) || this.#packetsNow % stride !== 0)
      return;
    this.#shownNow += 1;
    this.add({
      kind: 'packet',
      id,
      from,
      type,
      to: to ?? null,
      tag,
      task: task_id,
      bytes,
      tokens: token_used,
      copies,
    });
  }

  #count(id: string, { packets, bytes, tokens }: Counts): void {
    this.#isChanged = true;
    // The totals are those of agents, as in metrics.json: the document is the hub's.
    for (const counts of id === HUB_ID ? [this.#countsOf(id)] : [this.#countsOf(id), this.#total]) {
      counts.packets += packets;
      counts.bytes += bytes;
      counts.tokens += tokens;
    }
  }

  #countsOf(id: string) {
    let counts = this.#agents.get(id);
    if (counts === undefined) {
      counts = { packets: 0, bytes: 0, tokens: 0, changed: true };
      this.#agents.set(id, counts);
    }
    counts.changed = true;
    return counts;
  }

  #totals(): NewEvent {
    const agents: Record<string, Counts> = {};
    this.#told += 1;
    const isWhole = this.#told % WHOLE_EVERY === 0;
    for (const [id, { changed, ...counts }] of this.#agents) if (changed || isWhole) agents[id] = counts;
    for (const counts of this.#agents.values()) counts.changed = false;
    return {
      kind: 'totals',
      ...this.#total,
      unshown: this.#unshown,
      agents,
      faults: { ...this.#faults },
    };
  }

  /** Resets the counts for another run. */
  #reset(): void {
    this.#total = { packets: 0, bytes: 0, tokens: 0 };
    this.#agents = new Map();
    this.#faults = {};
    this.#unshown = 0;
  }
}

/** An event in the form in which it is sent. */
interface KeptEvent {
  readonly n: number;
  readonly text: string;
}

/** The last events of one kind. */
class Tail {
  readonly #most: number;
  #events: KeptEvent[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(event: KeptEvent): void {
    this.#events.push(event);
    // The list is cut occasionally, to keep each addition cheap.
    if (this.#events.length > 1.25 * this.#most) this.#events = this.#events.slice(-this.#most);
  }

  /** Returns events from number `n` on, at most `most`. */
  from(n: number, most: number): KeptEvent[] {
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.n ?? 0) < n) low = middle + 1;
      else high = middle;
    }
    return this.#events.slice(low, low + most);
  }
}

/** Packets and totals that are kept: five minutes at 100 a second. The archive has older ones. */
const MAX_FLOW = 30_000;
/** Other events that are kept: more questions than a batch has. */
const MAX_OTHERS = 20_000;

/**
 * The events that a late viewer receives: the last packets, and the last of all others, which packets do not displace. Together they take
 * about 15 MB, whatever the run does.
 */
class KeptEvents {
  readonly #flow = new Tail(MAX_FLOW);
  readonly #others = new Tail(MAX_OTHERS);

  add(n: number, text: string, isFlow: boolean): void {
    (isFlow ? this.#flow : this.#others).add({ n, text });
  }

  /** Returns events from number `n` on, in order, at most `most`. */
  from(n: number, most: number): KeptEvent[] {
    const both = [...this.#flow.from(n, most), ...this.#others.from(n, most)];
    return both.sort((a, b) => a.n - b.n).slice(0, most);
  }
}
