import { findOrAddEntry, OTHERS } from '../../contracts/others.ts';
import type { Timeline } from '../../recording/timeline.ts';
import type { RunMetrics } from './metrics-schema.ts';
import { Samples } from './samples.ts';

/** The steps of a run's tasks by packet type and sender, each packet's time from the arrival of its cause to its own arrival. */
export function summarizeHops(timeline: Timeline): RunMetrics['hops'] {
  const hops = new Map<string, Hop>();
  for (const { trace, us, parts } of timeline.pieces()) {
    const { from, type } = trace.packet;
    const hop = findOrAddEntry(hops, `${from} ${type}`, (key) => ({
      ...(key === OTHERS ? { type: OTHERS, from: OTHERS } : { type, from }),
      latencyUs: new Samples(),
      sumUs: 0,
      toolUs: 0,
    }));
    hop.latencyUs.add(us);
    hop.sumUs += us;
    // One packet of which nobody knows makes a mean that nobody knows.
    if (trace.work === undefined || parts.unknown > 0) hop.toolUs = null;
    else if (hop.toolUs !== null) hop.toolUs += parts.tool + parts.engine;
  }
  return [...hops.values()].map(({ type, from, latencyUs, sumUs, toolUs }) => {
    const packets = latencyUs.count;
    const mean = Math.round(sumUs / packets);
    const tool = toolUs === null ? null : Math.min(mean, Math.round(toolUs / packets));
    return {
      type,
      from,
      packets,
      latency_us: {
        mean,
        median: roundOrNull(latencyUs.percentile(0.5)),
        p95: roundOrNull(latencyUs.percentile(0.95)),
      },
      tool_us: tool,
      mesh_us: tool === null ? null : mean - tool,
    };
  });
}

interface Hop {
  readonly type: string;
  readonly from: string;
  readonly latencyUs: Samples;
  sumUs: number;
  toolUs: number | null;
}

function roundOrNull(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
