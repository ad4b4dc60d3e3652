import { markdownTable } from '../markdown-table.ts';
import { count, decimals, table } from '../terminal/table.ts';
import type { ComparisonFile, ComparisonReport } from './comparison-report.ts';

/** One adapter in one run of a matrix, per task: what grows with the number of agents. */
export interface Cell {
  readonly team: string;
  readonly engine: string;
  readonly agents: number;
  readonly adapter: string;
  /** Of all the hub's sockets, copies included. */
  readonly bytes_per_task: number;
  /** Median, without tool time. */
  readonly ms_per_task: number;
  /** Times that of the baseline in the same run; 1 for the baseline itself. */
  readonly time_ratio: number;
  readonly time_verdict: string;
}

export function cellsOf(report: ComparisonReport): Cell[] {
  const { team, engine, agents, tasks } = report;
  return report.adapters.map(({ adapter, bytes_on_wire, latency_us, vs_baseline }) => ({
    team,
    engine,
    agents,
    adapter,
    bytes_per_task: bytes_on_wire / tasks,
    ms_per_task: latency_us.median / 1000 / tasks,
    time_ratio: vs_baseline?.time.ratio ?? 1,
    time_verdict: vs_baseline?.time.verdict ?? 'baseline',
  }));
}

/** One run's figures are in the comparison's own table. */
export function hasMatrix({ adapters, matrix }: ComparisonFile): boolean {
  return matrix.length > adapters.length;
}

const HEAD = [
  'team',
  'engine',
  'agents',
  'adapter',
  'bytes a task',
  '×',
  'ms a task',
  '×',
  'against baseline',
];

/** For people: every adapter's runs together, so that its growth is read downwards; × is against its first run. */
export function matrixTable(cells: readonly Cell[]): string {
  return table([HEAD, ...rowsOf(cells)]);
}

export function matrixMarkdown(cells: readonly Cell[]): string {
  return `${markdownTable([HEAD, ...rowsOf(cells)])}\n`;
}

export function matrixCsv(cells: readonly Cell[]): string {
  const head = 'team,engine,agents,adapter,bytes_per_task,ms_per_task,time_ratio,time_verdict';
  const lines = cells.map(({ team, engine, agents, adapter, ...rest }) =>
    [
      team,
      engine,
      agents,
      adapter,
      rest.bytes_per_task,
      rest.ms_per_task,
      rest.time_ratio,
      rest.time_verdict,
    ].join(','),
  );
  return `${[head, ...lines].join('\n')}\n`;
}

function rowsOf(cells: readonly Cell[]): string[][] {
  return [...Map.groupBy(cells, ({ adapter }) => adapter).values()].flatMap((own) => {
    const [first] = own;
    return own.map((cell) => [
      cell.team,
      cell.engine,
      String(cell.agents),
      cell.adapter,
      count(cell.bytes_per_task),
      decimals(cell.bytes_per_task / (first?.bytes_per_task ?? 1), 2),
      decimals(cell.ms_per_task, 2),
      decimals(cell.ms_per_task / (first?.ms_per_task ?? 1), 2),
      shortVerdict(cell.time_verdict),
    ]);
  });
}

/** A verdict as a column of a table has room for it. */
export function shortVerdict(verdict: string): string {
  return verdict === 'no detectable difference' ? 'no difference' : verdict;
}
