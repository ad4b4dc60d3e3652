import type { Failure, FuzzTarget } from './target.ts';

export interface TargetReport {
  readonly name: string;
  readonly runs: number;
  readonly seconds: number;
  readonly failure: Failure | null;
}

export interface CampaignOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly signal: AbortSignal;
}

/** Cases of a target at a time: few, so that the slowest of them does not hold the others up for long. */
const BATCH_RUNS = 40;

/** Seeds are whole numbers from 0, below this. */
export const SEEDS = 2 ** 31;

/**
 * Fuzzes all targets for `minutes` in all. Whose turn it is has had the least time; each has one turn at least. The n-th batch of every
 * target has the n-th seed: the same seed gives the same cases, however long it goes on. A target that fails is done.
 */
export async function campaign(
  targets: readonly FuzzTarget[],
  { seed, minutes, signal }: CampaignOptions,
): Promise<TargetReport[]> {
  const endMs = performance.now() + minutes * 60_000;
  const turns = targets.map((target) => new Turns(target, seed));
  for (;;) {
    if (signal.aborted) break;
    const open = turns.filter((turn) => turn.failure === null);
    const next = open.reduce<Turns | undefined>(
      (least, turn) => (least === undefined || turn.spentMs < least.spentMs ? turn : least),
      undefined,
    );
    if (next === undefined || (performance.now() > endMs && next.batches > 0)) break;
    await next.take();
  }
  return turns.map((turn) => turn.report());
}

/** One case of `target` and its shrinking, as a failure named it. */
export async function replayed(target: FuzzTarget, seed: number, path: string): Promise<TargetReport> {
  const beganMs = performance.now();
  const { runs, failure } = await target.fuzz({ seed, runs: 1, path });
  return { name: target.name, runs, seconds: Math.round(performance.now() - beganMs) / 1000, failure };
}

class Turns {
  readonly #target: FuzzTarget;
  readonly #seed: number;
  #runs = 0;
  spentMs = 0;
  batches = 0;
  failure: Failure | null = null;

  constructor(target: FuzzTarget, seed: number) {
    this.#target = target;
    this.#seed = seed;
  }

  async take(): Promise<void> {
    const beganMs = performance.now();
    const seed = (this.#seed + this.batches) % SEEDS;
    const { runs, failure } = await this.#target.fuzz({ seed, runs: BATCH_RUNS });
    this.batches += 1;
    this.#runs += runs;
    this.failure = failure;
    this.spentMs += performance.now() - beganMs;
  }

  report(): TargetReport {
    const seconds = Math.round(this.spentMs) / 1000;
    return { name: this.#target.name, runs: this.#runs, seconds, failure: this.failure };
  }
}
