/** Which rows the question is about. A row has to hold all conditions. */
export interface AskedCondition {
  readonly column: string;
  readonly op: 'in' | 'not in' | '<' | '<=' | '>' | '>=' | '=' | 'contains';
  readonly values: readonly (string | number)[];
  /** Where the question says it. */
  readonly start: number;
  readonly end: number;
}
