import type { AskedCondition } from './asked-condition.ts';

/** What is to be calculated from the rows that hold all conditions. */
export type TablePlan = { readonly where: readonly AskedCondition[] } & (
  | { readonly ask: 'count' }
  | { readonly ask: 'count_distinct' | 'sum' | 'mean' | 'median' | 'min' | 'max'; readonly column: string }
  | { readonly ask: 'list' | 'lookup'; readonly column: string }
  /** The rows in the order of `by`, from one end: of the `rank`-th, or the first `count`, the value in `column`. */
  | {
      readonly ask: 'ranked';
      readonly by: string;
      readonly end: 'max' | 'min';
      readonly rank: number;
      readonly count: number;
      readonly column: string;
    }
  /** Rows are put together by `column`; the group whose `fold` of `by` (or number of rows) is at the end of the scale. */
  | {
      readonly ask: 'group';
      readonly column: string;
      readonly by: string | undefined;
      readonly fold: 'sum' | 'mean';
      readonly end: 'max' | 'min';
    }
  /** Between two groups of `split.column`. */
  | {
      readonly ask: 'difference';
      readonly column: string | undefined;
      readonly fold: Fold;
      readonly split: AskedCondition;
    }
  /** The largest less the smallest. */
  | { readonly ask: 'range'; readonly column: string }
  /** Of the rows (or the sum of `column`) without `part`, the percentage that holds it, too. */
  | { readonly ask: 'share'; readonly column: string | undefined; readonly part: readonly AskedCondition[] }
);

export type Fold = 'sum' | 'mean' | 'median' | 'min' | 'max';
