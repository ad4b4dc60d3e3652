import type { AdaptersComparison } from '../../compare/comparison-file.ts';
import { count, formatDecimals, toOneLine } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import { bindNumbers, formatBytes, formatMs, formatRatio } from '../wording.ts';

type MatrixCell = AdaptersComparison['matrix'][number];

/** One adapter at one number of agents. */
interface GrowthPoint {
  readonly agents: number;
  readonly bytes: number;
  readonly ms: number;
  readonly title: string;
}

export interface GrowthView {
  readonly finding: string;
  /** A line an adapter; empty where runs differ by more than their number of agents. */
  readonly lines: readonly { readonly adapter: string; readonly points: readonly GrowthPoint[] }[];
  readonly table: TableView;
}

/** Builds the growth of cost from run to run of a matrix; null for a comparison of one run. */
export function buildGrowthView({ matrix, arms }: AdaptersComparison): GrowthView | null {
  if (matrix.length <= arms.length) return null;
  const cells = matrix.toSorted((a, b) => a.agents - b.agents);
  const isOfAgents = new Set(cells.map(({ team, engine }) => `${team} ${engine}`)).size === 1;
  const byAdapter = Map.groupBy(cells, ({ adapter }) => adapter);
  return {
    finding: isOfAgents ? describeGrowth(cells) : 'Each run of the matrix, a task',
    lines: isOfAgents
      ? [...byAdapter].map(([adapter, own]) => ({
          adapter: formatName(adapter),
          points: own.map(toGrowthPoint),
        }))
      : [],
    table: createTableView(
      ['team', 'engine', '#agents', 'adapter', '#bytes a task', '#ms a task', 'against the baseline'],
      matrix.map(({ team, engine, agents, adapter, bytes_per_task, ms_per_task, time_verdict }) => [
        formatName(team),
        formatName(engine),
        count(agents),
        formatName(adapter),
        count(bytes_per_task),
        formatDecimals(ms_per_task, 2),
        formatName(time_verdict),
      ]),
    ),
  };
}

function describeGrowth(cells: readonly MatrixCell[]): string {
  const [first] = cells;
  const last = cells.findLast(({ adapter }) => adapter === first?.adapter);
  if (first === undefined || last === undefined) return '';
  const bytes = formatRatio(last.bytes_per_task / first.bytes_per_task);
  const ms = formatRatio(last.ms_per_task / first.ms_per_task);
  const name = formatName(first.adapter);
  return bindNumbers(
    `${last.agents} agents instead of ${first.agents}: ${bytes} the bytes and ${ms} the time of a task (${name})`,
  );
}

function toGrowthPoint({ agents, adapter, bytes_per_task, ms_per_task }: MatrixCell): GrowthPoint {
  const title = `${formatName(adapter)}, ${agents} agents\n${formatBytes(bytes_per_task)} a task\n${formatMs(ms_per_task)} a task`;
  return { agents, bytes: bytes_per_task, ms: ms_per_task, title };
}

function formatName(text: string): string {
  return toOneLine(text, 40);
}
