import type { FinishedBatch } from '../../batch/finished-batch.ts';
import { BASELINE } from '../../results/baseline.ts';
import { findKnownUse } from '../../results/figures.ts';
import type { TeamSummary } from '../../results/summary.ts';
import { formatDetectable } from '../../results/tables/detectable-text.ts';
import { count, toOneLine } from '../../terminal/table.ts';
import { bindNumbers, formatCounted } from '../wording.ts';
import { type Compared, mapBaselinePairs, type PairedTeams, pairTeams } from './paired-teams.ts';
import { buildQuestionsView, type QuestionsView } from './questions-view.ts';
import { buildWorkViews, type NamedSummary } from './work-view.ts';

/** A batch of questions and what came of it. */
export interface GaiaSource {
  readonly batch: FinishedBatch;
  readonly summaries: Readonly<Record<string, TeamSummary>>;
}

/** Results of teams on the same questions, as their page gets them. */
export interface GaiaView {
  /** The page's own sentence. */
  readonly finding: string;
  readonly made: string;
  /** Warning that the figures are those of an unfinished batch; null if it is complete. */
  readonly alarm: string | null;
  readonly repeat: number;
  readonly source: string | null;
  readonly command: string | null;
  readonly machine: string | null;
  /** Milliseconds since 1970 at which the last attempt ended; null before the first. */
  readonly endedAt: number | null;
  readonly baseline: string;
  readonly teams: readonly TeamFigures[];
  readonly pairs: PairedTeams['pairs'];
  /** Second attempts against the first, by team. */
  readonly itself: readonly (readonly [team: string, compared: Compared])[];
  readonly work: ReturnType<typeof buildWorkViews>;
  readonly questions: QuestionsView;
}

/** A team with its settings, its figures, and what it took, answers from the cache included where that is known. */
export interface TeamFigures {
  readonly name: string;
  readonly settings: FinishedBatch['head']['teams'][number] | null;
  readonly summary: TeamSummary;
  readonly use: ReturnType<typeof findKnownUse>;
}

export function buildGaiaView({ batch, summaries }: GaiaSource): GaiaView {
  const { head } = batch;
  const teams = head.teams.flatMap(({ name }): NamedSummary[] => {
    const summary = summaries[name];
    return summary === undefined ? [] : [[name, summary]];
  });
  const paired = pairTeams(batch);
  const questions = buildQuestionsView(batch);
  return {
    finding: bindNumbers(describeBestTeam(teams, mapBaselinePairs(paired), paired.baseline)),
    made: bindNumbers(describeOrigin(batch)),
    alarm: findAlarm(teams, head.repeat),
    repeat: head.repeat,
    source: head.source,
    command: head.command,
    machine: head.machine,
    endedAt: findEnd(batch),
    baseline: paired.baseline,
    teams: teams.map(([name, summary]) => ({
      name,
      summary,
      settings: head.teams.find((settings) => settings.name === name) ?? null,
      use: findKnownUse(summary),
    })),
    pairs: paired.pairs,
    itself: [...paired.itself],
    work: buildWorkViews(teams),
    questions,
  };
}

function findEnd({ head, questions, read }: FinishedBatch): number | null {
  let last: number | null = null;
  for (const { name } of head.teams)
    for (const { taskId } of questions) {
      const ended = read({ task_id: taskId, team: name, cycle: head.repeat })?.ended_at;
      if (ended !== undefined && ended > (last ?? 0)) last = ended;
    }
  return last;
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
  if (calls.length > 0 && calls.every(({ verdict }) => verdict === 'cannot tell'))
    return describeUndecided(teams, calls, baseline);
  const alone = baseline === BASELINE ? `${baseline} alone` : baseline;
  if (best.includes(baseline)) return `No team is right more often than ${alone}: ${result}`;
  const isBetter = best.every((name) => compared.get(name)?.judged.verdict === 'better');
  const against = `${said}, ${alone} on ${count(base.correct)}`;
  return isBetter ? against : `${against}: cannot tell which is better`;
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
    ? `${formatCounted(scored, 'question')} can detect only differences of ${formatDetectable({ detectable: shown })} points or more`
    : `${formatCounted(scored, 'question')} are too few to detect any`;
  return `No difference to ${baseline} was detected: right on ${range}; ${least}`;
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
