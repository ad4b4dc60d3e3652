import { dot, gridX, gridY, line, pointer, ruleX, text, tip } from '@observablehq/plot';
import { useMemo, useState } from 'preact/hooks';
import type { GaiaView, TeamFigures } from '../../report/gaia/gaia-view.ts';
import { Chart, Forest, ForestAxis, hue, listLogTicks } from '../chart.tsx';
import {
  formatBytes,
  formatCount,
  formatDate,
  formatDecimals,
  formatPercent,
  formatRatio,
  formatTick,
  toLine,
  UNKNOWN,
} from '../format.ts';
import { Badge, Card, Choice, Notes, Title, type Tone } from '../parts.tsx';
import { type Column, ResultTable, TextTable } from '../result-table.tsx';
import { QuestionsCard } from './questions.tsx';

interface PartProps {
  readonly view: GaiaView;
  readonly isFirst: boolean;
}

/** Teams on the same questions: who is right how often, at what cost, and on what. */
export function TeamsPart({ view, isFirst }: PartProps) {
  const { teams, work, questions } = view;
  return (
    <>
      <Title
        isFirst={isFirst}
        title={view.finding}
        lede={view.made}
        made={[view.endedAt === null ? null : formatDate(view.endedAt), view.source]}
      />
      {view.alarm === null ? null : <Notes texts={[view.alarm]} />}
      <div class="grid">
        <ScoreCard view={view} />
        <QuestionsCard view={questions} />
        <PairsCard view={view} />
        <ScoreCostCard teams={teams} baseline={view.baseline} />
        <GroupsCard teams={teams} />
        <CostCard view={view} />
        <CyclesCard teams={teams} />
        {work.map(({ heading, table, note }, index) => (
          <Card
            key={heading}
            size="half"
            title={heading}
            about={note}
            id={`work-${index}`}
            nav={index === 0 ? 'Failures and tools' : undefined}
          >
            <TextTable view={table} label={heading} />
          </Card>
        ))}
      </div>
    </>
  );
}

type Pair = GaiaView['pairs'][number];
type Judged = Pair['judged'];

const VERDICTS: Readonly<Record<string, Tone>> = { better: 'good', worse: 'bad' };

function formatPoints(difference: number): string {
  const points = formatDecimals(Math.abs(difference) * 100, 1);
  return Number(points) === 0 ? points : `${difference < 0 ? '−' : '+'}${points}`;
}

function VerdictBadge({ judged, word }: { readonly judged: Judged | undefined; readonly word: string }) {
  return <Badge tone={VERDICTS[judged?.verdict ?? ''] ?? 'plain'}>{word}</Badge>;
}

/** The share that each team has right, with intervals, and against the baseline. */
function ScoreCard({ view }: { readonly view: GaiaView }) {
  const { teams, baseline, pairs } = view;
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
    },
    {
      header: 'lenient',
      isNumber: true,
      isWide: true,
      value: ({ summary }) => (summary.accuracy === null ? null : summary.correct_lenient),
      format: formatCount,
      explain: 'Right answers where quotes, articles, units and the like are forgiven.',
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
      explain:
        'Percentage points, over all attempts, with Newcombe’s interval for pairs, corrected as the verdict is.',
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
      explain: 'Two-sided, after Holm’s correction.',
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
function PairsCard({ view: { pairs, itself, baseline } }: { readonly view: GaiaView }) {
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
    },
    { header: 'won', isNumber: true, value: ({ pair }) => pair.won, format: formatCount },
    { header: 'lost', isNumber: true, value: ({ pair }) => pair.lost, format: formatCount },
    {
      header: 'p',
      isNumber: true,
      isWide: true,
      value: ({ pair }) => pair.judged.adjustedP,
      format: formatP,
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

const MEASURES = [
  { key: 'bytes', format: (value: number) => formatBytes(Math.round(value)) },
  { key: 'seconds', format: (value: number) => `${formatDecimals(value, 2)}\u00a0s` },
  { key: 'cost', format: (value: number) => `$${formatDecimals(value, 4)}` },
  { key: 'tokens', format: (value: number) => `${formatCount(value)} tokens` },
] as const;

const SHARES = [0, 0.25, 0.5, 0.75, 1];

/** Accuracy against what a right answer takes. */
function ScoreCostCard({
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
            y: {
              domain: [0, 1],
              label: 'accuracy',
              ticks: SHARES,
              tickFormat: (share: number) => `${share * 100} %`,
            },
            marks: [
              gridY({ ticks: SHARES, stroke: 'var(--line)', strokeOpacity: 1 }),
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
              text(titled, {
                x: 'per',
                y: 'accuracy',
                text: 'name',
                dx: 9,
                dy: -9,
                textAnchor: 'start',
                fill: 'var(--ink)',
              }),
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

/** Kinds of questions that are shown: a file may name each question's own. */
const MAX_GROUPS = 40;

/** Accuracy by level or kind of question, a column a team; the shade is the accuracy. */
function GroupsCard({ teams }: { readonly teams: readonly TeamFigures[] }) {
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

/** The cost of all answers, and of a right one. */
function CostCard({ view: { teams, baseline } }: { readonly view: GaiaView }) {
  const base = teams.find(({ name }) => name === baseline)?.use.perRight;
  const isOneConcurrency = new Set(teams.map(({ settings }) => settings?.concurrency)).size === 1;
  const each = (
    key: 'tokens' | 'cost' | 'packets' | 'bytes' | 'seconds',
    digits: number,
  ): Column<TeamFigures>[] => [
    {
      header: `${key === 'cost' ? 'cost $' : key}`,
      isNumber: true,
      isWide: true,
      value: ({ use }) => use.total[key],
      format: (value) => formatDecimals(value, digits),
    },
    {
      header: `${key === 'cost' ? '$' : key} / right`,
      isNumber: true,
      value: ({ use }) => use.perRight[key],
      format: (value) => formatDecimals(value, key === 'cost' ? 4 : value < 100 ? Math.max(1, digits) : 0),
      explain: 'All that the team took, wrong answers included, for each right answer.',
    },
  ];
  const compare = (key: 'bytes' | 'seconds'): Column<TeamFigures> => ({
    header: `${key} × ${baseline}`,
    isNumber: true,
    isWide: true,
    value: ({ use }) => {
      const [own, other] = [use.perRight[key], base?.[key] ?? null];
      return own === null || other === null || other === 0 ? null : own / other;
    },
    format: formatRatio,
  });
  const columns: Column<TeamFigures>[] = [
    {
      header: 'team',
      value: ({ name, summary }) =>
        summary.cached === 0
          ? toLine(name, 60)
          : `${toLine(name, 60)} (${formatCount(summary.cached)} cached)`,
    },
    { header: 'routing', isWide: true, value: ({ settings }) => settings?.routing ?? null },
    { header: 'agents', isNumber: true, isWide: true, value: ({ settings }) => settings?.agents ?? null },
    {
      header: 'at once',
      isNumber: true,
      isWide: true,
      value: ({ settings }) => settings?.concurrency ?? null,
      explain: 'Questions on their way at the same time.',
    },
    ...each('tokens', 0),
    ...each('cost', 4),
    ...each('packets', 0),
    ...each('bytes', 0),
    ...each('seconds', 2),
    ...(teams.length > 1 ? [compare('bytes'), ...(isOneConcurrency ? [compare('seconds')] : [])] : []),
  ];
  return (
    <Card
      title="What answers took"
      id="took"
      about="Bytes as they travelled, copies included. Seconds are of all questions, each by its own clock. Answers from the cache count with what they took when they were asked, where that is known."
    >
      <ResultTable label="What answers took" rows={teams} columns={columns} />
    </Card>
  );
}

type Cycle = NonNullable<TeamFigures['summary']['cycles']>[number];
type Change = Cycle['categories'][number];

function nameChange({ low, high }: Pick<Change, 'low' | 'high'>): string {
  return high < 0 ? 'got worse' : low > 0 ? 'gained' : 'cannot tell';
}

/** Scores of repeated questions: the first is that of first attempts, every later one has seen the questions. */
function CyclesCard({ teams }: { readonly teams: readonly TeamFigures[] }) {
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
  const order = ['got worse', 'gained', 'cannot tell'];
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
            y: {
              domain: [0, 1],
              label: 'accuracy',
              ticks: SHARES,
              tickFormat: (share: number) => `${share * 100} %`,
            },
            marks: [
              gridY({ ticks: SHARES, stroke: 'var(--line)', strokeOpacity: 1 }),
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
            { header: 'cycle', isNumber: true, value: ({ cycle }) => cycle.cycle },
            { header: 'right', isNumber: true, value: ({ cycle }) => cycle.correct, format: formatCount },
            { header: 'of', isNumber: true, value: ({ cycle }) => cycle.scored, format: formatCount },
            {
              header: 'accuracy',
              isNumber: true,
              value: ({ cycle }) => cycle.accuracy,
              format: formatPercent,
            },
            {
              header: 'change in points',
              isNumber: true,
              value: ({ cycle }) => cycle.delta,
              format: formatPoints,
            },
            { header: 'newly right', isNumber: true, isWide: true, value: ({ cycle }) => cycle.newly_right },
            { header: 'newly wrong', isNumber: true, isWide: true, value: ({ cycle }) => cycle.newly_wrong },
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
              { header: 'cycle', isNumber: true, value: ({ cycle }) => cycle },
              { header: 'kind', value: ({ change }) => toLine(change.category, 60) },
              { header: 'before', isNumber: true, value: ({ change }) => change.correct_before },
              { header: 'now', isNumber: true, value: ({ change }) => change.correct },
              { header: 'of', isNumber: true, value: ({ change }) => change.questions },
              {
                header: 'points',
                isNumber: true,
                isWide: true,
                value: ({ change }) => change.delta,
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
              { header: 'k', isNumber: true, value: ({ k }) => Number(k) },
              {
                header: 'pass@k: one of k right',
                isNumber: true,
                value: ({ once }) => once,
                format: formatPercent,
              },
              {
                header: 'pass^k: all k right',
                isNumber: true,
                value: ({ always }) => always,
                format: formatPercent,
              },
              {
                header: 'pass^k where agents talked',
                isNumber: true,
                isWide: true,
                value: ({ talked }) => talked,
                format: formatPercent,
              },
            ]}
          />
        </Card>
      )}
    </>
  );
}
