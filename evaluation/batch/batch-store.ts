import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { hasStore, type PlannedTeam } from '../plan/team-options.ts';
import type { Store } from '../store/store.ts';

/** Options of the command line about the store. */
interface CacheUse {
  readonly store?: string | undefined;
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
 * Refuses a store that nothing would be read from or written to.
 *
 * @throws MeshError `usage`
 */
export function checkStoreUse(teams: readonly PlannedTeam[], use: CacheUse): void {
  if (use.store === undefined || usesStore(teams, use)) return;
  const names = teams.map(({ team }) => team.name).join(', ');
  throw new MeshError(
    'usage',
    `--store has no effect: nothing of team ${names} is kept in it. It is for teams that learn (overseer) and for cached answers ` +
      '(bench --tasks … --cache; gaia without --no-cache and --repeat)',
  );
}

function usesStore(teams: readonly PlannedTeam[], use: CacheUse): boolean {
  return teams.some((planned) => canUseCache(planned, use) || hasStore(planned.team));
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
  let store: Store | undefined;
  if (usesStore(teams, use)) {
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
