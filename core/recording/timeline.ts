import { FINAL_ANSWER } from '../contracts/packet.ts';
import type { RunLog, SentPacket } from './run-log.ts';

/**
 * Where the time of a task went, by measurement: the way of its final packet back to the document is a chain of causes, and
 * each piece of it lies between two clock readings. Microseconds; the parts sum to the whole.
 *
 * - `encode`, `decode`: in the codec (and its validation)
 * - `relay`: in the hub, from a packet's arrival until it begins to write it
 * - `wire`: in the system calls, the kernel and the event loops, from one process to the next
 * - `tool`, `engine`: in the tool without its engine, and in the engine
 * - `agent`: in the agent around its tool: its log, its queue
 */
export interface TimeSplit {
  readonly encode: number;
  readonly relay: number;
  readonly wire: number;
  readonly decode: number;
  readonly tool: number;
  readonly engine: number;
  readonly agent: number;
  readonly total: number;
}

/** The splits of all tasks that were answered, summed; null where there is none. */
export function sumOfSplits(log: RunLog): TimeSplit | null {
  const finals = [...log.sent.values()].filter(({ packet }) => packet.tag === FINAL_ANSWER);
  const splits = finals.flatMap(({ packet }) => timeSplit(log, packet.id) ?? []);
  const [first, ...rest] = splits;
  if (first === undefined) return null;
  return rest.reduce(
    (sum, split) => ({
      encode: sum.encode + split.encode,
      relay: sum.relay + split.relay,
      wire: sum.wire + split.wire,
      decode: sum.decode + split.decode,
      tool: sum.tool + split.tool,
      engine: sum.engine + split.engine,
      agent: sum.agent + split.agent,
      total: sum.total + split.total,
    }),
    first,
  );
}

/** The split of one task that ended with packet `finalId`, or undefined where the chain is not whole. */
function timeSplit(log: RunLog, finalId: string): TimeSplit | undefined {
  const { sent, openings } = log;
  const split = { encode: 0, relay: 0, wire: 0, decode: 0, tool: 0, engine: 0, agent: 0 };
  const endAt = log.relays.get(finalId)?.arrivedAt;
  let entry: SentPacket | undefined = sent.get(finalId);
  // A chain cannot be longer than the packets there are; a longer one goes round in a circle.
  for (let steps = 0; entry !== undefined && steps <= sent.size; steps++) {
    const arrival = log.relays.get(entry.packet.id);
    if (arrival === undefined) return undefined;
    const inAgent = entry.sentAt - entry.receivedAt;
    split.decode += entry.decodeUs;
    split.engine += entry.engineUs;
    split.tool += entry.toolUs - entry.engineUs;
    split.encode += entry.encodeUs;
    split.agent += inAgent - entry.decodeUs - entry.toolUs - entry.encodeUs;
    split.wire += arrival.arrivedAt - entry.sentAt;
    const opening = openings.get(entry.cause);
    if (opening !== undefined && endAt !== undefined) {
      split.encode += opening.encodeUs;
      split.relay += opening.forwardedAt - opening.beganAt - opening.encodeUs;
      split.wire += entry.receivedAt - opening.forwardedAt;
      return rounded({ ...split, total: endAt - opening.beganAt });
    }
    const relayed = log.relays.get(entry.cause);
    if (relayed === undefined) return undefined;
    split.relay += relayed.forwardedAt - relayed.arrivedAt;
    split.wire += entry.receivedAt - relayed.forwardedAt;
    entry = sent.get(entry.cause);
  }
  return undefined;
}

/** To a tenth: below that a clock says nothing. */
function rounded(split: TimeSplit): TimeSplit {
  const tenth = (us: number) => Math.round(us * 10) / 10;
  const { encode, relay, wire, decode, tool, engine, agent, total } = split;
  return {
    encode: tenth(encode),
    relay: tenth(relay),
    wire: tenth(wire),
    decode: tenth(decode),
    tool: tenth(tool),
    engine: tenth(engine),
    agent: tenth(agent),
    total: tenth(total),
  };
}
