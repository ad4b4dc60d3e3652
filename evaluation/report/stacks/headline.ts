import type { PairVerdict, StacksFile } from '../../compare/stacks/figures/stacks-file.ts';
import { formatName } from '../../compare/stacks/figures/stacks-text.ts';
import { formatInterval, formatMargin, formatNullArm } from '../../compare/verdict-text.ts';
import { MIN_INVOCATIONS } from '../../statistics/levels.ts';
import { formatDecimals, toOneLine } from '../../terminal/table.ts';
import { bindNumbers } from '../wording.ts';

/** Maximum pairs that a heading names; for more, it counts the verdicts and gives the range of the intervals. */
const MAX_NAMED = 4;

interface Pair {
  readonly name: string;
  readonly time: PairVerdict | null;
}

/**
 * The answer in one line, with its intervals. Arms stand in the order in which they were asked for: what differs from the baseline need
 * not differ from each other, so none comes before another for its ratio.
 */
export function formatStacksHeadline(file: StacksFile): string {
  const pairs: Pair[] = file.arms.flatMap(({ name, vs_baseline }) =>
    vs_baseline === null ? [] : [{ name: formatName(name), time: vs_baseline.latency }],
  );
  // For one pair, the file's own sentence is complete.
  if (pairs.length < 2) return bindNumbers(toOneLine(file.sentence, 600));
  const baseline = formatName(file.baseline);
  const judged = pairs.flatMap(({ name, time }) => (time === null ? [] : [{ name, time }]));
  const open = judged.filter(({ time }) => time.verdict === 'cannot tell');
  const overloaded = pairs.filter(({ time }) => time === null);
  const itself = judged[0] === undefined ? '' : formatNullArm(judged[0].time, baseline);
  if (open.length === pairs.length) {
    return bindNumbers(
      `It cannot be told whether an exchange takes another time than with ${baseline}: ${joinPairNames(open)}${describeFewInvocations(file)}${itself}.`,
    );
  }
  const isShort = pairs.length <= MAX_NAMED;
  const parts = [
    describePairs(
      judged,
      isShort,
      'takes longer',
      'take longer',
      (time) => time.verdict === 'different' && time.ratio > 1,
    ),
    describePairs(
      judged,
      isShort,
      'takes less',
      'take less',
      (time) => time.verdict === 'different' && time.ratio <= 1,
    ),
    describePairs(
      judged,
      isShort,
      `takes as long within ${formatMargin(file)}`,
      `take as long within ${formatMargin(file)}`,
      ({ verdict }) => verdict === 'equivalent',
    ),
    open.length === 0 ? [] : [`no telling for ${joinPairNames(open)}`],
    overloaded.length === 0 ? [] : [`${joinPairNames(overloaded)} did not keep up with the rate`],
  ].flat();
  return bindNumbers(`Time of an exchange against ${baseline}: ${parts.join('; ')}${itself}.`);
}

/** Each by name with its ratio and interval, or how many there are and what their intervals span. */
function describePairs(
  pairs: readonly { readonly name: string; readonly time: PairVerdict }[],
  isShort: boolean,
  one: string,
  several: string,
  belongs: (time: PairVerdict) => boolean,
): string[] {
  const own = pairs.filter(({ time }) => belongs(time));
  if (own.length === 0) return [];
  if (isShort) {
    return own.map(
      ({ name, time }) =>
        `${name} ${one} (${formatDecimals(time.ratio, 2)} times, 95 % interval ${formatInterval(time)})`,
    );
  }
  const low = Math.min(...own.map(({ time }) => time.low));
  const high = own.reduce<number | null>(
    (most, { time }) => (most === null || time.high === null ? null : Math.max(most, time.high)),
    0,
  );
  const name = own.length === 1 ? `${own[0]?.name} ${one}` : `${own.length} ${several}`;
  return [
    `${name} (95 % interval${own.length === 1 ? '' : 's within'} ${formatInterval({ low, high })} times)`,
  ];
}

function joinPairNames(pairs: readonly { readonly name: string }[]): string {
  if (pairs.length > MAX_NAMED) return `${pairs.length} others`;
  const all = pairs.map(({ name }) => name);
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}

function describeFewInvocations({ invocations }: StacksFile): string {
  return invocations < MIN_INVOCATIONS
    ? ` (${invocations} invocations are too few for a verdict, which takes ${MIN_INVOCATIONS})`
    : '';
}
