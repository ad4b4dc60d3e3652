import type { MeasuredMetric } from '../../statistics/thresholds.ts';
import type { TableView } from '../../terminal/table-view.ts';

export type Samples = readonly (readonly number[])[];

/** A comparison of adapters or stacks, in the form that conditions and saved baselines use. */
export interface Compared {
  readonly arms: readonly ComparedArm[];
  /** Returns the interval of the baseline against itself; undefined if the metric was not measured. ∞ is null. */
  nullArm(metric: MeasuredMetric): NullInterval | null | undefined;
  readonly margin: number;
  readonly environment: Readonly<Record<string, string | number | undefined>>;
  /** Properties, by their name, that two comparisons must share to be comparable. */
  readonly same: Readonly<Record<string, string | number>>;
  readonly said: ComparisonStatement;
}

interface NullInterval {
  readonly ratio: number;
  readonly low: number;
  readonly high: number | null;
}

interface ComparedArm {
  /** The arm's name in conditions. */
  readonly name: string;
  readonly bytes: number;
  /** Bytes beyond the payload. */
  readonly header: number;
  /** Returns the rounds of each invocation; empty if the metric was not measured. */
  samples(metric: MeasuredMetric): Samples;
}

/** The result of a comparison, for a comment on a pull request. */
interface ComparisonStatement {
  readonly title: string;
  readonly sentence: string;
  readonly warnings: readonly string[];
  readonly table: TableView;
  /** The traffic, the repetitions and the null test. */
  readonly played: string;
}
