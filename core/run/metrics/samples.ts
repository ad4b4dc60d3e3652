/** Maximum values that are kept; 800 KB. */
const MAX_SAMPLES = 100_000;

/**
 * Collects measured values. Past a bound it keeps every second, fourth, … value so that memory stays flat.
 */
export class Samples {
  readonly #values: number[] = [];
  #count = 0;
  #stride = 1;

  add(value: number): void {
    if (this.#count % this.#stride === 0) this.#values.push(value);
    this.#count += 1;
    if (this.#values.length >= MAX_SAMPLES) {
      for (let i = 0; i * 2 < this.#values.length; i++) this.#values[i] = this.#values[i * 2] ?? 0;
      this.#values.length = Math.ceil(this.#values.length / 2);
      this.#stride *= 2;
    }
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Returns the value below which a fraction `p` of the samples lies (nearest rank), or null if there are too
   * few samples: p95 needs 20, p99 100, p99.9 1000.
   */
  percentile(p: number): number | null {
    const n = this.#values.length;
    if (n === 0 || (p > 0.5 && n < Math.round(1 / (1 - p)))) return null;
    const sorted = Float64Array.from(this.#values).sort();
    return sorted[Math.max(0, Math.ceil(p * n) - 1)] ?? null;
  }
}
