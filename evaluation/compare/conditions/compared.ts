import type { MeasuredMetric } from '../../statistics/thresholds.ts';
import type { TableView } from '../../terminal/table-view.ts';

export type Samples = readonly (readonly number[])[];

/** What a comparison, of adapters or of stacks, is to whoever holds it to conditions, or to one that was saved. */
export interface Compared {
  readonly arms: readonly ComparedArm[];
  readonly margin: number;
  readonly environment: Readonly<Record<string, string | number | undefined>>;
  /** What two comparisons have to have in common to say anything about each other, by what it is called. */
  readonly same: Readonly<Record<string, string | number>>;
  readonly said: ComparisonStatement;
}

interface ComparedArm {
  /** As conditions call it. */
  readonly name: string;
  readonly bytes: number;
  /** What of them is neither payload nor a saving. */
  readonly header: number;
  /** By invocation, its rounds; empty for what was not measured. */
  samples(metric: MeasuredMetric): Samples;
}

/** What a comparison comes to, for a comment under a pull request. */
interface ComparisonStatement {
  readonly title: string;
  readonly sentence: string;
  readonly warnings: readonly string[];
  readonly table: TableView;
  /** What was played, and the null test. */
  readonly played: string;
}
