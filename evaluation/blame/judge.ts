import { BLAME_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { computeWilson } from '../statistics/inference/confidence.ts';
import { adjustHolm } from '../statistics/inference/holm.ts';

/** Answers of the branches at one place. */
interface Answers extends Tally {
  /** Answers that are the recorded one, where that is wrong; by default all that are not right. */
  readonly same?: number | undefined;
}

/** Answers of the branches at one message. Places without tries were passed over: nothing changed between their neighbours. */
export interface MessageTallies {
  /** Results with the message as recorded and everything after it live. */
  readonly kept: Answers;
  /** Results with the truth in the place of the message; missing if it cannot be put there, or was not tried. */
  readonly replaced: { readonly truth?: Tally };
}

/** Change of the chance of a right answer, −1 to 1, with its 95 % interval. */
interface Effect {
  /** Chance of a right answer with the change. */
  readonly chance: number;
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  /** One-sided, for a gain, after Holm's correction; null where it was not tested. */
  readonly adjustedP: number | null;
}

export const VERDICTS = [
  'made the answer wrong',
  'changed the wrong answer',
  'passed it on',
  'cannot tell',
  'no effect',
] as const;

interface JudgedMessage {
  /** Chance of a right answer once this message is as recorded. */
  readonly chance: number;
  readonly tries: number;
  /** Effect of letting its sender speak again. */
  readonly again: Effect;
  /** Effect of that on the chance of the recorded answer, which falls if the sender has words of its own. */
  readonly own: Effect;
  /** The smallest fall of the chance to 0 that its tries find in four of five analyses; null if none. */
  readonly detectable: number | null;
  readonly replaced: { readonly truth?: Effect };
  readonly verdict: (typeof VERDICTS)[number];
}

/** Fresh tries at a suspected message. */
export interface Confirmation {
  /** Index of the message, counted from 0. */
  readonly index: number;
  readonly kept: Answers;
  /** Results with all earlier messages as recorded and the sender speaking again. */
  readonly before: Answers;
}

interface Thresholds {
  /** Number of times at which fresh tries are judged; each look has its part of the error rate. */
  readonly looks?: number;
  /** Largest change of the chance that counts as none. */
  readonly margin: number;
}

/** Share of analyses in which a verdict may name an innocent message. */
const ALPHA = 0.05;
/** Maximum suspects. Each further one would require stronger evidence, and more tries. */
const MAX_SUSPECTS = 3;
/** Minimum change of a chance in the first tries that makes a message a suspect: two in five, or one in four with more tries than those. */
const LEAST_SUSPECT_DIFFERENCE = 0.39;
const LEAST_CLEAR_DIFFERENCE = 0.24;
/** Minimum chance of the same wrong answer, if the sender of a message speaks again, with which it passes on what it was told. */
const LEAST_REPEATED = 0.5;

/** Returns the change of the chances between two places: the fall of a right answer's, or the rise of the recorded one's, whichever is larger. */
function measureChange(before: Answers, after: Answers): { difference: number; isSuspect: boolean } {
  const changes = [compareChances(before, after), compareChances(toSame(after), toSame(before))];
  const difference = Math.max(...changes.map((change) => change.difference));
  const tries = Math.min(before.tries, after.tries);
  const least = tries < BLAME_LIMITS.clearTries ? LEAST_SUSPECT_DIFFERENCE : LEAST_CLEAR_DIFFERENCE;
  return { difference, isSuspect: difference >= least };
}

/** Returns the indices of the messages with the largest changes of a chance in the first tries. */
export function findSuspects(outset: Answers, messages: readonly MessageTallies[]): number[] {
  return messages
    .map(({ kept }, index) => ({ index, ...measureChange(messages[index - 1]?.kept ?? outset, kept) }))
    .filter(({ isSuspect }) => isSuspect)
    .sort((one, other) => other.difference - one.difference)
    .slice(0, MAX_SUSPECTS)
    .map(({ index }) => index);
}

/**
 * Judges all messages of one question. A message made the answer wrong if its sender, speaking again in the same place, gives the
 * answer a better chance: the chance of a right answer with only the messages before it as recorded, minus the chance with this
 * one as recorded, too. The difference is 0 for a message that only passes on an earlier mistake; the sum over all messages is
 * the chance at the outset minus the final result. Once the answer is wrong, a second message cannot make it so: it changed the wrong
 * answer if its sender, speaking again, gives another one. Suspects are found in the first tries and convicted by fresh ones alone, so
 * that the test needs correction for the suspects only. `passed it on` means that the truth in its place would mend the answer, and that its
 * sender, speaking again, gives the same one.
 *
 * @param outset branches in which no message is as recorded
 */
export function judge(
  outset: Answers,
  messages: readonly MessageTallies[],
  confirmations: readonly Confirmation[],
  { looks = 1, margin }: Thresholds,
): JudgedMessage[] {
  // The two verdicts are two families: each names an innocent message in at most the share {@link ALPHA} of analyses.
  const confirmed = testPairs(confirmations.map(({ kept, before }) => ({ kept, instead: before })));
  const confirmedOwn = testPairs(
    confirmations.map(({ kept, before }) => ({ kept: toOther(kept), instead: toOther(before) })),
  );
  // A place without tries was passed over, because nothing changed between those beside it.
  const findKept = (index: number) =>
    messages.slice(index).find(({ kept }) => kept.tries > 0)?.kept ?? { right: 0, tries: 0 };
  const findBefore = (index: number) =>
    messages.slice(0, index).findLast(({ kept }) => kept.tries > 0)?.kept ?? outset;
  const tried = messages.flatMap(({ replaced: { truth } }, index) =>
    truth === undefined ? [] : [{ index, kept: findKept(index), instead: truth }],
  );
  const effects = testPairs(tried);
  const truths = new Map(tried.map(({ index }, at) => [index, effects[at]]));
  const isCalled = (effect: Effect | undefined, level = ALPHA / looks) =>
    effect !== undefined && (effect.adjustedP ?? 1) < level && effect.low > 0;
  return messages.map((_, index) => {
    const at = confirmations.findIndex((confirmation) => confirmation.index === index);
    const judged = confirmations[at] ?? { kept: findKept(index), before: findBefore(index) };
    const again = confirmed[at] ?? computeEffect(judged.kept, judged.before, null);
    const own = confirmedOwn[at] ?? computeEffect(toOther(judged.kept), toOther(judged.before), null);
    const truth = truths.get(index);
    const isSmall = ({ low, high }: Effect) => low > -margin && high < margin;
    const isRepeated = computeChance(toSame(judged.before)) >= LEAST_REPEATED;
    const isNone = isSmall(again) && isSmall(own) && (truth === undefined || isSmall(truth));
    const verdict = isCalled(again)
      ? 'made the answer wrong'
      : isCalled(own)
        ? 'changed the wrong answer'
        : isCalled(truth, ALPHA) && isRepeated
          ? 'passed it on'
          : isNone
            ? 'no effect'
            : 'cannot tell';
    return {
      chance: computeChance(judged.kept),
      tries: judged.kept.tries,
      again,
      own,
      detectable: findDetectableFall(judged.before.tries, judged.kept.tries, ALPHA / looks),
      replaced: truth === undefined ? {} : { truth },
      verdict,
    };
  });
}

function toSame({ right, tries, same = tries - right }: Answers): Tally {
  return { right: same, tries };
}

/** Counts answers other than the recorded one. */
function toOther(answers: Answers): Tally {
  const { right, tries } = toSame(answers);
  return { right: tries - right, tries };
}

function testPairs(pairs: readonly { readonly kept: Tally; readonly instead: Tally }[]): Effect[] {
  const adjusted = adjustHolm(pairs.map(({ kept, instead }) => testFisher(instead, kept)));
  return pairs.map(({ kept, instead }, index) => computeEffect(kept, instead, adjusted[index] ?? 1));
}

function computeEffect(kept: Tally, instead: Tally, adjustedP: number | null): Effect {
  return { chance: computeChance(instead), ...compareChances(instead, kept), adjustedP };
}

export function computeChance({ right, tries }: Tally): number {
  return tries === 0 ? 0 : right / tries;
}

/** Returns the messages that made the answer wrong, or changed the wrong one, the one with the largest effect first. */
export function findCulprits<
  Judged extends Pick<JudgedMessage, 'verdict'> & Record<'again' | 'own', Pick<Effect, 'difference'>>,
>(
  messages: readonly Judged[],
  wanted: 'made the answer wrong' | 'changed the wrong answer' = 'made the answer wrong',
): Judged[] {
  const effect = wanted === 'made the answer wrong' ? 'again' : 'own';
  return messages
    .filter(({ verdict }) => verdict === wanted)
    .sort((one, other) => other[effect].difference - one[effect].difference);
}

/** Correct answers among a number of tries. */
interface Tally {
  readonly right: number;
  readonly tries: number;
}

/**
 * Runs Fisher's exact test, one-sided: returns the probability that, if there is no difference, at least this many of all right answers are
 * among `more` (R. A. Fisher, 1935, "The logic of inductive inference", Journal of the Royal Statistical Society 98:1). Returns 1 without
 * tries.
 */
function testFisher(more: Tally, fewer: Tally): number {
  const right = more.right + fewer.right;
  const total = more.tries + fewer.tries;
  let sum = 0;
  for (let k = more.right; k <= Math.min(right, more.tries); k++)
    sum += Math.exp(logChoose(more.tries, k) + logChoose(fewer.tries, right - k) - logChoose(total, right));
  return Math.min(1, sum);
}

/** Probability with which a detectable fall is found (J. Cohen, 1988, "Statistical power analysis for the behavioral sciences"). */
const POWER = 0.8;
const STEPS = 100;

/**
 * Returns the smallest chance that {@link testFisher} distinguishes from 0 at the level `alpha` in four of five analyses, to two decimals: the
 * chance before a fall to 0, with `before` tries of it and `after` tries of none. Returns null if no chance is enough.
 */
function findDetectableFall(before: number, after: number, alpha: number): number | null {
  const none = { right: 0, tries: after };
  const isCalled = (right: number) => testFisher({ right, tries: before }, none) < alpha;
  const counts = Array.from({ length: before + 1 }, (_, right) => right).filter(isCalled);
  const computePower = (chance: number) =>
    counts.reduce((sum, right) => {
      const logChance = right * Math.log(chance) + (before - right) * Math.log(1 - chance);
      return sum + Math.exp(logChoose(before, right) + logChance);
    }, 0);
  for (let step = 1; step < STEPS; step++) if (computePower(step / STEPS) >= POWER) return step / STEPS;
  return null;
}

/**
 * Returns the difference of two independent chances, `one` minus `other`, with its 95 % interval: R. G. Newcombe (1998, "Interval
 * estimation for the difference between independent proportions: comparison of eleven methods", Statistics in Medicine 17:8), method 10. It
 * stays within −1..1.
 */
function compareChances(one: Tally, other: Tally): { difference: number; low: number; high: number } {
  if (one.tries === 0 || other.tries === 0) return { difference: 0, low: -1, high: 1 };
  const [a, b] = [one.right / one.tries, other.right / other.tries];
  const [ofA, ofB] = [computeWilson(one.right, one.tries), computeWilson(other.right, other.tries)];
  return {
    difference: a - b,
    low: a - b - Math.hypot(a - ofA.low, ofB.high - b),
    high: a - b + Math.hypot(ofA.high - a, b - ofB.low),
  };
}

/** Returns the logarithm of the binomial coefficient, for `k` from 0 to `n`. */
function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= k; i++) sum += Math.log((n - k + i) / i);
  return sum;
}
