import v8 from 'node:v8';
import vm from 'node:vm';

/** Memory counts as settled after the first minute; in a run shorter than two minutes, after half of it. */
const SETTLED_PART = 0.5;
const SETTLED_SECONDS = 60;
/** Maximum growth of memory in a run that lasts, as a fraction. */
export const MAX_GROWTH = 0.1;

export interface MemoryGrowth {
  /** Bytes at rest when memory had settled and at the end, and the growth as a fraction of the first. */
  readonly early: number;
  readonly late: number;
  readonly growth: number;
  /** Maximum that was seen under load. */
  readonly peak: number;
}

/**
 * The resident memory of this process over a run. It is compared at rest, between rounds and after garbage
 * collection: under load it shows the garbage of that moment, and hides the memory that is really kept.
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

  /** Takes a measurement at rest; call it when nothing is going on. */
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

/**
 * Returns Node's garbage collector. Node exposes it by a flag at the start; a context created after setting
 * the flag has it, too.
 */
function findCollector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  const collect: unknown = vm.runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  // The last-resort flavour also gives back pages that the collector would keep for later.
  return typeof collect === 'function'
    ? () => collect({ type: 'major', flavor: 'last-resort' })
    : () => undefined;
}
