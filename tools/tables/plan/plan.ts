/** One step of a plan over tables; what each field means depends on `do`. */
export interface Step {
  readonly do: (typeof STEP_NAMES)[number];
  /** Columns with commas between; for `order` and `rank` with ` desc` behind them where it goes down. */
  readonly by?: string | undefined;
  /** One formula, or several with commas between. */
  readonly formula?: string | undefined;
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

/** The formula that says what a list of conditions says: that all hold. */
export function formulaOf(conditions: readonly Condition[]): string {
  const constant = (value: Condition['value']) =>
    typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
  return conditions
    .map(({ column, op, value }) => `\`${column.replaceAll('`', '``')}\` ${op} ${constant(value)}`)
    .join(' and ');
}
