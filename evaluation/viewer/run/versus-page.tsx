import type { RunData } from '../../report/run/run-data.ts';
import { formatBytes, formatCount, formatMs, formatRatio, toLine } from '../format.ts';
import { Card, Title } from '../parts.tsx';
import { type Column, createCount, ResultTable } from '../result-table.tsx';
import { describeBytes, describeTimes } from './versus.ts';

type Metrics = RunData['metrics'];

interface Row {
  readonly place: number;
  readonly metrics: Metrics;
}

interface Figure {
  readonly header: string;
  readonly explain: string;
  /** Grows with the number of tasks. */
  readonly isSum: boolean;
  /** True if the figure is the same in every run of the same packets, so that two runs are enough to compare. */
  readonly isExact: boolean;
  readonly read: (metrics: Metrics) => number;
  readonly format: (value: number) => string;
}

const BYTES = { isExact: true, format: (value: number) => formatBytes(Math.round(value)) };
const NUMBER = { isSum: true, isExact: true, format: formatCount };
const FIGURES: readonly Figure[] = [
  {
    ...BYTES,
    header: 'bytes',
    isSum: true,
    explain: 'Frames of all packets, each once, as its sender wrote it.',
    read: ({ ledger }) => ledger.total.wire,
  },
  {
    ...BYTES,
    header: 'payload',
    isSum: true,
    explain: 'What the packets say, as compact JSON.',
    read: ({ ledger }) => ledger.total.payload,
  },
  {
    ...BYTES,
    header: 'overhead',
    isSum: true,
    explain: 'Bytes around the payload: framing, envelope and layers.',
    read: ({ ledger }) => ledger.total.header_size,
  },
  {
    ...BYTES,
    header: 'session',
    isSum: false,
    explain: 'Bytes of the agents’ handshakes with the hub.',
    read: ({ session_bytes }) => session_bytes,
  },
  {
    ...NUMBER,
    header: 'packets',
    explain: 'Packets of agents and documents of the hub.',
    read: ({ ledger }) => ledger.total.packets,
  },
  {
    ...NUMBER,
    header: 'tokens',
    explain: 'Tokens that agents reported with their packets.',
    read: ({ token_sum }) => token_sum,
  },
  {
    header: 'time',
    isSum: true,
    isExact: false,
    format: formatMs,
    explain: 'From the first document sent to the last answer, by the hub’s clock.',
    read: ({ elapsed_ms }) => elapsed_ms,
  },
];

/** Runs against the first of them. Runs of different numbers of tasks are compared by what one task takes. */
export function VersusPart({ runs, isFirst }: { runs: readonly RunData[]; isFirst: boolean }) {
  const all = runs.map(({ metrics }) => metrics);
  const [first] = all;
  if (first === undefined) return null;
  const isPerTask = all.some(({ tasks }) => tasks !== first.tasks);
  const columns: Column<Row>[] = [
    { header: 'run', value: ({ place, metrics }) => `${place} ${toLine(metrics.adapter, 40)}` },
    {
      header: 'answer',
      isText: true,
      value: ({ metrics: { answer, status } }) => toLine(answer ?? status, 80),
    },
    {
      ...createCount('tasks', ({ metrics }) => metrics.tasks, 'Tasks that the team was given.'),
      isWide: true,
    },
    { header: 'team', isWide: true, value: ({ metrics }) => toLine(metrics.team, 40) },
    { header: 'engine', isWide: true, value: ({ metrics }) => toLine(metrics.engine, 40) },
    ...FIGURES.map(({ header, explain, isSum, isExact, read, format }): Column<Row> => {
      const isMean = isPerTask && isSum;
      const compute = (metrics: Metrics) => read(metrics) / (isMean ? Math.max(1, metrics.tasks) : 1);
      const base = compute(first);
      return {
        header: isMean ? `${header} per task` : header,
        isNumber: true,
        explain,
        value: ({ metrics }) => compute(metrics),
        format,
        cell: ({ metrics }) => {
          const value = compute(metrics);
          return metrics === first || base === 0 || !isExact
            ? format(value)
            : `${format(value)} (${formatRatio(value / base)})`;
        },
      };
    }),
  ];
  return (
    <>
      <Title isFirst={isFirst} title={describeBytes(all) ?? ''} lede={describeTimes(all)} />
      <div class="grid">
        <Card
          title="Main figures of the runs"
          about="In brackets: times the figure of run 1. Sizes and numbers are exact."
        >
          <ResultTable
            label="Main figures of the runs"
            rows={all.map((metrics, index) => ({ place: index + 1, metrics }))}
            columns={columns}
          />
        </Card>
      </div>
    </>
  );
}
