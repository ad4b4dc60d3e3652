import type { openStore } from '../open-store.ts';
import type { Store } from '../store.ts';

/** The environment in which a back end keeps the stores of its tests. */
export interface ContractPlace {
  /** Returns the URL of an empty store. */
  fresh(): Promise<string>;
  /** Runs SQL on the store at `url` without the store's code, as another program would. */
  execute(url: string, sql: string): Promise<void>;
  /** Characters of the largest trace, if the test's server is too slow for the true bound. */
  readonly largestTrace?: number;
}

/** The store of the running test. */
export interface StoreUnderTest {
  url: string;
  readonly store: Store;
  /** Opens the store once more. */
  readonly open: (options?: Partial<Parameters<typeof openStore>[1]>) => Promise<Store>;
}
