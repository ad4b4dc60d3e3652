/** Number of events that are reported individually before the rest is sampled. */
const BURST = 20;
const EVERY_MS = 1000;

/**
 * Selects which of many similar events deserve a log line: the first twenty, and then one per second, so that
 * an endless cause fills neither a log nor a terminal.
 */
export class Sampled {
  #burst = BURST;
  #lastMs = Number.NEGATIVE_INFINITY;
  #untold = 0;

  /**
   * Returns undefined for an event without a line, otherwise the number of events without one since the last
   * line.
   */
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
