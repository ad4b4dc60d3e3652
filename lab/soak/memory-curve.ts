import v8 from 'node:v8';
import vm from 'node:vm';

/** Memory counts as settled after the first minute; of a run shorter than two, after half of it. */
const SETTLED_PART = 0.5;
const SETTLED_SECONDS = 60;
/** Memory of a run that lasts must not grow by more. */
export const MAX_GROWTH = 0.1;

export interface MemoryGrowth {
  /** Bytes at rest, when memory had settled and at the end, and by which part of the first it grew. */
  readonly early: number;
  readonly late: number;
  readonly growth: number;
  /** The most that was seen under load. */
  readonly peak: number;
}

/**
 * The resident memory of this process over a run. It is compared at rest, between rounds and with the garbage collected: under load
 * it says how much garbage there was at that moment, and hides what is really kept.
 */
export class MemoryCurve {
  readonly #atRest: { readonly seconds: number; readonly bytes: number }[] = [];
  readonly #startMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #collect = findCollector();
  #peak = 0;

  constructor(everyMs: number) {
    this.#timer = setInterval(() => {
      this.#peak = Math.max(this.#peak, process.memoryUsage.rss());
    }, everyMs);
  }

  /** Call it when nothing is going on. */
  rest(): void {
    this.#collect();
    this.note(process.memoryUsage.rss(), (performance.now() - this.#startMs) / 1000);
  }

  note(bytes: number, seconds: number): void {
    this.#atRest.push({ bytes, seconds });
    this.#peak = Math.max(this.#peak, bytes);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  growth(): MemoryGrowth {
    const last = this.#atRest.at(-1);
    const from = Math.min(SETTLED_PART * (last?.seconds ?? 0), SETTLED_SECONDS);
    const early = this.#atRest.find(({ seconds }) => seconds >= from)?.bytes ?? 0;
    const late = last?.bytes ?? 0;
    return { early, late, growth: early === 0 ? 0 : late / early - 1, peak: this.#peak };
  }
}

/** Node gives its collector to those who ask for it at the start; a context that is made later has it, too. */
function findCollector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  const collect: unknown = vm.runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  // Of the last resort: the collector also gives back the pages that it would keep for later.
  return typeof collect === 'function'
    ? () => collect({ type: 'major', flavor: 'last-resort' })
    : () => undefined;
}
