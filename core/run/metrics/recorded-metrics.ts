import { findOrAddEntry, OTHERS } from '../../contracts/others.ts';
import { HUB_ID } from '../../contracts/packet.ts';
import type { Link } from '../../hub/link.ts';
import type { LinesByType } from '../../recording/run-record.ts';
import type { Timeline } from '../../recording/timeline.ts';
import type { RunMetrics } from './metrics-schema.ts';
import { Samples } from './samples.ts';

/** The metrics that come from the recording, until it is written. */
export const NOT_RECORDED: Pick<RunMetrics, 'hops' | 'time_us' | 'recording'> = {
  hops: [],
  time_us: null,
  recording: { packets: 0, missing: ['all packets: the command ended before they were recorded'] },
};

/**
 * Builds the metrics that come from the recording.
 *
 * @param decoded lines of agents that handed in no ledger
 */
export function buildRecordedMetrics(
  timeline: Timeline,
  recording: RunMetrics['recording'],
  links: readonly Sender[],
  decoded: ReadonlyMap<Sender, LinesByType>,
): typeof NOT_RECORDED {
  return { hops: summarizeHops(timeline, links, decoded), time_us: timeline.sum(), recording };
}

type Sender = Pick<Link, 'ledgerReport'> & { readonly node: Pick<Link['node'], 'id'> };

/**
 * Summarizes what agents sent by packet type and sender; a packet's time runs from the arrival of its cause to
 * its own arrival.
 */
function summarizeHops(
  timeline: Timeline,
  links: readonly Sender[],
  decoded: ReadonlyMap<Sender, LinesByType>,
): RunMetrics['hops'] {
  const headers = sumHeaderBytes(links, decoded);
  const hops = new Map<string, Hop>();
  for (const trace of timeline.traces) {
    const { from, type } = trace.packet;
    if (from === HUB_ID) continue;
    const hop = findOrAddEntry(hops, `${from} ${type}`, (key) => ({
      ...(key === OTHERS ? { type: OTHERS, from: OTHERS } : { type, from }),
      packets: 0,
      bytes: 0,
      headerBytes: headers.get(key) ?? 0,
      latencyUs: new Samples(),
      sumUs: 0,
      toolUs: 0,
    }));
    hop.packets += 1;
    hop.bytes += trace.relayed?.bytes ?? 0;
    const piece = timeline.measurePiece(trace);
    if (piece === undefined) continue;
    hop.latencyUs.add(piece.total);
    hop.sumUs += piece.total;
    // A single packet with unknown work makes the mean unknown.
    if (trace.work === undefined || piece.unknown > 0) hop.toolUs = null;
    else if (hop.toolUs !== null) hop.toolUs += piece.tool + piece.engine;
  }
  return [...hops.values()].map(({ type, from, packets, bytes, headerBytes, latencyUs, sumUs, toolUs }) => {
    const timed = latencyUs.count;
    const mean = timed === 0 ? null : Math.round(sumUs / timed);
    const tool = toolUs === null || mean === null ? null : Math.min(mean, Math.round(toolUs / timed));
    return {
      type,
      from,
      packets,
      bytes,
      header_size: headerBytes,
      latency_us: {
        mean,
        median: roundOrNull(latencyUs.percentile(0.5)),
        p95: roundOrNull(latencyUs.percentile(0.95)),
      },
      tool_us: tool,
      mesh_us: tool === null || mean === null ? null : mean - tool,
    };
  });
}

/** Sums the bytes around the payloads by sender and type, from the ledgers of senders or else from their packets. */
function sumHeaderBytes(
  links: readonly Sender[],
  decoded: ReadonlyMap<Sender, LinesByType>,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const link of links) {
    const lines = link.ledgerReport?.sent.map(({ type, line }) => [type, line] as const);
    for (const [type, { header_size }] of lines ?? decoded.get(link) ?? []) {
      const key = `${link.node.id} ${type}`;
      sums.set(key, (sums.get(key) ?? 0) + header_size);
    }
  }
  return sums;
}

interface Hop {
  readonly type: string;
  readonly from: string;
  packets: number;
  bytes: number;
  readonly headerBytes: number;
  readonly latencyUs: Samples;
  sumUs: number;
  toolUs: number | null;
}

function roundOrNull(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
