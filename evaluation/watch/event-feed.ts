import type { ServerResponse } from 'node:http';
import { copyHead, HUB_ID, type PacketHead } from '@gaia-mesh/core/contracts/packet.ts';
import type { Batch } from '@gaia-mesh/core/hub/batch.ts';
import type { NewRunEvent, RunEvent } from '@gaia-mesh/core/run/run-event.ts';
import { readEpochMs } from '@gaia-mesh/core/system/log.ts';
import { toOneLine } from '../terminal/table.ts';

/** Milliseconds between ticks: the page draws as often. */
const TICK_MS = 250;
/** Packets sent individually in a tick: 2,000 a second. */
const MAX_PACKETS = 500;
/** Packets sent in a tick after a flood, so that the kept events reach back further than some seconds. */
const SAMPLED_PACKETS = 50;
/** Faults of one kind sent individually in a tick; all are counted. */
const MAX_FAULTS = 10;
/** Interval, in totals, at which all agents are included for pages that opened later. */
const WHOLE_EVERY = 8;
/** Maximum characters of a text in an event, which suits a list; details have the whole text. */
const MAX_TEXT = 300;
/** Maximum agents named at the start of a run. */
const MAX_AGENTS = 256;
/** Texts that identify something, and are therefore not cut. */
const IDS: ReadonlySet<string> = new Set(['event', 'run_id', 'task_id', 'id', 'from', 'to']);
/** Frequent events, which are kept apart so that they do not displace others. */
const FLOW: ReadonlySet<string> = new Set<RunEvent['event']>(['broadcast', 'packet', 'totals']);
/** Maximum other events that wait for a tick, so that a bug or a slow disk cannot fill the queue. */
const MAX_PENDING = 5_000;

/** Events in one write, about 100 kB; it also bounds the data that waits for a slow page. */
const EVENTS_A_WRITE = 500;
/** Milliseconds after which a page that reads nothing is disconnected. */
const STALLED_MS = 60_000;
/** Milliseconds between keep-alive comments, so that intermediaries do not close a silent connection. */
const ALIVE_EVERY_MS = 15_000;

interface Counts {
  packets: number;
  bytes: number;
  tokens: number;
}

/** Called when there are new events. */
type Listener = () => void;

/**
 * Events of a run for its viewers. For a relayed packet, the hub only raises counters and notes some headers. All other work happens
 * four times a second. The feed never waits for viewers: they request events when they can take
 * them.
 */
export class EventFeed {
  readonly #kept = new KeptEvents();
  readonly #listeners = new Set<Listener>();
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout | undefined;
  #pending: NewRunEvent[] = [];
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
  #sentTotals = 0;
  #last = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs the time of events that have none, in milliseconds since 1970; with it there is no timer, and the caller ticks */
  constructor(nowMs?: () => number) {
    this.#nowMs = nowMs ?? readEpochMs;
    // The timer does not keep the process alive.
    if (nowMs === undefined) this.#timer = setInterval(() => this.tick(), TICK_MS).unref();
  }

  /** Number of the last event. */
  get last(): number {
    return this.#last;
  }

  /** Adds an event. All packets and faults are counted, but only some of them are sent in each tick. */
  add(event: NewRunEvent): void {
    switch (event.event) {
      case 'run_began':
        // The pending counts belong to the previous run.
        this.tick();
        this.#reset();
        this.#push(event);
        break;
      case 'broadcast':
      case 'packet':
        this.#show(event, event.bytes, event.recipients, event);
        this.#count(event.from, { packets: 1, bytes: event.bytes, tokens: event.token_used });
        break;
      case 'agent_lost':
      case 'agent_died':
        this.#countFault('lost', 1);
        this.#push(event);
        break;
      case 'refused':
        if (this.#countFault('refused', 1 + (event.left_out ?? 0))) this.#push(event);
        break;
      case 'fault':
      case 'undeliverable':
        if (this.#countFault(event.kind, 1)) this.#push(event);
        break;
      case 'fault_began':
      case 'restart':
        if (this.#countFault('fault', 1)) this.#push(event);
        break;
      default:
        this.#push(event);
    }
  }

  relayed(batch: Batch): void {
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

  /** Appends the pending events and notifies the listeners. */
  tick(): void {
    this.#unshown += this.#packetsNow - this.#shownNow;
    this.#packetsBefore = this.#packetsNow;
    this.#packetsNow = 0;
    this.#shownNow = 0;
    this.#faultsNow = {};
    if (this.#isChanged) this.#pending.push(this.#totals());
    this.#isChanged = false;
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length === 0) return;
    for (const { level: _level, ...event } of pending) {
      this.#last += 1;
      // A clock that was set back does not reverse the order.
      this.#lastMs = Math.max(this.#lastMs, event.time ?? this.#nowMs());
      const time = Math.round(this.#lastMs * 1000) / 1000;
      const text = JSON.stringify({ n: this.#last, ...event, time });
      this.#kept.add({ n: this.#last, text }, FLOW.has(event.event));
    }
    for (const listener of this.#listeners) listener();
  }

  /** Returns the kept events from number `n` on as JSON, and the number to continue from. */
  from(n: number, most: number): { readonly texts: readonly string[]; readonly next: number } {
    const events = this.#kept.from(n, most);
    return { texts: events.map((event) => event.text), next: (events.at(-1)?.n ?? this.#last) + 1 };
  }

  /**
   * Sends the events from number `from` on to one page as server-sent events. The page receives the following events when it can take
   * them, and skips those that are no longer kept. So nothing waits for the page.
   */
  stream(response: ServerResponse, from: number): void {
    let next = from;
    let isFull = false;
    let stalled: NodeJS.Timeout | undefined;
    const pump = () => {
      while (!isFull && next <= this.last) {
        const { texts, next: after } = this.from(next, EVENTS_A_WRITE);
        next = after;
        if (texts.length === 0) continue;
        isFull = !response.write(`id: ${after - 1}\ndata: [${texts.join(',')}]\n\n`);
        if (isFull) stalled = setTimeout(() => response.destroy(), STALLED_MS).unref();
      }
    };
    this.#listeners.add(pump);
    const alive = setInterval(() => {
      if (!isFull) isFull = !response.write(': alive\n\n');
    }, ALIVE_EVERY_MS).unref();
    response.on('drain', () => {
      clearTimeout(stalled);
      isFull = false;
      pump();
    });
    response.on('close', () => {
      clearTimeout(stalled);
      clearInterval(alive);
      this.#listeners.delete(pump);
    });
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    pump();
  }

  /** Ends the feed with a last event. */
  end(text: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.tick();
    this.add({ event: 'stream_ended', text: cutText(text) });
    this.tick();
    clearInterval(this.#timer);
  }

  #push(event: NewRunEvent): void {
    if (this.#pending.length >= MAX_PENDING) return;
    this.#pending.push({ ...shortenTexts(event), time: event.time ?? this.#nowMs() });
  }

  /**
   * Adds a packet if there is room; in a flood it takes a sample, at an interval that follows from the number of packets in the tick
   * before.
   */
  #show(head: PacketHead, bytes: number, recipients: number, event?: NewRunEvent): void {
    this.#packetsNow += 1;
    const isFlood = this.#packetsBefore > MAX_PACKETS;
    const stride = isFlood ? Math.ceil(this.#packetsBefore / SAMPLED_PACKETS) : 1;
    if (this.#shownNow >= (isFlood ? SAMPLED_PACKETS : MAX_PACKETS) || this.#packetsNow % stride !== 0)
      return;
    this.#shownNow += 1;
    this.#push(event ?? { event: 'packet', ...copyHead(head), bytes, recipients });
  }

  /** Counts faults of a kind; returns true if there is room for another event of it in this tick. */
  #countFault(kind: string, count: number): boolean {
    this.#isChanged = true;
    this.#faults[kind] = (this.#faults[kind] ?? 0) + count;
    this.#faultsNow[kind] = (this.#faultsNow[kind] ?? 0) + 1;
    return this.#faultsNow[kind] <= MAX_FAULTS;
  }

  #count(id: string, { packets, bytes, tokens }: Counts): void {
    this.#isChanged = true;
    // The totals count only packets of agents, as in metrics.json, and not the hub's documents.
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

  #totals(): NewRunEvent {
    const agents: Record<string, Counts> = {};
    this.#sentTotals += 1;
    const isWhole = this.#sentTotals % WHOLE_EVERY === 0;
    for (const [id, { changed, ...counts }] of this.#agents) if (changed || isWhole) agents[id] = counts;
    for (const counts of this.#agents.values()) counts.changed = false;
    return {
      event: 'totals',
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

/** Cuts the texts of an event, which may have come from an agent; notes are our own. */
function shortenTexts(event: NewRunEvent): NewRunEvent {
  if (event.event === 'note') return event;
  const texts = Object.entries(event).map(([key, value]) => [
    key,
    typeof value === 'string' && !IDS.has(key) ? cutText(value) : value,
  ]);
  const short: NewRunEvent = Object.fromEntries(texts);
  if (short.event !== 'run_began') return short;
  const agents = short.agents.slice(0, MAX_AGENTS).map(({ id, tool }) => ({ id, tool: cutText(tool) }));
  return { ...short, agents };
}

function cutText(text: string): string {
  return toOneLine(text, MAX_TEXT);
}

/** An event in the form in which it is sent, with its number. */
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
 * about 25 MB, whatever the run does.
 */
class KeptEvents {
  readonly #flow = new Tail(MAX_FLOW);
  readonly #others = new Tail(MAX_OTHERS);

  add(event: KeptEvent, isFlow: boolean): void {
    (isFlow ? this.#flow : this.#others).add(event);
  }

  /** Returns events from number `n` on, in order, at most `most`. */
  from(n: number, most: number): KeptEvent[] {
    const both = [...this.#flow.from(n, most), ...this.#others.from(n, most)];
    return both.sort((a, b) => a.n - b.n).slice(0, most);
  }
}
