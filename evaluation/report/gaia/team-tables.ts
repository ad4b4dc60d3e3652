import type { BatchHead } from '../../batch/journal/batch-head.ts';
import { BASELINE, findBaseline } from '../../results/baseline.ts';
import { findKnownUse, type ResourceUse } from '../../results/figures.ts';
import type { TeamSummary } from '../../results/summary.ts';
import { formatDetectable } from '../../results/tables/detectable-text.ts';
import { count, formatDecimals, formatPercent } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import { bindNumbers, formatBytes, formatRatio } from '../wording.ts';
import type { Compared, PairedTeams } from './paired-teams.ts';

/** A team by its name, with its figures; in the order in which they were asked. */
export type NamedSummary = readonly [name: string, summary: TeamSummary];

/** A table under what it shows, above what its columns are. */
export interface ScoreView {
  readonly finding: string;
  readonly table: TableView;
  readonly note: string;
}

/** Builds the table of each team's accuracy, and of its difference from the baseline on the same questions. */
export function scoreTable(
  teams: readonly NamedSummary[],
  compared: ReadonlyMap<string, Compared>,
  baseline: string,
): ScoreView {
  const hasBaseline = teams.length > 1;
  const titles = [
    ...['team', '#right', '#accuracy', '#95 % interval', '#lenient'],
    ...(hasBaseline ? ['#difference', '#95 % interval', '#won : lost', '#p', '#detects', 'verdict'] : []),
  ];
  const rows = teams.map(([name, summary]) => [
    hasBaseline && name === baseline ? `${name} (baseline)` : name,
    ...formatScoreCells(summary),
    ...(hasBaseline ? formatDifferenceCells(name === baseline, compared.get(name)) : []),
  ]);
  const scored = teams[0]?.[1].scored ?? 0;
  const paired = hasBaseline
    ? `difference: percentage points more (or fewer) right than ${baseline} on the questions that both were asked, over all attempts, of which those at one question count as one, with Newcombe’s interval for pairs. ` +
      `won : lost: questions that it got right more often than ${baseline}, and less often. p and interval are corrected for the comparisons that were declared before the run (Holm). ` +
      'A difference is called where the interval does not reach 0, which is where p is below 0.05; that none is detected is not that there is none.'
    : `No other team was asked, so nothing is set against it: --team ${BASELINE},… does.`;
  return {
    finding: describeVerdicts(teams, compared, baseline),
    table: createTableView(titles, rows),
    note: bindNumbers(
      `right: of ${count(scored)}, by GAIA’s official scorer; interval: Wilson. lenient: without quotes, articles, units and the like. ${paired}`,
    ),
  };
}

function formatScoreCells({ correct, accuracy, low, high, correct_lenient }: NamedSummary[1]): string[] {
  if (accuracy === null || low === null || high === null) return ['–', '–', '–', '–'];
  const interval = `${(low * 100).toFixed(1)}–${formatPercent(high)}`;
  return [count(correct), formatPercent(accuracy), interval, count(correct_lenient)];
}

function formatDifferenceCells(isBaseline: boolean, compared: Compared | undefined): string[] {
  const verdict = isBaseline ? 'baseline' : 'no question in common';
  return compared === undefined ? ['–', '–', '–', '–', '–', verdict] : formatComparedCells(compared);
}

function formatComparedCells({ won, lost, judged }: Compared): string[] {
  return [
    formatPoints(judged.difference),
    `${formatPoints(judged.low)} to ${formatPoints(judged.high)}`,
    `${count(won)} : ${count(lost)}`,
    judged.adjustedP < 0.001 ? '<0.001' : formatDecimals(judged.adjustedP, 3),
    formatDetectable(judged),
    judged.verdict,
  ];
}

/** Every pair of teams, and each team against itself; null where the table of scores says it all. */
export function buildPairsTable({ baseline, pairs, itself }: PairedTeams): ScoreView | null {
  const isBeyond = pairs.some(({ base }) => base !== baseline) || itself.size > 0;
  if (!isBeyond) return null;
  const called = pairs.filter(({ judged }) => judged.verdict !== 'no detectable difference');
  const apart = [...itself].filter(([, { judged }]) => judged.verdict !== 'no detectable difference');
  const luck =
    itself.size === 0
      ? ''
      : apart.length === 0
        ? '; asked again, no team differs from itself'
        : `; asked again, ${apart.map(([name]) => name).join(', ')} differs from itself: it has learned, or it is luck`;
  return {
    finding: bindNumbers(
      `Of ${count(pairs.length)} pairs of teams ${count(called.length)} differ detectably${luck}`,
    ),
    table: createTableView(
      ['team', 'against', '#difference', '#95 % interval', '#won : lost', '#p', '#detects', 'verdict'],
      [
        ...pairs.map((pair) => [pair.other, pair.base, ...formatComparedCells(pair)]),
        ...[...itself].map(([name, compared]) => [
          `${name}, second attempts`,
          'its first',
          ...formatComparedCells(compared),
        ]),
      ],
    ),
    note: bindNumbers(
      'The pairs are judged together (Holm), on the questions that both were asked, by all attempts. A team’s second attempts against its first are ' +
        'a null test: whatever it shows is luck, unless the team learns. Verdicts are not transitive: a may be better than b, and c differ from neither.',
    ),
  };
}

/** `+12.3` percentage points. */
function formatPoints(fraction: number): string {
  const value = (Math.abs(fraction) * 100).toFixed(1);
  return Number(value) === 0 ? value : `${fraction < 0 ? '−' : '+'}${value}`;
}

function describeVerdicts(
  teams: readonly NamedSummary[],
  compared: ReadonlyMap<string, Compared>,
  baseline: string,
): string {
  if (compared.size === 0)
    return teams.length === 1 ? 'How often it is right' : 'How often each team is right';
  const said = (verdict: string) =>
    [...compared].filter(([, { judged }]) => judged.verdict === verdict).map(([name]) => name);
  const parts = [
    ...formatGroup(said('better'), 'better'),
    ...formatGroup(said('worse'), 'worse'),
    ...formatGroup(said('no detectable difference'), 'not detectably different'),
  ];
  return `Against ${baseline} on the same questions: ${parts.join('; ')}`;
}

function formatGroup(names: readonly string[], what: string): string[] {
  if (names.length === 0) return [];
  return [`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} ${what}`];
}

/** Builds the tables of costs: in total, and for each right answer. */
export function buildCostTables(teams: readonly NamedSummary[], { teams: facts }: BatchHead): ScoreView[] {
  const baseline = findBaseline(teams.map(([name]) => name));
  const [, first] = teams.length > 1 ? (teams.find(([name]) => name === baseline) ?? []) : [];
  const base = first && findKnownUse(first).perRight;
  const titles = ['#tokens', '#cost $', '#packets', '#bytes', '#seconds'];
  const how = (name: string) => {
    const fact = facts.find((one) => one.name === name);
    return fact === undefined ? ['–', '–', '–'] : [fact.routing, count(fact.agents), count(fact.concurrency)];
  };
  const perRight = base === undefined ? [] : [`#bytes against ${baseline}`, `#seconds against ${baseline}`];
  const atOnce = new Set(facts.map(({ concurrency }) => concurrency));
  const isOneConcurrency = atOnce.size === 1;
  return [
    {
      finding: 'What all answers took',
      table: createTableView(
        ['team', 'routing', '#agents', '#at once', ...titles],
        teams.map(([name, summary]) => [
          markCached(name, summary),
          ...how(name),
          ...formatCostCells(findKnownUse(summary).total, 0),
        ]),
      ),
      note: 'bytes: as they travelled, copies included: broadcast sends each packet to every other agent, topic to those that subscribe to its type, direct to its addressee. seconds: of all questions, each by its own clock, so they add up to more than the wall where several are on their way at once. Answers from the cache count with what they took when they were asked; where that is not known, they are left out; how many they are stands beside the team. –: not known, such as the price of a model.',
    },
    {
      finding: describeRightCosts(teams),
      table: createTableView(
        ['team', ...titles, ...perRight],
        teams.map(([name, summary]) => {
          const { perRight: own } = findKnownUse(summary);
          const cells = [markCached(name, summary), ...formatCostCells(own, 1)];
          if (base === undefined) return cells;
          const seconds = isOneConcurrency ? formatAgainst(own.seconds, base.seconds) : '–';
          return [...cells, formatAgainst(own.bytes, base.bytes), seconds];
        }),
      ),
      note: `All that a team took, wrong answers included, for each right one. Answers from the cache count as above. ${
        isOneConcurrency
          ? `Seconds are those of ${[...atOnce].join()} at once, for all teams.`
          : 'Teams had different numbers of questions on their way at once, so their seconds are not set against each other.'
      }`,
    },
  ];
}

/** Returns a team's name with the number of its answers that are from the cache. */
function markCached(name: string, { cached }: NamedSummary[1]): string {
  return cached === 0 ? name : `${name} (${count(cached)} cached)`;
}

function formatCostCells({ tokens, cost, packets, bytes, seconds }: ResourceUse, digits: number): string[] {
  const number = (value: number | null) =>
    value === null || (digits > 0 && value < 100) ? formatDecimals(value, digits) : count(value);
  return [number(tokens), formatDecimals(cost, 4), number(packets), number(bytes), formatSeconds(seconds)];
}

function formatSeconds(seconds: number | null): string {
  return seconds !== null && seconds >= 1000 ? count(seconds) : formatDecimals(seconds, 2);
}

function formatAgainst(value: number | null, base: number | null): string {
  return value === null || base === null || base === 0 ? '–' : formatRatio(value / base);
}

function describeRightCosts(teams: readonly NamedSummary[]): string {
  const known = teams
    .flatMap(([name, summary]) => {
      const { bytes } = findKnownUse(summary).perRight;
      return bytes === null ? [] : [{ name, bytes }];
    })
    .toSorted((a, b) => a.bytes - b.bytes);
  const [least] = known;
  const most = known.at(-1);
  if (least === undefined || most === undefined) return 'What a right answer took: there is none';
  const text = `A right answer takes ${formatBytes(Math.round(least.bytes))} with ${least.name}`;
  return least === most ? text : `${text}, ${formatBytes(Math.round(most.bytes))} with ${most.name}`;
}
