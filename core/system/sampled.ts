/** Told one after the other before the rest is sampled. */
const BURST = 20;
const EVERY_MS = 1000;

/**
 * Which of many like events are worth a line: the first twenty, and then one a second, so that who causes them as often as they like
 * fills neither a log nor a terminal.
 */
export class Sampled {
  #burst = BURST;
  #lastMs = Number.NEGATIVE_INFINITY;
  #untold = 0;

  /** Undefined for an event that gets no line; else how many before it got none. */
  next(nowMs = performance.now()): number | undefined {
    if (this.#burst > 0) this.#burst -= 1;
    else if (nowMs - this.#lastMs < EVERY_MS) {
      this.#untold += 1;
      return undefined;
    }
    this.#lastMs = nowMs;
    const untold = this.#untold;
    this.#untold = 0;
    return untold;
  }
}
