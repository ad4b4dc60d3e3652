import { BASELINE } from '../../results/baseline.ts';
import { findKnownUse } from '../../results/figures.ts';
import { count, formatDecimals, formatPercent } from '../../terminal/table.ts';
import { formatBytes } from '../wording.ts';
import type { NamedSummary } from './team-tables.ts';

/** A team on the chart; fractions from 0 to 1. */
export interface ScorePoint {
  readonly team: string;
  readonly isBaseline: boolean;
  readonly accuracy: number;
  readonly low: number;
  readonly high: number;
  /** Cost of a right answer, above 0, because the scale is logarithmic. */
  readonly per: number;
  readonly text: string;
}

export interface ScoreMeasure {
  readonly name: string;
  readonly label: string;
  readonly points: readonly ScorePoint[];
  /** Teams that have no place on it. */
  readonly left: readonly string[];
}

export interface ScoreCostView {
  readonly finding: string;
  readonly measures: readonly ScoreMeasure[];
}

const MEASURES = [
  {
    key: 'bytes',
    label: 'bytes for a right answer',
    text: (value: number) => formatBytes(Math.round(value)),
  },
  {
    key: 'seconds',
    label: 'seconds for a right answer',
    text: (value: number) => `${formatDecimals(value, 2)} s`,
  },
  {
    key: 'cost',
    label: 'dollars for a right answer',
    text: (value: number) => `$${formatDecimals(value, 4)}`,
  },
  { key: 'tokens', label: 'tokens for a right answer', text: (value: number) => `${count(value)} tokens` },
] as const;

/** Accuracy against what a right answer takes; null where nothing is scored or nobody is right. */
export function buildScoreCostView(teams: readonly NamedSummary[]): ScoreCostView | null {
  const measures = MEASURES.flatMap((measure): ScoreMeasure[] => {
    const points = teams.flatMap((team) => toScorePoint(team, measure));
    if (points.length === 0) return [];
    const left = teams.map(([name]) => name).filter((name) => !points.some(({ team }) => team === name));
    return [{ name: measure.key, label: measure.label, points, left }];
  });
  return measures.length === 0 ? null : { finding: describeFrontier(measures[0]?.points ?? []), measures };
}

function toScorePoint([team, summary]: NamedSummary, { key, text }: (typeof MEASURES)[number]): ScorePoint[] {
  const { accuracy, low, high } = summary;
  const per = findKnownUse(summary).perRight[key];
  if (accuracy === null || low === null || high === null || per === null || per === 0) return [];
  const score = `${formatPercent(accuracy)} (${formatPercent(low)} to ${formatPercent(high)})`;
  return [{ team, isBaseline: team === BASELINE, accuracy, low, high, per, text: `${score}, ${text(per)}` }];
}

/** The teams that no other is at least as accurate as for fewer bytes. */
function describeFrontier(points: readonly ScorePoint[]): string {
  const beaten = points.filter((one) =>
    points.some((other) => other.accuracy >= one.accuracy && other.per < one.per),
  );
  const front = points.filter((point) => !beaten.includes(point)).map(({ team }) => team);
  if (points.length < 2) return 'Accuracy against what a right answer takes';
  const rest = beaten.length === 0 ? '' : ': every other takes more bytes for no more right answers';
  return front.length === 1
    ? `${front[0]} is right the most often, and takes the fewest bytes for a right answer`
    : `Between accuracy and bytes the choice is ${front.slice(0, -1).join(', ')} or ${front.at(-1)}${rest}`;
}
