import type { BatchData } from '../../report/batch-data.ts';
import { BASELINE } from '../../results/baseline.ts';
import { formatDetectable } from '../../results/tables/score-columns.ts';
import { count } from '../../terminal/table.ts';
import { formatCounted, toLine } from '../format.ts';

/** Says who is right the most often, or those who share the place, against the baseline: the one sentence to take away. */
export function describeFinding({ teams, pairs, baseline }: BatchData): string {
  const [first] = teams;
  if (first === undefined) return 'No team was asked';
  const scored = teams.filter(({ summary }) => summary.accuracy !== null);
  if (scored.length === 0) {
    const { name, summary } = first;
    return `${toLine(name, 60)} answered ${count(summary.answered)} of ${formatCounted(summary.questions, 'question')}; no true answer is known`;
  }
  const most = Math.max(...scored.map(({ summary }) => summary.correct));
  const best = scored.filter(({ summary }) => summary.correct === most).map(({ name }) => name);
  const result = `right on ${count(most)} of ${formatCounted(first.summary.scored, 'question')}`;
  const base = teams.find(({ name }) => name === baseline)?.summary;
  const said = `${best.map((name) => toLine(name, 60)).join(', ')} ${best.length === 1 ? 'is' : 'are'} ${result}`;
  if (base === undefined || teams.length === 1) return said;
  const calls = pairs.filter((pair) => pair.base === baseline);
  if (calls.length > 0 && calls.every(({ judged }) => judged.verdict === 'cannot tell'))
    return describeUndecided(teams, calls, baseline);
  const alone = baseline === BASELINE ? `${baseline} alone` : toLine(baseline, 60);
  if (best.includes(baseline)) return `No team is right more often than ${alone}: ${result}`;
  const isBetter = best.every(
    (name) => calls.find(({ other }) => other === name)?.judged.verdict === 'better',
  );
  const against = `${said}, ${alone} on ${count(base.correct)}`;
  return isBetter ? against : `${against}: cannot tell which is better`;
}

/** Describes a batch without detected differences. It ranks no team, because one more right answer may be chance. */
function describeUndecided(teams: BatchData['teams'], calls: BatchData['pairs'], baseline: string): string {
  const rights = teams.map(({ summary }) => summary.correct);
  const [fewest, most] = [Math.min(...rights), Math.max(...rights)];
  const scored = formatCounted(teams[0]?.summary.scored ?? 0, 'question');
  const range = fewest === most ? count(most) : `${count(fewest)} to ${count(most)}`;
  const shown = calls.map(({ judged }) => judged.detectable);
  const known = shown.filter((detectable) => detectable !== null);
  const least =
    known.length === shown.length
      ? `${scored} can detect only differences of ${formatDetectable(Math.max(...known))}\u00a0points or more`
      : `${scored} are too few to detect any`;
  return `No difference to ${toLine(baseline, 60)} was detected: right on ${range}; ${least}`;
}

export function describeOrigin({ gaia_mesh, asked, repeat, teams, source }: BatchData): string {
  const engines = new Set(
    teams.map(({ settings }) => toLine([settings.engine, settings.model].filter(Boolean).join(' '), 60)),
  );
  const from = source === null ? 'a scoring API' : toLine(source, 80);
  const times = repeat === 1 ? '' : `, each ${repeat}\u00a0times`;
  return (
    `${formatCounted(asked, 'question')} of ${from}${times}, put to ${formatCounted(teams.length, 'team')} on ` +
    `${[...engines].join(', ')} with Gaia Mesh ${toLine(gaia_mesh, 20)}. ` +
    'Right means right by GAIA’s official scorer; whatever failed, ran out of time or was not asked is wrong.'
  );
}

/** Warns that the figures are those of an unfinished batch; null if it is complete. */
export function describeMissing({ teams, repeat }: BatchData): string | null {
  const missing = teams.flatMap(({ name, summary: { not_asked, repeats, questions } }) => {
    const left = not_asked + (repeats?.not_asked ?? 0);
    return left === 0 ? [] : [`${toLine(name, 60)} ${count(left)} of ${count(questions * repeat)}`];
  });
  if (missing.length === 0) return null;
  return `The batch is not finished, so these are the figures of a part. Not asked yet: ${missing.join(', ')}. The same command with --resume asks the rest.`;
}

/** Says what of the batch the page does not hold, and what was lost on the way. */
export function listNotes(batch: BatchData): string[] {
  const { questions, asked, cyclesShown, repeat, warnings, warningsLeft, traceCharacters } = batch;
  return [
    ...(questions.length < asked
      ? [
          `The page holds the first ${formatCounted(questions.length, 'question')} of ${count(asked)}; the figures above are of all.`,
        ]
      : []),
    ...(cyclesShown < repeat
      ? [`Answers and traces are those of the first ${formatCounted(cyclesShown, 'cycle')} of ${repeat}.`]
      : []),
    ...warnings.map(({ task_id, team, text }) => toLine(`Warning (${task_id}, ${team}): ${text}.`, 400)),
    ...(warningsLeft > 0 ? [`The answers file has ${formatCounted(warningsLeft, 'more warning')}.`] : []),
    ...(traceCharacters === null
      ? []
      : [
          `Traces are cut to ${formatCounted(traceCharacters, 'character')}; the answers file has the whole.`,
        ]),
  ];
}
