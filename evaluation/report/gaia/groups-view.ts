import type { Figures } from '../../results/figures.ts';
import { count, formatPercent, toOneLine } from '../../terminal/table.ts';
import { bindNumbers } from '../wording.ts';
import type { NamedSummary } from './team-tables.ts';

/** One team in one group of questions. */
interface GroupCell {
  /** `34 of 37`, or `–` where nothing of it is scored. */
  readonly text: string;
  /** `92 % (79–97)` */
  readonly note: string;
  /** Accuracy in tenths, 0 to 10, for the shade; null where it is not known. */
  readonly tenths: number | null;
}

/** Accuracy by a property of the questions: their level, or what they ask for. */
export interface GroupsView {
  readonly name: string;
  readonly finding: string;
  readonly teams: readonly string[];
  readonly rows: readonly { readonly label: string; readonly cells: readonly GroupCell[] }[];
}

/** More kinds than these are shown by their largest: a question file may name each question's own. */
const MAX_ROWS = 40;

/** By level and by kind; what has one group only says nothing that the table of teams has not said. */
export function buildGroupsViews(teams: readonly NamedSummary[]): GroupsView[] {
  const views = [
    groupView(
      'levels',
      teams,
      ({ levels }) => levels,
      (level) => `level ${level}`,
    ),
    groupView(
      'kinds',
      teams,
      ({ categories }) => categories,
      (category) => category,
    ),
  ];
  return views.filter(({ rows }) => rows.length > 1);
}

function groupView(
  name: string,
  teams: readonly NamedSummary[],
  groupsOf: (summary: NamedSummary[1]) => Readonly<Record<string, Figures>>,
  label: (group: string) => string,
): GroupsView {
  const sizes = new Map<string, number>();
  for (const [, summary] of teams)
    for (const [group, { questions }] of Object.entries(groupsOf(summary))) sizes.set(group, questions);
  const largest = new Set(
    [...sizes]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, MAX_ROWS)
      .map(([group]) => group),
  );
  const groups = [...sizes.keys()].filter((group) => largest.has(group));
  return {
    name,
    finding: bindNumbers(describeWeakestGroup(teams, groupsOf, groups, label)),
    teams: teams.map(([team]) => team),
    rows: groups.map((group) => ({
      label: toOneLine(label(group), 40),
      cells: teams.map(([, summary]) => toGroupCell(groupsOf(summary)[group])),
    })),
  };
}

function toGroupCell(figures: Figures | undefined): GroupCell {
  if (figures === undefined || figures.accuracy === null || figures.low === null || figures.high === null)
    return { text: '–', note: '', tenths: null };
  const { correct, scored, accuracy, low, high } = figures;
  return {
    text: `${count(correct)} of ${count(scored)}`,
    note: `${(low * 100).toFixed(0)}–${(high * 100).toFixed(0)} %`,
    tenths: Math.round(accuracy * 10),
  };
}

/** Describes the group in which the best team is weakest. */
function describeWeakestGroup(
  teams: readonly NamedSummary[],
  groupsOf: (summary: NamedSummary[1]) => Readonly<Record<string, Figures>>,
  groups: readonly string[],
  label: (group: string) => string,
): string {
  const [best] = teams.toSorted(([, a], [, b]) => (b.accuracy ?? -1) - (a.accuracy ?? -1));
  if (best === undefined) return 'No team was asked';
  const known = groups
    .map((group) => ({ group, figures: groupsOf(best[1])[group] }))
    .filter(({ figures }) => figures !== undefined && figures.accuracy !== null)
    .toSorted((a, b) => (a.figures?.accuracy ?? 0) - (b.figures?.accuracy ?? 0));
  const [worst] = known;
  if (worst?.figures === undefined) return 'Nothing is scored';
  const { correct, scored, accuracy } = worst.figures;
  return `${best[0]}, the most accurate, is weakest at ${toOneLine(label(worst.group), 40)}: ${correct} of ${scored} (${formatPercent(accuracy)})`;
}
