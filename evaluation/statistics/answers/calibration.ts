/** Calibration of the stated chances, and accuracy of the surer answers. */
export interface CalibrationFigures {
  /** Share of all questions that have an answer. */
  readonly coverage: number;
  /** Share of the given answers that are right; null without any. */
  readonly accuracy_of_given: number | null;
  /** Accuracy of the surest answers, as many as half of all questions; null if fewer were given. */
  readonly accuracy_at_half: number | null;
  /** Mean distance of chance and accuracy over ten bins, weighted by their answers (Naeini et al. 2015); null without any. */
  readonly expected_calibration_error: number | null;
}

/** Bins of chances: fine enough to order answers by chance, and memory does not grow with the number of answers. */
const BINS = 1000;
const WIDE_BINS = 10;

interface Bin {
  given: number;
  right: number;
  chances: number;
}

/** Accumulates answers and their stated chances. */
export class Calibration {
  readonly #bins = Array.from({ length: BINS }, (): Bin => ({ given: 0, right: 0, chances: 0 }));
  #questions = 0;

  /** @param chance undefined if there is no answer */
  add(chance: number | undefined, isRight: boolean): void {
    this.#questions += 1;
    const bin = chance === undefined ? undefined : this.#bins[Math.min(BINS - 1, Math.floor(chance * BINS))];
    if (bin === undefined) return;
    bin.given += 1;
    bin.right += isRight ? 1 : 0;
    bin.chances += chance ?? 0;
  }

  figures(): CalibrationFigures {
    const all = sumBins(this.#bins);
    return {
      coverage: this.#questions === 0 ? 0 : all.given / this.#questions,
      accuracy_of_given: all.given === 0 ? null : all.right / all.given,
      accuracy_at_half: this.#accuracyOf(this.#questions / 2),
      expected_calibration_error: all.given === 0 ? null : this.#error(all.given),
    };
  }

  /**
   * Returns the accuracy of the `wanted` surest answers. In the bin where that number is reached, every answer has the same partial weight.
   */
  #accuracyOf(wanted: number): number | null {
    let left = wanted;
    let right = 0;
    for (const bin of this.#bins.toReversed()) {
      right += bin.right * Math.min(1, left / bin.given);
      left -= bin.given;
      if (left <= 0) return wanted === 0 ? null : right / wanted;
    }
    return null;
  }

  #error(given: number): number {
    const width = BINS / WIDE_BINS;
    const wide = Array.from({ length: WIDE_BINS }, (_, at) =>
      sumBins(this.#bins.slice(at * width, (at + 1) * width)),
    );
    return wide.reduce((sum, { chances, right }) => sum + Math.abs(chances - right), 0) / given;
  }
}

function sumBins(bins: readonly Bin[]): Bin {
  return bins.reduce(
    (sum, { given, right, chances }) => ({
      given: sum.given + given,
      right: sum.right + right,
      chances: sum.chances + chances,
    }),
    { given: 0, right: 0, chances: 0 },
  );
}
