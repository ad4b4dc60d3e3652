import type { ComparisonFile } from '../../compare/comparison-file.ts';
import { count, decimals, oneLine } from '../../terminal/table.ts';
import { type TableView, tableView } from '../../terminal/table-view.ts';
import { bound, bytesText, msText, ratioText } from '../wording.ts';

type MatrixCell = ComparisonFile['matrix'][number];

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

/** How cost grows from run to run of a matrix; null for a comparison of one run. */
export function growthView({ matrix, adapters }: ComparisonFile): GrowthView | null {
  if (matrix.length <= adapters.length) return null;
  const cells = matrix.toSorted((a, b) => a.agents - b.agents);
  const isOfAgents = new Set(cells.map(({ team, engine }) => `${team} ${engine}`)).size === 1;
  const byAdapter = Map.groupBy(cells, ({ adapter }) => adapter);
  return {
    finding: isOfAgents ? agentsFinding(cells) : 'Each run of the matrix, a task',
    lines: isOfAgents
      ? [...byAdapter].map(([adapter, own]) => ({ adapter: nameText(adapter), points: own.map(pointOf) }))
      : [],
    table: tableView(
      ['team', 'engine', '#agents', 'adapter', '#bytes a task', '#ms a task', 'against the baseline'],
      matrix.map(({ team, engine, agents, adapter, bytes_per_task, ms_per_task, time_verdict }) => [
        nameText(team),
        nameText(engine),
        count(agents),
        nameText(adapter),
        count(bytes_per_task),
        decimals(ms_per_task, 2),
        nameText(time_verdict),
      ]),
    ),
  };
}

function agentsFinding(cells: readonly MatrixCell[]): string {
  const [first] = cells;
  const last = cells.findLast(({ adapter }) => adapter === first?.adapter);
  if (first === undefined || last === undefined) return '';
  const bytes = ratioText(last.bytes_per_task / first.bytes_per_task);
  const ms = ratioText(last.ms_per_task / first.ms_per_task);
  const name = nameText(first.adapter);
  return bound(
    `${last.agents} agents instead of ${first.agents}: ${bytes} the bytes and ${ms} the time of a task (${name})`,
  );
}

function pointOf({ agents, adapter, bytes_per_task, ms_per_task }: MatrixCell): GrowthPoint {
  const title = `${nameText(adapter)}, ${agents} agents\n${bytesText(bytes_per_task)} a task\n${msText(ms_per_task)} a task`;
  return { agents, bytes: bytes_per_task, ms: ms_per_task, title };
}

function nameText(text: string): string {
  return oneLine(text, 40);
}
