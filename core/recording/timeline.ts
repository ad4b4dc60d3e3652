import { FINAL_ANSWER } from '../contracts/packet.ts';
import type { PacketTrace } from './recording.ts';

/**
 * Where the time of a task went: the way of its final packet back to the document is a chain of causes, and the hub's clock cuts it at
 * every packet's arrival. Within a piece the agent's own report says what it did, by its own clock; the rest of the piece was on the
 * way. A report that does not fit into its piece counts for nothing. Microseconds; no part is below 0, and the parts sum to the total.
 *
 * - `encode`, `decode`: in the codec (and its validation)
 * - `relay`: in the hub, from a packet's arrival until it begins to write it
 * - `wire`: in the system calls, the kernel and the event loops, from one process to the next
 * - `tool`, `engine`: in the tool without its engine, and in the engine
 * - `agent`: in the agent around its tool: its log, its queue
 * - `unknown`: with agents that report nothing, or nothing that fits
 */
export type TimeSplit = Readonly<Record<(typeof PARTS)[number] | 'total', number>>;
const PARTS = ['encode', 'relay', 'wire', 'decode', 'tool', 'engine', 'agent', 'unknown'] as const;

type Parts = Omit<TimeSplit, 'total' | 'relay'>;

/** One packet's piece of a chain: from the arrival of its cause until its own arrival at the hub. */
interface Piece {
  readonly trace: PacketTrace;
  readonly us: number;
  readonly relayUs: number;
  readonly parts: Parts;
}

const NOTHING: TimeSplit = {
  encode: 0,
  relay: 0,
  wire: 0,
  decode: 0,
  tool: 0,
  engine: 0,
  agent: 0,
  unknown: 0,
  total: 0,
};
const NO_PARTS: Parts = { encode: 0, wire: 0, decode: 0, tool: 0, engine: 0, agent: 0, unknown: 0 };

/** A clock says nothing below this: sums of readings may miss by it. */
const CLOCK_US = 1;

/** A run's packets by the chains of causes that they form. */
export class Timeline {
  readonly #traces: ReadonlyMap<string, PacketTrace>;

  constructor(traces: readonly PacketTrace[]) {
    this.#traces = new Map(traces.map((trace) => [trace.packet.id, trace]));
  }

  /** The splits of all tasks that were answered, summed; null where there is none. */
  sum(): TimeSplit | null {
    const ended = new Set<string>();
    let sum: TimeSplit | null = null;
    for (const { packet } of this.#traces.values()) {
      if (packet.tag !== FINAL_ANSWER || ended.has(packet.task_id)) continue;
      ended.add(packet.task_id);
      const split = this.#split(packet.id);
      if (split !== undefined) sum = addTimeSplits(sum ?? NOTHING, split);
    }
    return sum && roundTimeSplit(sum);
  }

  /** How long each packet took from its cause on, in the order in which the packets came. */
  *pieces(): Generator<Piece> {
    for (const trace of this.#traces.values()) {
      const piece = this.#piece(trace);
      if (piece !== undefined) yield piece;
    }
  }

  /** The split of one task that ended with packet `id`, or undefined where the chain is not whole. */
  #split(id: string): TimeSplit | undefined {
    let split = NOTHING;
    let trace = this.#traces.get(id);
    // A chain cannot be longer than the packets there are; a longer one goes round in a circle.
    for (let steps = 0; trace !== undefined && steps <= this.#traces.size; steps++) {
      if (trace.cause === null) return split;
      const piece = this.#piece(trace);
      if (piece === undefined) return undefined;
      split = addTimeSplits(split, { ...piece.parts, relay: piece.relayUs, total: piece.us });
      trace = this.#traces.get(trace.cause);
    }
    return undefined;
  }

  #piece(trace: PacketTrace): Piece | undefined {
    const cause = trace.cause === null ? undefined : this.#traces.get(trace.cause);
    if (cause?.relayed === undefined || trace.relayed === undefined) return undefined;
    const us = trace.relayed.arrivedUs - cause.relayed.arrivedUs;
    if (us < 0) return undefined;
    // What the hub did with the cause: for a document, encoding it is part of that time, and apart here.
    const encodeUs = cause.cause === null ? (cause.work?.encodeUs ?? 0) : 0;
    const forwardedUs = Math.max(0, cause.relayed.forwardedUs - cause.relayed.arrivedUs - encodeUs);
    // The batch may be stamped as forwarded later than the first bytes of it were there.
    const relayUs = Math.min(forwardedUs, Math.max(0, us - encodeUs));
    const outsideUs = Math.max(0, us - encodeUs - relayUs);
    const parts = splitAgentTime(trace, outsideUs) ?? { ...NO_PARTS, unknown: outsideUs };
    return { trace, us, relayUs, parts: { ...parts, encode: parts.encode + Math.min(encodeUs, us) } };
  }
}

/** What the sender of a packet says that it did in `us` microseconds, the rest on the way; undefined where that does not fit. */
function splitAgentTime({ toolUs, work }: PacketTrace, us: number): Parts | undefined {
  if (work === undefined || toolUs === null) return undefined;
  const { receivedAt, sentAt, decodeUs, engineUs, encodeUs } = work;
  const inAgent = sentAt - receivedAt;
  const parts = {
    decode: decodeUs,
    engine: engineUs,
    tool: toolUs - engineUs,
    encode: encodeUs,
    agent: inAgent - decodeUs - toolUs - encodeUs,
    wire: us - inAgent,
    unknown: 0,
  };
  const names = ['decode', 'engine', 'tool', 'encode', 'agent', 'wire'] as const;
  if (names.some((name) => parts[name] < -CLOCK_US)) return undefined;
  // What is below 0 by no more than the clock can tell is taken from the largest.
  for (const name of names) {
    if (parts[name] >= 0) continue;
    const largest = names.reduce((best, other) => (parts[other] > parts[best] ? other : best), name);
    parts[largest] += parts[name];
    parts[name] = 0;
  }
  return names.some((name) => parts[name] < 0) ? undefined : parts;
}

function addTimeSplits(a: TimeSplit, b: TimeSplit): TimeSplit {
  const sum = { ...a };
  for (const name of [...PARTS, 'total'] as const) sum[name] += b[name];
  return sum;
}

/** To a tenth: below that a clock says nothing. The parts still sum to the total: `wire` and `unknown`, which are differences, take up the rest. */
function roundTimeSplit({ total, ...parts }: TimeSplit): TimeSplit {
  const tenths = (us: number) => Math.round(us * 10);
  const entries = Object.entries(parts).map(([name, us]) => [name, tenths(us)] as const);
  const all = entries.reduce((sum, [, value]) => sum + value, 0);
  const whole = Object.fromEntries(entries.map(([name, value]) => [name, value / 10]));
  return { ...NOTHING, ...whole, total: all / 10 };
}
