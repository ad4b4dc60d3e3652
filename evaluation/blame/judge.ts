import { compareChances, type Tally, testFisher } from '../statistics/answers/independent-answers.ts';
import { adjustHolm } from '../statistics/inference/holm.ts';

/** What a message can be made to say in a branch, beside what it said. */
export const REPLACEMENTS = ['truth', 'other', 'neutral'] as const;
export type Replacement = (typeof REPLACEMENTS)[number];

/** Right answers of the branches at one message. */
export interface MessageTallies {
  /** It says what it said, and all after it is live. */
  readonly kept: Tally;
  /** It says something else; left out where that cannot be made, or was not tried. */
  readonly replaced: Partial<Record<Replacement, Tally>>;
}

/** By how much the chance of a right answer changes, −1 to 1, with its 95 % interval. */
interface Effect {
  /** Of a right answer with the change. */
  readonly chance: number;
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  /** One-sided, for a gain, after Holm's correction; null where it was not tested. */
  readonly adjustedP: number | null;
}

export const VERDICTS = ['made the answer wrong', 'passed it on', 'cannot tell', 'no effect'] as const;

export interface JudgedMessage {
  /** Of a right answer, once this message is as it was. */
  readonly chance: number;
  readonly tries: number;
  /** Its sender speaks again instead. */
  readonly again: Effect;
  readonly replaced: Partial<Record<Replacement, Effect>>;
  readonly verdict: (typeof VERDICTS)[number];
}

/** Fresh tries at a message that is under suspicion. */
export interface Confirmation {
  /** Of the message, counted from 0. */
  readonly index: number;
  readonly kept: Tally;
  /** All before it is as it was, and its sender speaks again. */
  readonly before: Tally;
}

interface Thresholds {
  readonly alpha?: number;
  /** Changes of the chance that count as none. */
  readonly margin: number;
}

/** More candidates would each need stronger evidence, and more tries. */
const MAX_SUSPECTS = 3;
/** Who lowers the chance by less in the first tries is no suspect: two in five. */
const LEAST_SUSPECT_DIFFERENCE = 0.39;

/** Messages after which the chance is much lower than before them, by the first tries; those with the largest fall. */
export function findSuspects(outset: Tally, messages: readonly MessageTallies[]): number[] {
  return messages
    .map(({ kept }, index) => ({ index, ...compareChances(messages[index - 1]?.kept ?? outset, kept) }))
    .filter(({ difference, low }) => difference >= LEAST_SUSPECT_DIFFERENCE && low > -1)
    .sort((one, other) => other.difference - one.difference)
    .slice(0, MAX_SUSPECTS)
    .map(({ index }) => index);
}

/**
 * Verdicts over all messages of one question. A message made the answer wrong if its sender, in the same place, would say something with
 * which the answer has a better chance: that is the chance of a right answer with all messages before it as they were, less the chance with
 * this one as it was, too. It is 0 for whoever only passes on what is wrong already; the sum over all messages is the chance at the
 * outset less what it came to. Suspects are found in the first tries and convicted by fresh ones alone, so that the test needs correction for
 * the suspects only. `passed it on`: the truth in its place would mend the answer.
 *
 * @param outset branches in which nothing is as it was
 */
export function judge(
  outset: Tally,
  messages: readonly MessageTallies[],
  confirmations: readonly Confirmation[],
  { alpha = 0.05, margin }: Thresholds,
): JudgedMessage[] {
  const confirmed = testPairs(confirmations.map(({ kept, before }) => ({ kept, instead: before })));
  const replaced = REPLACEMENTS.map((name) => {
    const tried = messages.flatMap(({ kept, replaced: { [name]: instead } }, index) =>
      instead === undefined ? [] : [{ index, kept, instead }],
    );
    const effects = testPairs(tried);
    return { name, byMessage: new Map(tried.map(({ index }, i) => [index, effects[i]])) };
  });
  const isCalled = (effect: Effect | undefined) =>
    effect !== undefined && (effect.adjustedP ?? 1) < alpha && effect.low > 0;
  return messages.map(({ kept }, index) => {
    const ofMessage = replaced.flatMap(({ name, byMessage }) => {
      const effect = byMessage.get(index);
      return effect === undefined ? [] : [[name, effect] as const];
    });
    const at = confirmations.findIndex((confirmation) => confirmation.index === index);
    const again = confirmed[at] ?? computeEffect(kept, messages[index - 1]?.kept ?? outset, null);
    const truth = ofMessage.find(([name]) => name === 'truth')?.[1];
    const isSmall = ({ low, high }: Effect) => low > -margin && high < margin;
    const verdict = isCalled(again)
      ? 'made the answer wrong'
      : isCalled(truth)
        ? 'passed it on'
        : isSmall(again) && (truth === undefined || isSmall(truth))
          ? 'no effect'
          : 'cannot tell';
    const shown = confirmations[at]?.kept ?? kept;
    return {
      chance: computeChance(shown),
      tries: shown.tries,
      again,
      replaced: Object.fromEntries(ofMessage),
      verdict,
    };
  });
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

/** Messages that made the answer wrong, the one with the largest effect first. */
export function findCulprits<
  Judged extends Pick<JudgedMessage, 'verdict'> & { readonly again: Pick<Effect, 'difference'> },
>(messages: readonly Judged[]): Judged[] {
  return messages
    .filter(({ verdict }) => verdict === 'made the answer wrong')
    .sort((one, other) => other.again.difference - one.again.difference);
}
