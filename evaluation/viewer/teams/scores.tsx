import { useState } from 'preact/hooks';
import type { BatchData, TeamFigures } from '../../report/batch-data.ts';
import { formatPoints } from '../../terminal/table.ts';
import { Forest, ForestAxis } from '../chart.tsx';
import { formatCount, formatDecimals, formatPercent, toLine, UNKNOWN } from '../format.ts';
import { Badge, Card, Choice, type Tone } from '../parts.tsx';
import { type Column, createCount, ResultTable } from '../result-table.tsx';

type Pair = BatchData['pairs'][number];
type Judged = Pair['judged'];

const POINTS =
  'Percentage points, over all attempts, with Newcombe’s interval for pairs, corrected as the verdict is. Attempts at one question resemble each other and count as one value, so repeats narrow it less than more questions would.';
const P_VALUE = 'Chance of such a difference between equal teams: two-sided, after Holm’s correction.';

const VERDICTS: Readonly<Record<string, Tone>> = { better: 'good', worse: 'bad' };

function VerdictBadge({ judged, word }: { readonly judged: Judged | undefined; readonly word: string }) {
  return <Badge tone={VERDICTS[judged?.verdict ?? ''] ?? 'plain'}>{word}</Badge>;
}

/** The share that each team has right, with intervals, and against the baseline. */
export function ScoreCard({ batch }: { readonly batch: BatchData }) {
  const { teams, baseline, pairs } = batch;
  const against = new Map(pairs.filter(({ base }) => base === baseline).map((pair) => [pair.other, pair]));
  const hasBaseline = teams.length > 1;
  const isScored = teams.some(({ summary }) => summary.accuracy !== null);
  const most = Math.min(1, Math.max(0.1, ...teams.map(({ summary }) => summary.high ?? 0)) * 1.05);
  const base = teams.find(({ name }) => name === baseline)?.summary.accuracy ?? null;
  const swings = Math.max(1, ...pairs.flatMap(({ won, lost }) => [won, lost]));
  const scale = {
    low: 0,
    high: most,
    isLog: false,
    zero: base ?? 0,
    ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => share * most),
    format: (share: number) => formatPercent(share, 0),
  };
  const wordVerdict = (name: string) => {
    if (name === baseline) return 'baseline';
    const pair = against.get(name);
    return pair === undefined ? 'no question in common' : pair.judged.verdict;
  };
  const columns: Column<TeamFigures>[] = [
    { header: 'team', value: ({ name }) => toLine(name, 60) },
    {
      header: 'right',
      isNumber: true,
      value: ({ summary }) => (summary.accuracy === null ? null : summary.correct),
      cell: ({ summary }) =>
        summary.accuracy === null
          ? UNKNOWN
          : `${formatCount(summary.correct)} / ${formatCount(summary.scored)}`,
      explain: 'By GAIA’s official scorer; whatever failed, ran out of time or was not asked is wrong.',
    },
    ...(hasBaseline
      ? [
          {
            header: 'verdict',
            value: ({ name }: TeamFigures) => wordVerdict(name),
            cell: ({ name }: TeamFigures) => (
              <VerdictBadge judged={against.get(name)?.judged} word={wordVerdict(name)} />
            ),
            explain: `Against ${baseline} on the same questions. A difference is called where its interval does not reach 0, corrected for all comparisons that were declared before the run (Holm).`,
          },
        ]
      : []),
    ...(isScored
      ? [
          {
            header: 'accuracy and 95 % interval',
            axis: <ForestAxis scale={scale} />,
            isWide: true,
            value: ({ summary }: TeamFigures) =>
              summary.low === null || summary.high === null
                ? null
                : `${formatPercent(summary.low)} to ${formatPercent(summary.high)}`,
            cell: ({ name, summary }: TeamFigures) =>
              summary.accuracy === null || summary.low === null ? (
                UNKNOWN
              ) : (
                <Forest
                  scale={scale}
                  interval={{ at: summary.accuracy, low: summary.low, high: summary.high }}
                  tone={VERDICTS[against.get(name)?.judged.verdict ?? ''] ?? ''}
                />
              ),
            explain: 'Dot: share of the questions; line: 95 % interval (Wilson). Dotted: the baseline.',
          },
        ]
      : []),
    {
      header: 'accuracy',
      isNumber: true,
      value: ({ summary }) => summary.accuracy,
      format: formatPercent,
      explain: 'Share of right answers among the questions whose true answer is known.',
    },
    {
      ...createCount(
        'lenient',
        ({ summary }) => (summary.accuracy === null ? null : summary.correct_lenient),
        'Right answers where quotes, articles, units and the like are forgiven.',
      ),
      isWide: true,
    },
    ...(hasBaseline ? listDifferenceColumns(against, baseline, swings) : []),
  ];
  return (
    <Card
      title="Right answers"
      nav="Right answers"
      id="scores"
      about={
        hasBaseline
          ? `Each team is tested against ${baseline} on the questions that both were asked. That a difference cannot be told does not say that there is none.`
          : 'No other team was asked, so nothing is set against it: --team single,… does.'
      }
    >
      <ResultTable label="Right answers" rows={teams} columns={columns} />
    </Card>
  );
}

function listDifferenceColumns(
  against: ReadonlyMap<string, Pair>,
  baseline: string,
  swings: number,
): Column<TeamFigures>[] {
  const read = (name: string) => against.get(name);
  return [
    {
      header: `points more than ${baseline}`,
      isNumber: true,
      value: ({ name }) => read(name)?.judged.difference ?? null,
      format: formatPoints,
      cell: ({ name }) => {
        const judged = read(name)?.judged;
        return judged === undefined
          ? UNKNOWN
          : `${formatPoints(judged.difference)} (${formatPoints(judged.low)} to ${formatPoints(judged.high)})`;
      },
      explain: POINTS,
    },
    {
      header: 'lost · won',
      isWide: true,
      value: ({ name }) => {
        const pair = read(name);
        return pair === undefined ? null : `${pair.won} : ${pair.lost}`;
      },
      cell: ({ name }) => {
        const pair = read(name);
        return pair === undefined ? UNKNOWN : <Swing won={pair.won} lost={pair.lost} most={swings} />;
      },
      explain: `Questions that only one of the two got right, or that it got right more often than ${baseline}.`,
    },
    {
      header: 'p',
      isNumber: true,
      isWide: true,
      value: ({ name }) => read(name)?.judged.adjustedP ?? null,
      format: formatP,
      explain: P_VALUE,
    },
    {
      header: 'detects',
      isNumber: true,
      isWide: true,
      value: ({ name }) => read(name)?.judged.detectable ?? null,
      format: (detectable) => formatDecimals(detectable * 100, 1),
      explain: 'The smallest difference in points that as many such questions detect in four of five runs.',
    },
  ];
}

function formatP(p: number): string {
  return p < 0.001 ? '<0.001' : p.toFixed(3);
}

function Swing({ won, lost, most }: { readonly won: number; readonly lost: number; readonly most: number }) {
  return (
    <span class="swing">
      <span>
        {formatCount(lost)}
        <i class="lost" style={{ width: `${(lost / most) * 44}px` }} />
      </span>
      <span>
        <i class="won" style={{ width: `${(won / most) * 44}px` }} />
        {formatCount(won)}
      </span>
    </span>
  );
}

interface PairRow {
  readonly team: string;
  readonly against: string;
  readonly pair: Omit<Pair, 'base' | 'other'>;
}

/** Every pair of teams, and each team against itself, where there is more than the table of scores says. */
export function PairsCard({ batch: { pairs, itself, baseline } }: { readonly batch: BatchData }) {
  if (!pairs.some(({ base }) => base !== baseline) && itself.length === 0) return null;
  const rows: PairRow[] = [
    ...pairs.map((pair) => ({ team: pair.other, against: pair.base, pair })),
    ...itself.map(([team, pair]) => ({ team: `${team}, second attempts`, against: 'its first', pair })),
  ];
  const isCalled = ({ judged }: PairRow['pair']) => judged.verdict !== 'cannot tell';
  const called = pairs.filter(isCalled).length;
  const apart = itself.filter(([, pair]) => isCalled(pair)).map(([team]) => team);
  const luck =
    itself.length === 0
      ? ''
      : apart.length === 0
        ? ' Asked again, no team differs from itself.'
        : ` Asked again, ${apart.join(', ')} differs from itself: it has learned, or it is luck.`;
  const columns: Column<PairRow>[] = [
    { header: 'team', value: ({ team }) => toLine(team, 60) },
    { header: 'against', value: ({ against }) => toLine(against, 60) },
    {
      header: 'verdict',
      value: ({ pair }) => pair.judged.verdict,
      cell: ({ pair }) => <VerdictBadge judged={pair.judged} word={pair.judged.verdict} />,
    },
    {
      header: 'points more',
      isNumber: true,
      value: ({ pair }) => pair.judged.difference,
      format: formatPoints,
      cell: ({ pair: { judged } }) =>
        `${formatPoints(judged.difference)} (${formatPoints(judged.low)} to ${formatPoints(judged.high)})`,
      explain: POINTS,
    },
    createCount(
      'won',
      ({ pair }) => pair.won,
      'Questions that the team got right more often than the other.',
    ),
    createCount('lost', ({ pair }) => pair.lost, 'Questions that the other got right more often.'),
    {
      header: 'p',
      isNumber: true,
      isWide: true,
      value: ({ pair }) => pair.judged.adjustedP,
      format: formatP,
      explain: P_VALUE,
    },
  ];
  return (
    <Card
      title="Every pair of teams"
      id="pairs"
      about={`Of ${formatCount(pairs.length)} pairs ${formatCount(called)} differ detectably.${luck} Verdicts are not transitive: a may be better than b, and c differ from neither.`}
    >
      <ResultTable label="Every pair of teams" rows={rows} columns={columns} />
    </Card>
  );
}

/** Kinds of questions that are shown: a file may name each question's own. */
const MAX_GROUPS = 40;

/** Accuracy by level or kind of question, a column a team; the shade is the accuracy. */
export function GroupsCard({ teams }: { readonly teams: readonly TeamFigures[] }) {
  const groupings = (['levels', 'categories'] as const)
    .map((key) => ({ key, groups: listGroups(teams, key) }))
    .filter(({ groups }) => groups.length > 1);
  const [chosen, setChosen] = useState(0);
  const grouping = groupings[chosen] ?? groupings[0];
  if (grouping === undefined) return null;
  const { key, groups } = grouping;
  const columns: Column<string>[] = [
    {
      header: key === 'levels' ? 'level' : 'kind',
      value: (group) => toLine(key === 'levels' ? `level ${group}` : group, 60),
    },
    ...teams.map(({ name, summary }): Column<string> => {
      const read = (group: string) => summary[key][group];
      return {
        header: toLine(name, 40),
        isNumber: true,
        value: (group) => read(group)?.accuracy ?? null,
        format: formatPercent,
        explain: `Right answers of ${toLine(name, 40)} among the questions of the row, by first attempts.`,
        cell: (group) => {
          const figures = read(group);
          if (figures === undefined || figures.accuracy === null) return UNKNOWN;
          const { accuracy, correct, scored, low, high } = figures;
          return (
            <span class="shade" style={{ '--share': `${Math.round(accuracy * 60)}%` }}>
              {`${formatCount(correct)} of ${formatCount(scored)}`}
              <small>{`${formatPercent(low ?? 0, 0)} to ${formatPercent(high ?? 1, 0)}`}</small>
            </span>
          );
        },
      };
    }),
  ];
  return (
    <Card
      size="half"
      title={`Right answers by ${key === 'levels' ? 'level' : 'kind'}`}
      id="groups"
      about="First attempts, with the 95 % interval of the accuracy; a stronger shade is a higher accuracy. Groups of a few questions tell little: look at the interval."
      tools={
        groupings.length < 2 ? undefined : (
          <Choice
            label="Questions grouped by"
            names={groupings.map((one) => (one.key === 'levels' ? 'levels' : 'kinds'))}
            chosen={chosen}
            onChoice={setChosen}
          />
        )
      }
    >
      <ResultTable label="Right answers by group" rows={groups} columns={columns} />
    </Card>
  );
}

function listGroups(teams: readonly TeamFigures[], key: 'levels' | 'categories'): string[] {
  const sizes = new Map<string, number>();
  for (const { summary } of teams)
    for (const [group, { questions }] of Object.entries(summary[key])) sizes.set(group, questions);
  return [...sizes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_GROUPS)
    .map(([group]) => group);
}
