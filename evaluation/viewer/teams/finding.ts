import type { RightVerdict, TeamsComparison } from '../../compare/comparison-file.ts';
import { formatDetectable, formatVerdict } from '../../compare/comparison-text.ts';
import { count } from '../../terminal/table.ts';
import { formatCounted, toLine } from '../format.ts';

/** Returns the finding of a batch in one sentence: the team or teams with the most right answers, against the baseline. */
export function describeFinding({ arms, baseline }: TeamsComparison): string {
  const [first] = arms;
  if (first === undefined) return 'No team was asked';
  if (arms.every(({ accuracy }) => accuracy === null))
    return `${toLine(first.name, 60)} answered ${count(first.answered)} of ${formatCounted(first.questions, 'question')}; no true answer is known`;
  const most = Math.max(...arms.map(({ correct, accuracy }) => (accuracy === null ? 0 : correct)));
  const best = arms.filter(({ correct, accuracy }) => accuracy !== null && correct === most);
  const result = `right on ${count(most)} of ${formatCounted(first.scored, 'question')}`;
  const base = arms.find(({ name }) => name === baseline);
  const said = `${best.map(({ name }) => toLine(name, 60)).join(', ')} ${best.length === 1 ? 'is' : 'are'} ${result}`;
  if (base === undefined || arms.length === 1) return said;
  const calls = arms.flatMap(({ vs_baseline: vs }) => vs?.right ?? []);
  if (calls.length > 0 && calls.every(({ verdict }) => verdict === 'cannot tell'))
    return describeUndecided(arms, calls, baseline);
  const alone = toLine(baseline, 60);
  if (best.includes(base)) return `No team is right more often than ${alone}: ${result}`;
  const isBetter = best.every(({ vs_baseline: vs }) => vs?.right && formatVerdict(vs.right) === 'better');
  const against = `${said}, ${alone} on ${count(base.correct)}`;
  return isBetter ? against : `${against}: cannot tell which is better`;
}

/** Describes a batch without detected differences. It ranks no team, because one more right answer may be chance. */
function describeUndecided(
  arms: TeamsComparison['arms'],
  calls: readonly RightVerdict[],
  baseline: string,
): string {
  const rights = arms.map(({ correct }) => correct);
  const [fewest, most] = [Math.min(...rights), Math.max(...rights)];
  const scored = formatCounted(arms[0]?.scored ?? 0, 'question');
  const range = fewest === most ? count(most) : `${count(fewest)} to ${count(most)}`;
  const worst = calls.toSorted((a, b) => (b.detectable ?? Infinity) - (a.detectable ?? Infinity))[0];
  const least =
    worst === undefined || worst.detectable === null
      ? `${scored} are too few to detect any`
      : `${scored} can detect only differences of ${formatDetectable(worst)}\u00a0points or more`;
  return `No difference to ${toLine(baseline, 60)} was detected: right on ${range}; ${least}`;
}
