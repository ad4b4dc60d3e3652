import { hasStore, type PlannedTeam } from '../plan/team-options.ts';
import type { Store } from '../store/store.ts';

/** Options of the command line about the cache. */
interface CacheUse {
  readonly cache?: boolean;
  readonly repeat: number;
}

/** The store that a batch and its agents use. */
export interface BatchStore {
  /** Undefined if no team takes answers from it. */
  readonly cache: Store | undefined;
  /** Passes the store's notices to `note`, including the ones from before the call. */
  onNotice(note: (text: string) => void): void;
  close(): Promise<void>;
}

/**
 * Opens the store if a team uses it, even if only agents do: a store that cannot be opened is no question's fault. Call this
 * before the journal is opened, so that a broken store does not move an earlier batch aside.
 *
 * @throws MeshError `store`
 */
export async function openBatchStore(
  place: string,
  teams: readonly PlannedTeam[],
  use: CacheUse,
): Promise<BatchStore> {
  const said: string[] = [];
  let warn = (text: string): void => void said.push(text);
  const isCache = teams.some((planned) => canUseCache(planned, use));
  const isAgents = teams.some(({ team }) => hasStore(team));
  let store: Store | undefined;
  if (isCache || isAgents) {
    const { openStore } = await import('../store/open-store.ts');
    store = await openStore(place, { warn: (text) => warn(text) });
  }
  return {
    cache: isCache ? store : undefined,
    onNotice(note) {
      warn = note;
      for (const text of said.splice(0)) note(text);
    },
    close: async () => store?.close(),
  };
}

/** Tells if a team may take answers of earlier runs. Repeated questions may not, because they could not improve (C-11). */
export function canUseCache({ team }: PlannedTeam, { cache, repeat }: CacheUse): boolean {
  return cache === true && team.use_cache && repeat === 1;
}
