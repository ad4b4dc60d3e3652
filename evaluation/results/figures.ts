import { sumOfKnown } from '@gaia-mesh/core/contracts/usage.ts';
import { computeWilson } from '../statistics/inference/confidence.ts';
import type { GaiaResult } from './gaia-result.ts';

/**
 * Resources that answers took. `cost` is in US dollars, null if a price is not known; `bytes` are counted on the wire; time is in
 * seconds.
 */
export interface ResourceUse {
  readonly tokens: number | null;
  readonly cost: number | null;
  readonly packets: number | null;
  readonly bytes: number | null;
  readonly seconds: number | null;
}

/**
 * Score and cost of a group of questions. The denominator is every question with a known answer: failed, timed-out and unasked
 * ones count as wrong (OV-44). Answers from the cache are marked, and took nothing.
 */
export interface Figures extends ResourceUse {
  readonly questions: number;
  readonly answered: number;
  readonly failed: number;
  readonly timeout: number;
  readonly not_asked: number;
  readonly cached: number;
  /** Questions whose true answer is known. */
  readonly scored: number;
  readonly correct: number;
  /** Share of right answers among the scored questions, by the official scorer; null if none is scored. */
  readonly accuracy: number | null;
  /** Bounds of its 95 % interval (Wilson). */
  readonly low: number | null;
  readonly high: number | null;
  readonly correct_lenient: number;
  /** Resources per correct answer that did not come from the cache; null if there is none. */
  readonly per_correct: ResourceUse;
}

/**
 * Returns what answers took, for a table of costs. The cache keeps answers and not what they took when they were asked: if all are from it,
 * that is unknown, and not the nothing that this run took.
 */
export function findKnownUse(figures: Figures): ResourceUse {
  const { cached, questions, not_asked } = figures;
  const isAllCached = cached > 0 && cached === questions - not_asked;
  return isAllCached ? { tokens: null, cost: null, packets: null, bytes: null, seconds: null } : figures;
}

/** Adds up results. Its memory does not grow with their number. */
export class FiguresSum {
  #questions = 0;
  readonly #status = { answered: 0, failed: 0, timeout: 0 };
  #notAsked = 0;
  #cached = 0;
  #scored = 0;
  #correct = 0;
  #correctLenient = 0;
  #correctFresh = 0;
  #tokens: number | null = 0;
  #cost: number | null = 0;
  #packets = 0;
  #bytes = 0;
  #seconds = 0;

  /** @param isScored true if the question has a known answer; a question that was not asked has no result that would show it */
  add(result: GaiaResult | undefined, isScored: boolean): void {
    this.#questions += 1;
    if (isScored) this.#scored += 1;
    if (result === undefined) {
      this.#notAsked += 1;
      return;
    }
    this.#status[result.status] += 1;
    if (result.correct === true) this.#correct += 1;
    if (result.correct_lenient === true) this.#correctLenient += 1;
    if (result.cached) {
      this.#cached += 1;
      return;
    }
    if (result.correct === true) this.#correctFresh += 1;
    this.#tokens = sumOfKnown(this.#tokens, result.tokens);
    this.#cost = sumOfKnown(this.#cost, result.cost);
    this.#packets += result.packets;
    this.#bytes += result.bytes;
    this.#seconds += result.seconds;
  }

  figures(): Figures {
    const { low, high } = computeWilson(this.#correct, this.#scored);
    const isScored = this.#scored > 0;
    const taken = {
      tokens: this.#tokens,
      cost: this.#cost,
      packets: this.#packets,
      bytes: this.#bytes,
      seconds: Math.round(this.#seconds * 1e6) / 1e6,
    };
    const each = (sum: number | null) =>
      sum === null || this.#correctFresh === 0 ? null : sum / this.#correctFresh;
    return {
      questions: this.#questions,
      ...this.#status,
      not_asked: this.#notAsked,
      cached: this.#cached,
      scored: this.#scored,
      correct: this.#correct,
      accuracy: isScored ? this.#correct / this.#scored : null,
      low: isScored ? low : null,
      high: isScored ? high : null,
      correct_lenient: this.#correctLenient,
      ...taken,
      per_correct: {
        tokens: each(taken.tokens),
        cost: each(taken.cost),
        packets: each(taken.packets),
        bytes: each(taken.bytes),
        seconds: each(taken.seconds),
      },
    };
  }
}
