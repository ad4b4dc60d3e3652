/** One step of a plan over tables; which fields it takes, {@link STEPS} says. */
export interface Step {
  readonly do: (typeof STEP_NAMES)[number];
  /** Columns; for `order` and `rank` with ` desc` behind them where it goes down. */
  readonly by?: readonly string[] | undefined;
  /** One formula, or several with commas between. */
  readonly formula?: string | undefined;
  /** Of the column that is made. */
  readonly name?: string | undefined;
  /** Rows: the first, or with a minus the last. */
  readonly rows?: number | undefined;
  readonly file?: string | undefined;
  readonly sheet?: string | undefined;
}

export const STEP_NAMES = [
  'where',
  'derive',
  'select',
  'group',
  'order',
  'rank',
  'difference',
  'pivot',
  'join',
  'left_join',
  'append',
  'count',
  'pick',
] as const;

export const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', 'contains'] as const;

export interface Condition {
  readonly column: string;
  readonly op: (typeof OPERATORS)[number];
  readonly value: string | number | boolean;
}
