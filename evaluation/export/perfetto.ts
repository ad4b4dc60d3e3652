import path from 'node:path';
import type { RecordedPacket, Recording } from '@gaia-mesh/core/recording/recording.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { type ExportedRun, readExportedRun } from './exported-run.ts';
import { WallClock } from './otlp/wall-clock.ts';

/** The part of the Trace Event Format that is written here. Times are microseconds since the run began. */
interface TraceEvent {
  /** Phase: a slice, a name, both ends of an arrow, both ends of an overlapping event, a counter. */
  readonly ph: 'X' | 'M' | 's' | 'f' | 'b' | 'e' | 'C';
  readonly name: string;
  readonly pid: number;
  readonly tid?: number;
  readonly cat?: string;
  readonly ts?: number;
  readonly dur?: number;
  readonly id?: string;
  readonly bp?: 'e';
  readonly args?: Readonly<Record<string, unknown>>;
}

/** A piece of work on its track. Each agent is a process of the trace, with as many lanes as it has concurrent work. */
interface Slice {
  readonly recorded: RecordedPacket;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
}

/** Processes of the trace; agents follow them. */
const TASKS = 1;
const HUB = 2;
const FIRST_AGENT = 3;
/** Resolution of the written times, in microseconds. */
const WITHIN_US = 0.001;

/**
 * Writes the run in `archive` as a trace to the file `out`.
 *
 * @returns a sentence about the file, for people
 */
export async function writePerfetto(archive: string, out: string): Promise<string> {
  const file = resolveUserPath(out);
  checkWritable(path.dirname(file));
  writeWhole(file, buildPerfettoTrace(await readExportedRun(archive)));
  return `written: ${file}`;
}

/**
 * Builds a trace of a run for https://ui.perfetto.dev and Chromium's tracing: tasks, the hub and each agent's work, with arrows
 * from a packet to the packets it caused. It has no payloads, because a trace is about times and is meant to be passed on.
 */
function buildPerfettoTrace({ recording, exchanges }: ExportedRun): string {
  const clock = new WallClock(recording);
  // With two clocks, a packet may arrive at the hub before the work that produced it began.
  const starts = [
    ...recording.packets.flatMap((packet) => [clock.work(packet).startUs, clock.arrival(packet)]),
    ...exchanges.flatMap(({ exchange: { startedUs } }) =>
      startedUs === undefined ? [] : [clock.at(startedUs)],
    ),
  ];
  const begin = starts.reduce((least, us) => Math.min(least, us), Number.POSITIVE_INFINITY);
  const since = (us: number) => Math.round((us - begin) * 1000) / 1000;
  const { header } = recording;
  const pids = new Map(header.agents.map(({ id }, index) => [id, FIRST_AGENT + index]));
  const slices = listSlices(recording, pids, (recorded) => {
    const { startUs, endUs } = clock.work(recorded);
    return { ts: since(startUs), dur: Math.max(0, since(endUs) - since(startUs)) };
  });
  const models = exchanges.flatMap(({ agent, taskId, exchange }, index): TraceEvent[] => {
    const { startedUs, endedUs, model, promptTokens, completionTokens } = exchange;
    if (startedUs === undefined || endedUs === undefined) return [];
    const own = { cat: 'model', name: model, id: `model ${index}`, pid: pids.get(agent) ?? HUB, tid: 0 };
    const args = { task: taskId, prompt_tokens: promptTokens, completion_tokens: completionTokens };
    return [
      { ph: 'b', ...own, ts: since(clock.at(startedUs)), args },
      { ph: 'e', ...own, ts: since(clock.at(endedUs)) },
    ];
  });
  const traceEvents: TraceEvent[] = [
    createNameEvent(TASKS, 'tasks'),
    createNameEvent(HUB, 'hub'),
    ...header.agents.map(({ id, tool }) => createNameEvent(pids.get(id) ?? HUB, `${id} (${tool})`)),
    ...listTaskEvents(recording, (recorded) => since(clock.arrival(recorded))),
    ...listHubEvents(recording, (us) => since(clock.at(us))),
    ...slices.map(sliceEvent),
    ...listArrows(slices),
    ...models,
  ];
  const otherData = {
    run_id: header.run_id,
    team: header.team,
    adapter: header.adapter,
    engine: header.engine,
  };
  return `${JSON.stringify({ displayTimeUnit: 'ms', otherData, traceEvents })}\n`;
}

function createNameEvent(pid: number, name: string): TraceEvent {
  return { ph: 'M', name: 'process_name', pid, args: { name } };
}

/** Puts each packet's work into the first lane of its agent in which it overlaps no other work, or lies within one. */
function listSlices(
  { packets }: Recording,
  pids: ReadonlyMap<string, number>,
  timesOf: (recorded: RecordedPacket) => Pick<Slice, 'ts' | 'dur'>,
): Slice[] {
  const timed = packets.map((recorded) => ({
    recorded,
    pid: recorded.cause === null ? HUB : (pids.get(recorded.packet.from) ?? HUB),
    ...timesOf(recorded),
  }));
  // When works begin at the same time, the longer one contains the others.
  const inOrder = timed.toSorted((a, b) => a.ts - b.ts || b.dur - a.dur);
  const lanes = new Map<number, { ts: number; end: number }[][]>();
  return inOrder.map((work) => {
    const own = lanes.get(work.pid) ?? [];
    lanes.set(work.pid, own);
    const end = work.ts + work.dur;
    let tid = own.findIndex((open) => canNest(open, work.ts, end));
    if (tid === -1) tid = own.push([]) - 1;
    own[tid]?.push({ ts: work.ts, end });
    return { ...work, tid: tid + 1 };
  });
}

/** Removes ended works from a lane, and tells if the innermost remaining one can contain the new work. */
function canNest(open: { ts: number; end: number }[], ts: number, end: number): boolean {
  while ((open.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= ts) open.pop();
  return end <= (open.at(-1)?.end ?? Number.POSITIVE_INFINITY);
}

function sliceEvent({ recorded, pid, tid, ts, dur }: Slice): TraceEvent {
  const { packet, cause, tool_us, work, relayed } = recorded;
  return {
    ph: 'X',
    name: packet.type,
    cat: 'work',
    pid,
    tid,
    ts,
    dur,
    args: {
      packet: packet.id,
      task: packet.task_id,
      cause,
      token_used: packet.token_used,
      tool_us,
      to: packet.to,
      tag: packet.tag,
      bytes: relayed?.bytes,
      engine_us: work?.engine_us,
      decode_us: work?.decode_us,
      encode_us: work?.encode_us,
    },
  };
}

/** Draws arrows from the end of the work that produced a packet to the beginning of the work it caused. */
function listArrows(slices: readonly Slice[]): TraceEvent[] {
  const byId = new Map(slices.map((slice) => [slice.recorded.packet.id, slice]));
  return slices.flatMap(({ recorded: { cause, packet }, pid, tid, ts }): TraceEvent[] => {
    const before = cause === null ? undefined : byId.get(cause);
    if (before === undefined) return [];
    const arrow = { name: 'cause', cat: 'cause', id: packet.id };
    // The arrow starts within its slice, which excludes its own end, and never runs backwards in time, as two clocks or an
    // inferred cause would have it.
    const from = Math.min(Math.max(before.ts, before.ts + before.dur - WITHIN_US), ts);
    return [
      { ph: 's', ...arrow, pid: before.pid, tid: before.tid, ts: from },
      { ph: 'f', bp: 'e', ...arrow, pid, tid, ts },
    ];
  });
}

function listTaskEvents({ packets }: Recording, arrival: (recorded: RecordedPacket) => number): TraceEvent[] {
  const tasks = new Map<string, { begin: number; end: number }>();
  for (const recorded of packets) {
    const at = arrival(recorded);
    const own = tasks.get(recorded.packet.task_id);
    if (own === undefined) tasks.set(recorded.packet.task_id, { begin: at, end: at });
    else own.end = Math.max(own.end, at);
  }
  return [...tasks].flatMap(([task, { begin, end }]): TraceEvent[] => {
    const own = { name: task, cat: 'task', id: task, pid: TASKS, tid: 0 };
    return [
      { ph: 'b', ...own, ts: begin },
      { ph: 'e', ...own, ts: end },
    ];
  });
}

/** Returns the bytes that the hub had received over time, and the time of each packet within it. */
function listHubEvents({ packets }: Recording, at: (monotonicUs: number) => number): TraceEvent[] {
  let bytes = 0;
  return packets.flatMap(({ relayed, packet }): TraceEvent[] => {
    if (relayed === undefined) return [];
    bytes += relayed.bytes;
    const ts = at(relayed.arrived_us);
    const own = { name: `relay ${packet.type}`, cat: 'relay', id: `relay ${packet.id}`, pid: HUB, tid: 0 };
    return [
      { ph: 'C', name: 'bytes received', pid: HUB, ts, args: { bytes } },
      { ph: 'b', ...own, ts, args: { bytes: relayed.bytes, from: packet.from } },
      { ph: 'e', ...own, ts: Math.max(ts, at(relayed.forwarded_us)) },
    ];
  });
}
