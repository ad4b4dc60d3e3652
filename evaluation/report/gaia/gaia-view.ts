import type { FinishedBatch } from '../../batch/finished-batch.ts';
import { BASELINE } from '../../results/baseline.ts';
import type { TeamSummary } from '../../results/summary.ts';
import { formatDetectable } from '../../results/tables/detectable-text.ts';
import { count, toOneLine } from '../../terminal/table.ts';
import { bindNumbers, formatCounted } from '../wording.ts';
import { buildCyclesView } from './cycles-view.ts';
import { buildGroupsViews } from './groups-view.ts';
import { type Compared, mapBaselinePairs, pairTeams } from './paired-teams.ts';
import { buildQuestionsView, type QuestionsView } from './questions-view.ts';
import { buildScoreCostView } from './score-cost-view.ts';
import {
  buildCostTables,
  buildPairsTable,
  type NamedSummary,
  type ScoreView,
  scoreTable,
} from './team-tables.ts';
import { buildWorkViews } from './work-view.ts';

/** A batch of questions and what came of it. */
export interface GaiaSource {
  readonly batch: FinishedBatch;
  readonly summaries: Readonly<Record<string, TeamSummary>>;
}

/** Results of teams on the same questions. */
export interface GaiaView {
  /** The page's own sentence. */
  readonly finding: string;
  readonly made: string;
  /** Warning that the figures are those of an unfinished batch; null if it is complete. */
  readonly alarm: string | null;
  readonly score: ScoreView;
  /** Every pair of teams, and teams against themselves; null where there is one pair. */
  readonly pairs: ScoreView | null;
  readonly taken: readonly ScoreView[];
  readonly cost: ReturnType<typeof buildScoreCostView>;
  readonly groups: ReturnType<typeof buildGroupsViews>;
  readonly cycles: ReturnType<typeof buildCyclesView>;
  readonly work: ReturnType<typeof buildWorkViews>;
  readonly questions: QuestionsView;
}

export function buildGaiaView({ batch, summaries }: GaiaSource): GaiaView {
  const teams = batch.head.teams.flatMap(({ name }): NamedSummary[] => {
    const summary = summaries[name];
    return summary === undefined ? [] : [[name, summary]];
  });
  const paired = pairTeams(batch);
  const compared = mapBaselinePairs(paired);
  return {
    finding: bindNumbers(describeBestTeam(teams, compared, paired.baseline)),
    made: bindNumbers(describeOrigin(batch)),
    alarm: findAlarm(teams, batch.head.repeat),
    score: scoreTable(teams, compared, paired.baseline),
    pairs: buildPairsTable(paired),
    taken: buildCostTables(teams, batch.head),
    cost: buildScoreCostView(teams),
    groups: buildGroupsViews(teams),
    cycles: buildCyclesView(teams),
    work: buildWorkViews(teams),
    questions: buildQuestionsView(batch),
  };
}

/** The best team, or those that share the place, against the baseline: the one sentence to take away. */
function describeBestTeam(
  teams: readonly NamedSummary[],
  compared: ReadonlyMap<string, Compared>,
  baseline: string,
): string {
  const [first] = teams;
  if (first === undefined) return 'No team was asked';
  const scored = teams.filter(([, { accuracy }]) => accuracy !== null);
  if (scored.length === 0) {
    const [name, { answered, questions }] = first;
    return `${name} answered ${count(answered)} of ${formatCounted(questions, 'question')}; no true answer is known`;
  }
  const most = Math.max(...scored.map(([, { correct }]) => correct));
  const best = scored.filter(([, { correct }]) => correct === most).map(([name]) => name);
  const result = `right on ${count(most)} of ${formatCounted(first[1].scored, 'question')}`;
  const base = teams.find(([team]) => team === baseline)?.[1];
  const said = `${best.join(', ')} ${best.length === 1 ? 'is' : 'are'} ${result}`;
  if (base === undefined || teams.length === 1) return said;
  const calls = [...compared].map(([, { judged }]) => judged);
  if (calls.length > 0 && calls.every(({ verdict }) => verdict === 'no detectable difference'))
    return describeUndecided(teams, calls, baseline);
  const alone = baseline === BASELINE ? `${baseline} alone` : baseline;
  if (best.includes(baseline)) return `No team is right more often than ${alone}: ${result}`;
  const isBetter = best.every((name) => compared.get(name)?.judged.verdict === 'better');
  const against = `${said}, ${alone} on ${count(base.correct)}`;
  return isBetter ? against : `${against}: no detectable difference`;
}

/** Describes a batch without detected differences. It ranks no team, because one more right answer may be chance. */
function describeUndecided(
  teams: readonly NamedSummary[],
  calls: readonly Compared['judged'][],
  baseline: string,
): string {
  const rights = teams.map(([, { correct }]) => correct);
  const [fewest, most] = [Math.min(...rights), Math.max(...rights)];
  const scored = teams[0]?.[1].scored ?? 0;
  const range = fewest === most ? count(most) : `${count(fewest)} to ${count(most)}`;
  const shown = Math.max(...calls.map(({ detectable }) => detectable));
  const least = Number.isFinite(shown)
    ? `so many questions show one of ${formatDetectable({ detectable: shown })} points`
    : 'so few questions can show none';
  return `No difference to ${baseline} was detected: right on ${range} of ${formatCounted(scored, 'question')}; ${least}`;
}

function describeOrigin({ head: { gaia_mesh, questions, repeat, teams, source } }: FinishedBatch): string {
  const engines = [...new Set(teams.map(({ engine, model }) => [engine, model].filter(Boolean).join(' ')))];
  const from = source === null ? 'a scoring API' : toOneLine(source, 80);
  const times = repeat === 1 ? '' : `, each ${repeat} times`;
  return (
    `${formatCounted(questions.length, 'question')} of ${from}${times}, put to ${formatCounted(teams.length, 'team')} on ` +
    `${engines.map((engine) => toOneLine(engine, 60)).join(', ')} with Gaia Mesh ${toOneLine(gaia_mesh, 20)}. ` +
    'Right means right by GAIA’s official scorer; whatever failed, ran out of time or was not asked is wrong.'
  );
}

function findAlarm(teams: readonly NamedSummary[], repeat: number): string | null {
  const missing = teams.flatMap(([name, { not_asked, repeats, questions }]) => {
    const later = repeats?.not_asked ?? 0;
    if (not_asked + later === 0) return [];
    return [`${name} ${count(not_asked + later)} of ${count(questions * repeat)}`];
  });
  if (missing.length === 0) return null;
  return bindNumbers(
    `The batch is not finished, so these are the figures of a part. Not asked yet: ${missing.join(', ')}. The same command with --resume asks the rest.`,
  );
}
