import { useMemo } from 'preact/hooks';
import type { TeamFigures } from '../../report/batch-data.ts';
import { nameChange } from '../../results/cycles.ts';
import { formatPercent, formatPoints } from '../../terminal/table.ts';
import { toLine } from '../format.ts';
import { Card } from '../parts.tsx';
import { type Column, createCount, ResultTable, Verdict } from '../result-table.tsx';

/** Scores of repeated questions by cycle. In every cycle after the first, a team has seen the questions before. */
export function CyclesCard({ teams }: { readonly teams: readonly TeamFigures[] }) {
  const rows = useMemo(
    () => teams.flatMap(({ name, summary }) => (summary.cycles ?? []).map((cycle) => ({ name, ...cycle }))),
    [teams],
  );
  const changes = useMemo(() => {
    const order = ['got worse', 'got better', 'cannot tell'];
    return rows
      .flatMap(({ name, cycle, categories }) =>
        categories.map((change) => ({ name, cycle, change, word: nameChange(change) })),
      )
      .sort((a, b) => order.indexOf(a.word) - order.indexOf(b.word));
  }, [rows]);
  if (rows.length === 0) return null;
  type Row = (typeof rows)[number];
  type Change = (typeof changes)[number];
  const columns: Column<Row>[] = [
    { header: 'team', value: ({ name }) => toLine(name, 60) },
    {
      header: 'cycle',
      isNumber: true,
      value: ({ cycle }) => cycle,
      explain: 'Which time the questions were asked.',
    },
    createCount('right', ({ correct }) => correct, 'Right answers in this cycle, by GAIA’s official scorer.'),
    createCount('of', ({ scored }) => scored, 'Questions whose true answer is known.'),
    {
      header: 'accuracy',
      isNumber: true,
      value: ({ accuracy }) => accuracy,
      format: formatPercent,
      explain: 'Share of right answers in this cycle.',
    },
    {
      header: 'change in points',
      isNumber: true,
      value: ({ delta }) => delta,
      format: formatPoints,
      explain: 'Percentage points of accuracy since the cycle before.',
    },
    {
      ...createCount(
        'newly right',
        (row) => row.newly_right,
        'Questions that were wrong in the cycle before and are right in this one.',
      ),
      isWide: true,
    },
    {
      ...createCount(
        'newly wrong',
        (row) => row.newly_wrong,
        'Questions that were right in the cycle before and are wrong in this one.',
      ),
      isWide: true,
    },
  ];
  const changeColumns: Column<Change>[] = [
    { header: 'team', value: ({ name }) => toLine(name, 60) },
    { header: 'cycle', isNumber: true, value: ({ cycle }) => cycle, explain: 'The later of the two cycles.' },
    { header: 'kind', value: ({ change }) => toLine(change.category, 60) },
    { header: 'verdict', value: ({ word }) => word, cell: ({ word }) => <Verdict word={word} /> },
    createCount('before', ({ change }) => change.correct_before, 'Right answers in the cycle before.'),
    createCount('now', ({ change }) => change.correct, 'Right answers in this cycle.'),
    createCount('of', ({ change }) => change.questions, 'Questions of this kind.'),
    {
      header: 'points',
      isNumber: true,
      isWide: true,
      value: ({ change }) => change.delta,
      explain: '95 % interval of the change in percentage points, corrected for the number of kinds.',
      cell: ({ change }) => `${formatPoints(change.low)} to ${formatPoints(change.high)}`,
    },
  ];
  return (
    <Card
      title="Asked again"
      nav="Cycles"
      id="cycles"
      about="The first cycle is that of first attempts; in every later one the team has seen the questions. A gain in one kind of question does not make up for a loss in another."
    >
      <ResultTable label="Accuracy by cycle" rows={rows} columns={columns} />
      {changes.length === 0 ? null : (
        <ResultTable label="Kinds of questions that changed" rows={changes} columns={changeColumns} />
      )}
    </Card>
  );
}
