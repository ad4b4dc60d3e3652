/** A bug to plant: `find` occurs once in `file`; one of `tests` must fail when `put` replaces it. */
export interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** The consequence of the bug, in words. */
  readonly breaks: string;
  readonly tests: readonly string[];
}
