import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { hasStore, type PlannedTeam } from '../plan/team-options.ts';
import type { Store } from '../store/store.ts';

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
export function checkStoreUse(teams: readonly PlannedTeam[], store: string | undefined): void {
  if (store === undefined || teams.some(usesStore)) return;
  const names = teams.map(({ team }) => team.name).join(', ');
  throw new MeshError(
    'usage',
    `--store has no effect: nothing of team ${names} is kept in it. It is for teams that learn (overseer) and for cached answers ` +
      '(bench --tasks … --cache; gaia without --no-cache and --repeat)',
  );
}

function usesStore({ team, usesCache }: PlannedTeam): boolean {
  return usesCache || hasStore(team);
}

/**
 * Opens the store if a team uses it, even if only agents do: a store that cannot be opened is no question's fault. Call this
 * before the journal is opened, so that a broken store does not move an earlier batch aside.
 *
 * @throws MeshError `store`
 */
export async function openBatchStore(place: string, teams: readonly PlannedTeam[]): Promise<BatchStore> {
  const said: string[] = [];
  let warn = (text: string): void => void said.push(text);
  let store: Store | undefined;
  if (teams.some(usesStore)) {
    const { openStore } = await import('../store/open-store.ts');
    store = await openStore(place, { warn: (text) => warn(text) });
  }
  return {
    cache: teams.some(({ usesCache }) => usesCache) ? store : undefined,
    onNotice(note) {
      warn = note;
      for (const text of said.splice(0)) note(text);
    },
    close: async () => store?.close(),
  };
}
