import { compareChances, type Tally, testFisher } from '../statistics/answers/independent-answers.ts';
import { adjustHolm } from '../statistics/inference/holm.ts';

/** Replacements of a message in a branch. */
export const REPLACEMENTS = ['truth', 'other', 'neutral'] as const;
export type Replacement = (typeof REPLACEMENTS)[number];

/** Right answers of the branches at one message. */
export interface MessageTallies {
  /** Results with the message as recorded and everything after it live. */
  readonly kept: Tally;
  /** Results with the message replaced; an entry is missing if the replacement cannot be made or was not tried. */
  readonly replaced: Partial<Record<Replacement, Tally>>;
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

export const VERDICTS = ['made the answer wrong', 'passed it on', 'cannot tell', 'no effect'] as const;

export interface JudgedMessage {
  /** Chance of a right answer once this message is as recorded. */
  readonly chance: number;
  readonly tries: number;
  /** Effect of letting its sender speak again. */
  readonly again: Effect;
  readonly replaced: Partial<Record<Replacement, Effect>>;
  readonly verdict: (typeof VERDICTS)[number];
}

/** Fresh tries at a suspected message. */
export interface Confirmation {
  /** Index of the message, counted from 0. */
  readonly index: number;
  readonly kept: Tally;
  /** Results with all earlier messages as recorded and the sender speaking again. */
  readonly before: Tally;
}

interface Thresholds {
  readonly alpha?: number;
  /** Largest change of the chance that counts as none. */
  readonly margin: number;
}

/** Maximum suspects. Each further one would require stronger evidence, and more tries. */
const MAX_SUSPECTS = 3;
/** Minimum loss of chance in the first tries that makes a message a suspect: two in five. */
const LEAST_SUSPECT_DIFFERENCE = 0.39;

/** Returns the indices of the messages with the largest losses of chance in the first tries. */
export function findSuspects(outset: Tally, messages: readonly MessageTallies[]): number[] {
  return messages
    .map(({ kept }, index) => ({ index, ...compareChances(messages[index - 1]?.kept ?? outset, kept) }))
    .filter(({ difference, low }) => difference >= LEAST_SUSPECT_DIFFERENCE && low > -1)
    .sort((one, other) => other.difference - one.difference)
    .slice(0, MAX_SUSPECTS)
    .map(({ index }) => index);
}

/**
 * Judges all messages of one question. A message made the answer wrong if its sender, speaking again in the same place, gives the
 * answer a better chance: the chance of a right answer with only the messages before it as recorded, minus the chance with this
 * one as recorded, too. The difference is 0 for a message that only passes on an earlier mistake; the sum over all messages is
 * the chance at the outset minus the final result. Suspects are found in the first tries and convicted by fresh ones alone, so
 * that the test needs correction for the suspects only. `passed it on` means that the truth in its place would mend the answer.
 *
 * @param outset branches in which no message is as recorded
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

/** Returns the messages that made the answer wrong, the one with the largest effect first. */
export function findCulprits<
  Judged extends Pick<JudgedMessage, 'verdict'> & { readonly again: Pick<Effect, 'difference'> },
>(messages: readonly Judged[]): Judged[] {
  return messages
    .filter(({ verdict }) => verdict === 'made the answer wrong')
    .sort((one, other) => other.again.difference - one.again.difference);
}
