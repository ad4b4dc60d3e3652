import { dot, gridX, pointer, ruleX, text, tip } from '@observablehq/plot';
import { useState } from 'preact/hooks';
import type { BatchData, TeamFigures } from '../../report/batch-data.ts';
import { USE_COLUMNS } from '../../results/tables/use-columns.ts';
import { formatCell } from '../../terminal/columns.ts';
import { Chart, listLogTicks, shareScale } from '../chart.tsx';
import {
  formatBytes,
  formatCount,
  formatDecimals,
  formatPercent,
  formatRatio,
  formatTick,
  toLine,
} from '../format.ts';
import { Card, Choice } from '../parts.tsx';
import { type Column, ResultTable } from '../result-table.tsx';

const MEASURES = [
  { key: 'bytes', format: (value: number) => formatBytes(Math.round(value)) },
  { key: 'seconds', format: (value: number) => `${formatDecimals(value, 2)}\u00a0s` },
  { key: 'cost', format: (value: number) => `$${formatDecimals(value, 4)}` },
  { key: 'tokens', format: (value: number) => `${formatCount(value)} tokens` },
] as const;

/** Accuracy against what a right answer takes. */
export function ScoreCostCard({
  teams,
  baseline,
}: {
  readonly teams: readonly TeamFigures[];
  readonly baseline: string;
}) {
  const known = MEASURES.map(({ key, format }) => ({
    key,
    format,
    points: teams.flatMap(({ name, summary: { accuracy, low, high }, use }) => {
      const per = use.perRight[key];
      if (accuracy === null || low === null || high === null || per === null || per === 0) return [];
      return [{ name, accuracy, low, high, per, isBaseline: name === baseline }];
    }),
  })).filter(({ points }) => points.length > 0);
  const [chosen, setChosen] = useState(0);
  const measure = known[chosen] ?? known[0];
  if (measure === undefined) return null;
  const { key, format, points } = measure;
  const left = teams.map(({ name }) => name).filter((name) => !points.some((point) => point.name === name));
  const label = `${key === 'cost' ? 'dollars' : key} for a right answer`;
  const titled = points.map((point) => ({
    ...point,
    title: `${point.name}: ${formatPercent(point.accuracy)} (${formatPercent(point.low)} to ${formatPercent(point.high)})\n${format(point.per)} for a right answer`,
  }));
  const [low, high] = [
    Math.min(...points.map(({ per }) => per)) / 1.3,
    Math.max(...points.map(({ per }) => per)) * 1.3,
  ];
  return (
    <Card
      size="half"
      title="Accuracy against cost"
      nav="Cost"
      id="cost"
      about={`${describeFrontier(points)}${left.length === 0 ? '' : ` No place on this scale: ${left.join(', ')}.`}`}
      tools={
        <Choice
          label="What a right answer takes"
          names={known.map((one) => one.key)}
          chosen={chosen}
          onChoice={setChosen}
        />
      }
    >
      <Chart
        label={`Accuracy against ${label}`}
        of={measure}
        draw={(width) => {
          const ticks = listLogTicks(low, high, width / 80);
          return {
            height: 300,
            marginLeft: 44,
            marginBottom: 40,
            x: { type: 'log', domain: [low, high], label, ticks, tickFormat: formatTick },
            y: shareScale.axis('accuracy'),
            marks: [
              shareScale.grid(),
              gridX({ ticks, stroke: 'var(--line)', strokeOpacity: 1 }),
              ruleX(titled, {
                x: 'per',
                y1: 'low',
                y2: 'high',
                stroke: 'var(--s1)',
                strokeWidth: 2,
                strokeOpacity: 0.5,
              }),
              dot(titled, {
                x: 'per',
                y: 'accuracy',
                r: 5,
                fill: ({ isBaseline }) => (isBaseline ? 'var(--card)' : 'var(--s1)'),
                stroke: 'var(--s1)',
                strokeWidth: 2,
              }),
              // A name on the right edge stands left of its point.
              ...(['start', 'end'] as const).map((textAnchor) =>
                text(
                  titled.filter(({ per }) => (per > Math.sqrt(low * high) ? 'end' : 'start') === textAnchor),
                  {
                    x: 'per',
                    y: 'accuracy',
                    text: 'name',
                    dx: textAnchor === 'start' ? 9 : -9,
                    dy: -9,
                    textAnchor,
                    fill: 'var(--ink)',
                  },
                ),
              ),
              tip(titled, pointer({ x: 'per', y: 'accuracy', title: 'title' })),
            ],
          };
        }}
      />
    </Card>
  );
}

function describeFrontier(points: readonly { name: string; accuracy: number; per: number }[]): string {
  if (points.length < 2) return 'All that a team took, wrong answers included, for each right one.';
  const front = points.filter(
    (one) => !points.some((other) => other.accuracy >= one.accuracy && other.per < one.per),
  );
  const names = front.map(({ name }) => name);
  return names.length === 1
    ? `${names[0]} is right the most often, and takes the least for a right answer.`
    : `The choice between accuracy and cost is ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`;
}

/** The cost of all answers, and of a right one. */
export function CostCard({ batch: { teams, baseline } }: { readonly batch: BatchData }) {
  const [chosen, setChosen] = useState(0);
  const isTotal = chosen === 1;
  const base = teams.find(({ name }) => name === baseline)?.use.perRight;
  const isOneConcurrency = new Set(teams.map(({ settings }) => settings.concurrency)).size === 1;
  const compare = (key: 'bytes' | 'seconds'): Column<TeamFigures> => ({
    header: `${key} × ${toLine(baseline, 20)}`,
    isNumber: true,
    isWide: true,
    value: ({ use }) => {
      const [own, other] = [use.perRight[key], base?.[key] ?? null];
      return own === null || other === null || other === 0 ? null : own / other;
    },
    format: formatRatio,
    explain: `The ${key} for a right answer, as a multiple of those of ${toLine(baseline, 20)}.`,
  });
  const columns: Column<TeamFigures>[] = [
    {
      header: 'team',
      value: ({ name, summary }) =>
        summary.cached === 0
          ? toLine(name, 60)
          : `${toLine(name, 60)} (${formatCount(summary.cached)} cached)`,
    },
    { header: 'routing', isWide: true, value: ({ settings }) => settings.routing },
    {
      header: 'agents',
      isNumber: true,
      isWide: true,
      value: ({ settings }) => settings.agents,
      explain: 'Processes of the team.',
    },
    {
      header: 'at once',
      isNumber: true,
      isWide: true,
      value: ({ settings }) => settings.concurrency,
      explain: 'Questions on their way at the same time.',
    },
    ...listUseColumns(isTotal),
    ...(teams.length > 1 && !isTotal
      ? [compare('bytes'), ...(isOneConcurrency ? [compare('seconds')] : [])]
      : []),
  ];
  return (
    <Card
      title="What answers took"
      id="took"
      about="Wrong answers are part of what a right one takes. Answers from the cache count with what they took when they were asked, where that is known."
      tools={
        <Choice
          label="What answers took"
          names={['for each right answer', 'in total']}
          chosen={chosen}
          onChoice={setChosen}
        />
      }
    >
      <ResultTable label="What answers took" rows={teams} columns={columns} />
    </Card>
  );
}

/** Lists the columns of the terminal’s table of costs, in total or for each right answer. */
function listUseColumns(isTotal: boolean): Column<TeamFigures>[] {
  const toRow = ({ name, use }: TeamFigures) => ({
    team: name,
    taken: '',
    isTotal,
    use: isTotal ? use.total : use.perRight,
  });
  return USE_COLUMNS.flatMap((column) => {
    const { header = '', explain } = column;
    if (explain === undefined) return [];
    return [
      {
        header,
        isNumber: true,
        explain: `${isTotal ? 'All' : 'For each right answer:'} ${explain}.`,
        value: (team) => {
          const value = column.value(toRow(team));
          return typeof value === 'number' ? value : null;
        },
        cell: (team) => formatCell(column, toRow(team)),
      },
    ];
  });
}
