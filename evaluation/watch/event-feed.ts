import type { PacketHead } from '@gaia-mesh/core/contracts/packet.ts';
import type { RelayedBatch } from '@gaia-mesh/core/hub/mesh-observer.ts';
import type { NewEvent } from './watch-event.ts';

/** Between two looks at what has happened: as often as an eye notices. */
const TICK_MS = 100;
/** Packets that are told one by one in a tick: 2,000 a second. */
const MAX_PACKETS = 200;
/** … once there were more, so that what is kept reaches back further than some seconds. */
const SAMPLED_PACKETS = 20;
/** Faults of one kind that are told one by one in a tick; all are counted. */
const MAX_FAULTS = 10;
/** Every so many-th totals have all agents, for a page that has not had those before. */
const WHOLE_EVERY = 20;
/** Of all else, in a tick: a queue that a disk, or a bug, fills is no queue. */
const MAX_PENDING = 5_000;

interface Counts {
  packets: number;
  bytes: number;
  tokens: number;
}

/** Hears that there is more. */
type Listener = () => void;

/**
 * What happens in a run, for whoever watches. The hub hands over what it relayed and goes on: counters grow, some heads are noted, and
 * the rest is done ten times a second. Nobody who watches is waited for: they ask for what there is when they can take it.
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
    // What it has to say does not keep a process alive.
    if (nowMs === undefined) this.#timer = setInterval(() => this.tick(), TICK_MS).unref();
  }

  /** The number of the last event that there is. */
  get last(): number {
    return this.#last;
  }

  add(event: NewEvent): void {
    if (event.kind === 'run') {
      // What was counted is of the run before.
      this.tick();
      this.#reset();
    }
    if (this.#pending.length < MAX_PENDING) this.#pending.push({ at: this.#nowMs(), event });
  }

  /** A fault struck; too many of a kind are counted only. */
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

  /** A packet of which the feed is told alone, such as the document that opens a task. */
  packet(head: PacketHead, bytes: number, copies: number): void {
    this.#show(head, bytes, copies);
    this.#count(head.from, { packets: 1, bytes, tokens: head.token_used });
  }

  /** Puts what has happened in its place, and says that it is there. */
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
    for (const hear of this.#listeners) hear();
  }

  /** Events from number `n` on that are still there, as JSON; and the number to go on from. */
  from(n: number, most: number): { readonly texts: readonly string[]; readonly next: number } {
    const events = this.#kept.from(n, most);
    return { texts: events.map(({ text }) => text), next: (events.at(-1)?.n ?? this.#last) + 1 };
  }

  /** @returns ends it */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The watch is over: the last word, and nothing after it. */
  end(text: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.tick();
    this.add({ kind: 'end', text });
    this.tick();
    clearInterval(this.#timer);
  }

  /** Notes a packet if there is room: of a flood every so many-th, by how many there were in the tick before. */
  #show({ type, from, to, id, task_id, tag, token_used }: PacketHead, bytes: number, copies: number): void {
    this.#packetsNow += 1;
    const isFlood = this.#packetsBefore > MAX_PACKETS;
    const stride = isFlood ? Math.ceil(this.#packetsBefore / SAMPLED_PACKETS) : 1;
    if (this.#shownNow >= (isFlood ? SAMPLED_PACKETS : MAX_PACKETS) || this.#packetsNow % stride !== 0)
      return;
    this.#shownNow += 1;
    const whom = { to: to ?? null, ...(tag === undefined ? {} : { tag }) };
    this.add({
      ...{ kind: 'packet', id, from, type, ...whom, task: task_id, bytes, tokens: token_used, copies },
    });
  }

  #count(id: string, { packets, bytes, tokens }: Counts): void {
    this.#isChanged = true;
    for (const counts of [this.#countsOf(id), this.#total]) {
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
      ...{ kind: 'totals', ...this.#total, unshown: this.#unshown, agents, faults: { ...this.#faults } },
    };
  }

  /** Another run: counts begin anew. */
  #reset(): void {
    this.#total = { packets: 0, bytes: 0, tokens: 0 };
    this.#agents = new Map();
    this.#faults = {};
    this.#unshown = 0;
  }
}

/** An event as it is sent. */
interface KeptEvent {
  readonly n: number;
  readonly text: string;
}

/** The last events of one sort. */
class Tail {
  readonly #most: number;
  #events: KeptEvent[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(event: KeptEvent): void {
    this.#events.push(event);
    // Now and then, so that it costs nothing at each.
    if (this.#events.length > 1.25 * this.#most) this.#events = this.#events.slice(-this.#most);
  }

  /** Events from `n` on, at most so many. */
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

/** Packets and totals: five minutes of 100 a second. What is older is in the archive. */
const MAX_FLOW = 30_000;
/** All else: more questions than a batch has. */
const MAX_OTHERS = 20_000;

/**
 * What a page that is opened late is told: the last packets, and the last of all else, of which packets push nothing out. Together some
 * 15 MB, whatever the run does.
 */
class KeptEvents {
  readonly #flow = new Tail(MAX_FLOW);
  readonly #others = new Tail(MAX_OTHERS);

  add(n: number, text: string, isFlow: boolean): void {
    (isFlow ? this.#flow : this.#others).add({ n, text });
  }

  /** Events from number `n` on, in order, at most so many. */
  from(n: number, most: number): KeptEvent[] {
    const both = [...this.#flow.from(n, most), ...this.#others.from(n, most)];
    return both.sort((a, b) => a.n - b.n).slice(0, most);
  }
}
