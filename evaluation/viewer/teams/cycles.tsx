import { dot, line, pointer, ruleX, text, tip } from '@observablehq/plot';
import { useMemo } from 'preact/hooks';
import type { TeamFigures } from '../../report/batch-data.ts';
import { nameChange } from '../../results/cycles.ts';
import { formatPoints } from '../../terminal/table.ts';
import { Chart, hue, shareScale } from '../chart.tsx';
import { formatPercent, toLine } from '../format.ts';
import { Card } from '../parts.tsx';
import { createCount, ResultTable } from '../result-table.tsx';

/** Scores of repeated questions: the first is that of first attempts, every later one has seen the questions. */
export function CyclesCard({ teams }: { readonly teams: readonly TeamFigures[] }) {
  const rows = useMemo(
    () => teams.flatMap(({ name, summary }) => (summary.cycles ?? []).map((cycle) => ({ name, cycle }))),
    [teams],
  );
  if (rows.length === 0) return null;
  const points = rows.flatMap(({ name, cycle: { cycle, accuracy, low, high, correct, scored } }) =>
    accuracy === null || low === null || high === null
      ? []
      : [{ name, cycle, accuracy, low, high, title: `${name}, cycle ${cycle}: ${correct} of ${scored}` }],
  );
  const names = [...new Set(points.map(({ name }) => name))];
  const last = Math.max(...rows.map(({ cycle }) => cycle.cycle));
  const placed = points.map((point) => ({
    ...point,
    x: point.cycle + (names.indexOf(point.name) - (names.length - 1) / 2) * 0.06,
  }));
  const changes = rows.flatMap(({ name, cycle: { cycle, categories } }) =>
    categories.map((change) => ({ name, cycle, change })),
  );
  const order = ['got worse', 'got better', 'cannot tell'];
  const changed = changes.toSorted(
    (a, b) => order.indexOf(nameChange(a.change)) - order.indexOf(nameChange(b.change)),
  );
  const passes = teams.flatMap(({ name, summary: { pass_at, pass_hat, pass_hat_talked } }) =>
    Object.entries(pass_at ?? {}).map(([k, once]) => ({
      name,
      k,
      once,
      always: pass_hat?.[k] ?? null,
      talked: pass_hat_talked?.by[k] ?? null,
    })),
  );
  return (
    <>
      <Card
        title="Asked again"
        nav="Cycles"
        id="cycles"
        about="The first cycle is that of first attempts; in every later one the team has seen the questions. Lines are 95 % intervals."
      >
        <Chart
          label="Accuracy by cycle"
          of={placed}
          draw={(width) => ({
            height: 300,
            marginLeft: 48,
            marginRight: width < 560 ? 16 : 110,
            x: {
              domain: [0.6, last + 0.4],
              label: 'cycle',
              ticks: [...new Set(rows.map(({ cycle }) => cycle.cycle))],
              tickFormat: String,
            },
            y: shareScale.axis('accuracy'),
            marks: [
              shareScale.grid(),
              ruleX(placed, {
                x: 'x',
                y1: 'low',
                y2: 'high',
                stroke: ({ name }) => hue(names.indexOf(name)),
                strokeOpacity: 0.6,
              }),
              line(placed, {
                x: 'x',
                y: 'accuracy',
                z: 'name',
                stroke: ({ name }) => hue(names.indexOf(name)),
              }),
              dot(placed, { x: 'x', y: 'accuracy', r: 4, fill: ({ name }) => hue(names.indexOf(name)) }),
              width < 560
                ? null
                : text(
                    placed.filter(({ cycle }) => cycle === last),
                    {
                      x: last + 0.4,
                      y: 'accuracy',
                      text: 'name',
                      textAnchor: 'start',
                      dx: 6,
                      fill: 'var(--ink)',
                    },
                  ),
              tip(placed, pointer({ x: 'x', y: 'accuracy', title: 'title' })),
            ],
          })}
        />
        <ResultTable
          label="Accuracy by cycle"
          rows={rows}
          columns={[
            { header: 'team', value: ({ name }) => toLine(name, 60) },
            {
              header: 'cycle',
              isNumber: true,
              value: ({ cycle }) => cycle.cycle,
              explain: 'Which time the questions were asked.',
            },
            createCount<(typeof rows)[number]>(
              'right',
              ({ cycle }) => cycle.correct,
              'Right answers in this cycle, by GAIA’s official scorer.',
            ),
            createCount<(typeof rows)[number]>(
              'of',
              ({ cycle }) => cycle.scored,
              'Questions whose true answer is known.',
            ),
            {
              header: 'accuracy',
              isNumber: true,
              value: ({ cycle }) => cycle.accuracy,
              format: formatPercent,
              explain: 'Share of right answers in this cycle.',
            },
            {
              header: 'change in points',
              isNumber: true,
              value: ({ cycle }) => cycle.delta,
              format: formatPoints,
              explain: 'Percentage points of accuracy since the cycle before.',
            },
            {
              header: 'newly right',
              isNumber: true,
              isWide: true,
              value: ({ cycle }) => cycle.newly_right,
              explain: 'Questions that were wrong in the cycle before and are right in this one.',
            },
            {
              header: 'newly wrong',
              isNumber: true,
              isWide: true,
              value: ({ cycle }) => cycle.newly_wrong,
              explain: 'Questions that were right in the cycle before and are wrong in this one.',
            },
          ]}
        />
      </Card>
      {changed.length === 0 ? null : (
        <Card
          size="half"
          title="Kinds of questions that changed"
          id="changes"
          about="From one cycle to the next, what got worse first. A gain in one kind does not make up for a loss in another."
        >
          <ResultTable
            label="Kinds of questions that changed"
            rows={changed}
            columns={[
              { header: 'team', value: ({ name }) => toLine(name, 60) },
              {
                header: 'cycle',
                isNumber: true,
                value: ({ cycle }) => cycle,
                explain: 'The later of the two cycles.',
              },
              { header: 'kind', value: ({ change }) => toLine(change.category, 60) },
              {
                header: 'before',
                isNumber: true,
                value: ({ change }) => change.correct_before,
                explain: 'Right answers in the cycle before.',
              },
              {
                header: 'now',
                isNumber: true,
                value: ({ change }) => change.correct,
                explain: 'Right answers in this cycle.',
              },
              {
                header: 'of',
                isNumber: true,
                value: ({ change }) => change.questions,
                explain: 'Questions of this kind.',
              },
              {
                header: 'points',
                isNumber: true,
                isWide: true,
                value: ({ change }) => change.delta,
                explain:
                  '95 % interval of the change in percentage points, corrected for the number of kinds.',
                cell: ({ change }) => `${formatPoints(change.low)} to ${formatPoints(change.high)}`,
              },
              { header: 'verdict', value: ({ change }) => nameChange(change) },
            ]}
          />
        </Card>
      )}
      {passes.length === 0 ? null : (
        <Card
          size="half"
          title="Right at least once, and right every time"
          id="passes"
          about="Of k attempts at a question, estimated from all of them. It supposes that attempts do not learn from each other; for a team that does, read the score by cycle."
        >
          <ResultTable
            label="Right at least once, and right every time"
            rows={passes}
            columns={[
              { header: 'team', value: ({ name }) => toLine(name, 60) },
              {
                header: 'k',
                isNumber: true,
                value: ({ k }) => Number(k),
                explain: 'Attempts at each question.',
              },
              {
                header: 'pass@k: one of k right',
                isNumber: true,
                value: ({ once }) => once,
                format: formatPercent,
                explain: 'Chance that at least one of k attempts at a question is right (Chen et al. 2021).',
              },
              {
                header: 'pass^k: all k right',
                isNumber: true,
                value: ({ always }) => always,
                format: formatPercent,
                explain: 'Chance that all of k attempts at a question are right (Yao et al. 2024).',
              },
              {
                header: 'pass^k where agents talked',
                isNumber: true,
                isWide: true,
                value: ({ talked }) => talked,
                format: formatPercent,
                explain: 'The same, of the questions at which agents talked in every attempt.',
              },
            ]}
          />
        </Card>
      )}
    </>
  );
}
