import { hasStore, type PlannedTeam } from '../plan/team-options.ts';
import type { Store } from '../store/store.ts';

/** What the command line says of the cache. */
interface CacheUse {
  readonly cache?: boolean;
  readonly repeat: number;
}

/** The store that a batch and its agents work with. */
export interface BatchStore {
  /** Undefined where no team takes answers from it. */
  readonly cache: Store | undefined;
  /** Hears what it has to say, also what it said before. */
  onNotice(note: (text: string) => void): void;
  close(): Promise<void>;
}

/**
 * Opens the store, where a team uses it. Call it before the journal is begun: a store that cannot be opened must not put an earlier
 * batch aside. It is opened also where only agents use it, since one that cannot be opened is no question's fault.
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

/** Whether a team may take answers of earlier runs; repeated questions could not improve (C-11). */
export function canUseCache({ team }: PlannedTeam, { cache, repeat }: CacheUse): boolean {
  return cache === true && team.use_cache && repeat === 1;
}
