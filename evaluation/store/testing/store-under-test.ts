import type { StoreOptions } from '../open-store.ts';
import type { Store } from '../store.ts';

/** Where a back end keeps the stores of its tests. */
export interface ContractPlace {
  /** The URL of a store that is empty. */
  fresh(): Promise<string>;
  /** Runs SQL on the store at `url` beside the store's code, as another program would. */
  execute(url: string, sql: string): Promise<void>;
  /** Characters of the largest trace, where the test's server is too slow for the true bound. */
  readonly largestTrace?: number;
  /** The schema's versions, as SQL. */
  readonly steps: readonly string[];
}

/** The store of the test that is on. */
export interface StoreUnderTest {
  url: string;
  readonly store: Store;
  /** Opens it once more. */
  readonly open: (options?: Partial<StoreOptions>) => Promise<Store>;
}
