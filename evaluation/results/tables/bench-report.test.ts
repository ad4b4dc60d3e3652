import { createLedgerLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { Timeline } from '@gaia-mesh/core/recording/timeline.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { buildRecordedMetrics } from '@gaia-mesh/core/run/metrics/recorded-metrics.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runReport } from './bench-report.ts';

type Traces = ConstructorParameters<typeof Timeline>[0];
type Links = Parameters<typeof buildRecordedMetrics>[2];

interface Sent {
  readonly from: number;
  readonly type: string;
  readonly bytes: number;
  readonly header: number;
  /** The hub refused it, or its recording is missing. */
  readonly isUnseen: boolean;
}

/** What a team of up to twelve agents sends: several may send the same type, and each type several times. */
const anyTeam = fc.array(
  fc.record({
    from: fc.nat(11),
    type: fc.constantFrom('search_docs', 'events', 'triples', 'data_event', 'note', 'vote'),
    bytes: fc.integer({ min: 5, max: 90_000 }),
    header: fc.integer({ min: 4, max: 200 }),
    isUnseen: fc.boolean(),
  }),
  { minLength: 1, maxLength: 90 },
);

function metricsOf(sent: readonly Sent[]): RunMetrics {
  const traces = sent.flatMap(({ from, type, bytes, isUnseen }, index): Traces[number][] =>
    isUnseen
      ? []
      : [
          {
            cause: 'doc',
            toolUs: null,
            relayed: { bytes, arrivedUs: index, forwardedUs: index },
            packet: { id: `p${index}`, from: String(from), type, task_id: 't', token_used: 1 } as never,
          },
        ],
  );
  const doc = { cause: null, toolUs: null, relayed: { bytes: 9999, arrivedUs: 0, forwardedUs: 0 } };
  const opened = { ...doc, packet: { id: 'doc', from: 'hub', type: 'doc_init', task_id: 't' } as never };
  const links = [...Map.groupBy(sent, ({ from }) => from)].map(([from, own]) => ({
    node: { id: String(from) },
    ledgerReport: {
      sent: own.map(({ type, header }) => ({ type, line: { ...createLedgerLine(), header_size: header } })),
    },
  })) as unknown as Links;
  const sum = (value: (one: Sent) => number) => sent.reduce((all, one) => all + value(one), 0);
  const total = { ...createLedgerLine(), packets: sent.length + 1 };
  return {
    ...buildRecordedMetrics(
      new Timeline([opened, ...traces]),
      { packets: traces.length, missing: [] },
      links,
      new Map(),
    ),
    agents: [],
    pkt_cnt: sent.length,
    bytes_rx: sum(({ bytes }) => bytes),
    bytes_tx: 0,
    header_overhead: sum(({ header }) => header),
    token_sum: 0,
    elapsed_ms: 5,
    answer: 'a',
    quality_score: null,
    session_bytes: 0,
    ack_bytes: 0,
    ledger: { balanced: false, differences: ['this test has no sockets'], total },
  } as unknown as RunMetrics;
}

/** Reads a table of the report: its numbers by the heading of their column. */
function readTable(report: string, heading: string): Map<string, number[]> {
  const lines = report.split('\n');
  const start = lines.findIndex((line) => line.startsWith(heading));
  const end = lines.findIndex((line, at) => at > start && !/\d/.test(line));
  const names = (lines[start] ?? '').split(/ {2,}/);
  const rows = lines.slice(start + 1, end).map((line) => line.trim().split(/ {2,}/).reverse());
  return new Map(
    names
      .toReversed()
      .map((name, at) => [name, rows.map((cells) => Number((cells[at] ?? '').replaceAll(',', '')))]),
  );
}

test('the columns of packets add up to the totals below them, whoever sent what', () => {
  fc.assert(
    fc.property(anyTeam, (sent) => {
      const metrics = metricsOf(sent);
      const report = runReport({ question: 'q', truths: [] }, metrics);
      const packets = readTable(report, 'packet ');
      const totals = readTable(report, 'elapsed ms');
      const add = (name: string) => packets.get(name)?.reduce((all, value) => all + value, 0);

      expect(add('bytes')).toBe(metrics.bytes_rx);
      expect(totals.get('bytes rx')).toEqual([metrics.bytes_rx]);
      expect(add('overhead')).toBe(metrics.header_overhead);
      expect(totals.get('overhead')).toEqual([metrics.header_overhead]);
      expect(add('packets') ?? packets.get('bytes')?.length).toBe(metrics.pkt_cnt);
      expect(totals.get('packets')).toEqual([metrics.pkt_cnt]);
    }),
    { seed: 7, numRuns: 200 },
  );
});

test('a row shows its packet’s own bytes, not those of its type', () => {
  const own = (from: number, bytes: number) => ({ from, type: 'note', bytes, header: 9, isUnseen: false });
  const report = runReport({ question: 'q', truths: [] }, metricsOf([own(0, 100), own(1, 7), own(2, 1)]));

  expect(readTable(report, 'packet ').get('bytes')).toEqual([100, 7, 1]);
});
