import { FINAL_ANSWER } from '../contracts/packet.ts';
import type { PacketTrace } from './recording.ts';

/**
 * The time of a task, split by activity. The chain of causes from the final packet back to the document is
 * cut at every packet's arrival by the hub's clock. Within a piece the agent's own report, by its own clock,
 * gives its activities; the rest of the piece was spent in transit. A report that does not fit into its piece
 * is ignored. Unit: microseconds; no part is negative, and the parts sum to the total.
 *
 * - `encode`, `decode`: in the codec (and its validation)
 * - `relay`: in the hub, from a packet's arrival until it begins to write it
 * - `wire`: in the system calls, the kernel and the event loops, from one process to the next
 * - `tool`, `engine`: in the tool without its engine, and in the engine
 * - `agent`: in the agent around its tool: its log, its queue
 * - `unknown`: with agents that report nothing, or nothing that fits
 */
type TimeSplit = Readonly<Record<(typeof PARTS)[number] | 'total', number>>;
const PARTS = ['encode', 'relay', 'wire', 'decode', 'tool', 'engine', 'agent', 'unknown'] as const;

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

/** Resolution of the clock in microseconds: sums of readings may be off by it. */
const CLOCK_US = 1;

/** A run's packets and their chains of causes. */
export class Timeline {
  readonly #traces: ReadonlyMap<string, PacketTrace>;

  constructor(traces: readonly PacketTrace[]) {
    this.#traces = new Map(traces.map((trace) => [trace.packet.id, trace]));
  }

  /** Returns the sum of the splits of all answered tasks; null if there are none. */
  sum(): TimeSplit | null {
    const ended = new Set<string>();
    let sum: TimeSplit | null = null;
    for (const { packet } of this.traces) {
      if (packet.tag !== FINAL_ANSWER || ended.has(packet.task_id)) continue;
      ended.add(packet.task_id);
      const split = this.#split(packet.id);
      if (split !== undefined) sum = addTimeSplits(sum ?? NOTHING, split);
    }
    return sum && roundTimeSplit(sum);
  }

  /** The packets, in the order in which they came. */
  get traces(): Iterable<PacketTrace> {
    return this.#traces.values();
  }

  /** Returns the split of the task that ended with packet `id`; undefined if the chain is incomplete. */
  #split(id: string): TimeSplit | undefined {
    let split = NOTHING;
    let trace = this.#traces.get(id);
    // A chain cannot be longer than the number of packets; a longer one is a cycle.
    for (let steps = 0; trace !== undefined && steps <= this.#traces.size; steps++) {
      if (trace.cause === null) return split;
      const piece = this.measurePiece(trace);
      if (piece === undefined) return undefined;
      split = addTimeSplits(split, piece);
      trace = this.#traces.get(trace.cause);
    }
    return undefined;
  }

  /**
   * Returns the split of one packet's piece of a chain: from the arrival of its cause until its own arrival at the
   * hub. Undefined if the clocks of the two do not give one.
   */
  measurePiece(trace: PacketTrace): TimeSplit | undefined {
    const cause = trace.cause === null ? undefined : this.#traces.get(trace.cause);
    if (cause?.relayed === undefined || trace.relayed === undefined) return undefined;
    const total = trace.relayed.arrived_us - cause.relayed.arrived_us;
    if (total < 0) return undefined;
    // Encoding a document is part of the hub's time for it, and is listed separately here.
    const encodeUs = cause.cause === null ? (cause.work?.encode_us ?? 0) : 0;
    const forwardedUs = Math.max(0, cause.relayed.forwarded_us - cause.relayed.arrived_us - encodeUs);
    // A batch may be stamped as forwarded later than its first bytes were.
    const relay = Math.min(forwardedUs, Math.max(0, total - encodeUs));
    const outsideUs = Math.max(0, total - encodeUs - relay);
    const parts = splitAgentTime(trace, outsideUs) ?? { ...NOTHING, unknown: outsideUs };
    return { ...parts, encode: parts.encode + Math.min(encodeUs, total), relay, total };
  }
}

/**
 * Splits `us` microseconds by the report of a packet's sender, counting the rest as transit; returns
 * undefined if the report does not fit.
 */
function splitAgentTime({ tool_us, work }: PacketTrace, us: number): TimeSplit | undefined {
  if (work === undefined || tool_us === null) return undefined;
  const { received_us, sent_us, decode_us, engine_us, encode_us } = work;
  const inAgent = sent_us - received_us;
  const parts = {
    ...NOTHING,
    decode: decode_us,
    engine: engine_us,
    tool: tool_us - engine_us,
    encode: encode_us,
    agent: inAgent - decode_us - tool_us - encode_us,
    wire: us - inAgent,
  };
  const names = ['decode', 'engine', 'tool', 'encode', 'agent', 'wire'] as const;
  if (names.some((name) => parts[name] < -CLOCK_US)) return undefined;
  // A negative part within the clock's resolution is taken from the largest part.
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

/** Rounds to tenths, since clocks are not more precise. The parts still sum to the total. */
function roundTimeSplit({ total, ...parts }: TimeSplit): TimeSplit {
  const tenths = (us: number) => Math.round(us * 10);
  const entries = Object.entries(parts).map(([name, us]) => [name, tenths(us)] as const);
  const all = entries.reduce((sum, [, value]) => sum + value, 0);
  const whole = Object.fromEntries(entries.map(([name, value]) => [name, value / 10]));
  return { ...NOTHING, ...whole, total: all / 10 };
}
