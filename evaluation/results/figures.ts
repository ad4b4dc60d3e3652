import { sumOfKnown } from '@gaia-mesh/core/contracts/usage.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import { computeWilson } from '../statistics/inference/confidence.ts';

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
 * ones count as wrong (OV-44). The resources are those of this run, in which answers from the cache took nothing.
 */
export interface Figures extends ResourceUse {
  readonly questions: number;
  readonly answered: number;
  readonly failed: number;
  readonly timeout: number;
  readonly not_asked: number;
  readonly cached: number;
  /** What answers from the cache took when they were asked; null where one is not known, and undefined without any. */
  readonly cached_use?: ResourceUse | undefined;
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

const UNKNOWN_USE: ResourceUse = { tokens: null, cost: null, packets: null, bytes: null, seconds: null };

/**
 * Returns what answers took, for a table of costs, in total and per right answer: in this run, and those from the cache when they were
 * asked. Where the latter is not known, answers from the cache are left out; if there are no others, all is unknown.
 */
export function findKnownUse(figures: Figures): {
  readonly total: ResourceUse;
  readonly perRight: ResourceUse;
  readonly hasCached: boolean;
} {
  const { cached, cached_use, correct, questions, not_asked, per_correct } = figures;
  const isAllCached = cached > 0 && cached === questions - not_asked;
  // Packets are counted for every attempt, so that only an attempt without any figures leaves them unknown.
  if (cached_use === undefined || cached_use.packets === null)
    return { total: isAllCached ? UNKNOWN_USE : figures, perRight: per_correct, hasCached: false };
  const total = addUse(figures, cached_use);
  return { total, perRight: divideUse(total, correct), hasCached: true };
}

function addUse(a: ResourceUse, b: ResourceUse): ResourceUse {
  return {
    tokens: sumOfKnown(a.tokens, b.tokens),
    cost: sumOfKnown(a.cost, b.cost),
    packets: sumOfKnown(a.packets, b.packets),
    bytes: sumOfKnown(a.bytes, b.bytes),
    seconds: sumOfKnown(a.seconds, b.seconds),
  };
}

function divideUse({ tokens, cost, packets, bytes, seconds }: ResourceUse, by: number): ResourceUse {
  const each = (sum: number | null) => (sum === null || by === 0 ? null : sum / by);
  return {
    tokens: each(tokens),
    cost: each(cost),
    packets: each(packets),
    bytes: each(bytes),
    seconds: each(seconds),
  };
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
  #cachedUse: ResourceUse | undefined;

  /** @param isScored true if the question has a known answer; a question that was not asked has no result that would show it */
  add(result: Attempt | undefined, isScored: boolean): void {
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
      const took = result.took ?? UNKNOWN_USE;
      this.#cachedUse = this.#cachedUse === undefined ? took : addUse(this.#cachedUse, took);
      return;
    }
    if (result.correct === true) this.#correctFresh += 1;
    const use = getUse(result);
    this.#tokens = sumOfKnown(this.#tokens, use.tokens);
    this.#cost = sumOfKnown(this.#cost, use.cost);
    this.#packets += use.packets;
    this.#bytes += use.bytes;
    this.#seconds += use.seconds;
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
    return {
      questions: this.#questions,
      ...this.#status,
      not_asked: this.#notAsked,
      cached: this.#cached,
      cached_use: this.#cachedUse,
      scored: this.#scored,
      correct: this.#correct,
      accuracy: isScored ? this.#correct / this.#scored : null,
      low: isScored ? low : null,
      high: isScored ? high : null,
      correct_lenient: this.#correctLenient,
      ...taken,
      per_correct: divideUse(taken, this.#correctFresh),
    };
  }
}
