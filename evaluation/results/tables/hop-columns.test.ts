import { createLedgerLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { Timeline } from '@gaia-mesh/core/recording/timeline.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { buildRecordedMetrics } from '@gaia-mesh/core/run/metrics/recorded-metrics.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildHopTable } from './hop-columns.ts';

type Traces = ConstructorParameters<typeof Timeline>[0];
type Links = Parameters<typeof buildRecordedMetrics>[2];

interface Sent {
  readonly from: number;
  readonly type: string;
  readonly bytes: number;
  readonly header: number;
  /** True if the hub refused the packet, or its recording is missing. */
  readonly isUnseen: boolean;
}

/** The packets of a team of up to twelve agents. Several agents may send the same type, and an agent may repeat it. */
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
            tool_us: null,
            relayed: { bytes, arrived_us: index, forwarded_us: index },
            packet: { id: `p${index}`, from: String(from), type, task_id: 't', token_used: 1 } as never,
          },
        ],
  );
  const doc = { cause: null, tool_us: null, relayed: { bytes: 9999, arrived_us: 0, forwarded_us: 0 } };
  const opened = { ...doc, packet: { id: 'doc', from: 'hub', type: 'doc_init', task_id: 't' } as never };
  const links = [...Map.groupBy(sent, ({ from }) => from)].map(([from, own]) => ({
    node: { id: String(from) },
    ledgerReport: {
      sent: own.map(({ type, header }) => ({ type, line: { ...createLedgerLine(), header_size: header } })),
    },
  })) as unknown as Links;
  const sum = (value: (one: Sent) => number) => sent.reduce((all, one) => all + value(one), 0);
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
    header_overhead: sum(({ header }) => header),
  } as unknown as RunMetrics;
}

test('rows of packets add up to the totals of the run, whoever sent what', () => {
  fc.assert(
    fc.property(anyTeam, (sent) => {
      const metrics = metricsOf(sent);
      const { rows } = buildHopTable(metrics);
      const add = (key: 'packets' | 'bytes' | 'header_size') => rows.reduce((all, row) => all + row[key], 0);

      expect(add('bytes')).toBe(metrics.bytes_rx);
      expect(add('header_size')).toBe(metrics.header_overhead);
      expect(add('packets')).toBe(metrics.pkt_cnt);
    }),
    { seed: 7, numRuns: 200 },
  );
});

test('a row has its packet’s own bytes, not those of its type', () => {
  const own = (from: number, bytes: number) => ({ from, type: 'note', bytes, header: 9, isUnseen: false });
  const { rows } = buildHopTable(metricsOf([own(0, 100), own(1, 7), own(2, 1)]));

  expect(rows.map(({ bytes }) => bytes)).toEqual([100, 7, 1]);
});
