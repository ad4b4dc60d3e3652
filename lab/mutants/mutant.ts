/** A bug to plant: `find` stands once in `file`; one of `tests` must fail when `put` stands there. */
export interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** What it breaks, in words. */
  readonly breaks: string;
  readonly tests: readonly string[];
}
