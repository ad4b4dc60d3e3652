import { userPath } from '../../config/user-paths.ts';
import { readCacheFile, writeCacheFile } from '../../store/cache-file.ts';
import type { Store } from '../../store/store.ts';
import type { GaiaOptions, GaiaPlan } from './gaia-plan.ts';

/**
 * Takes the plain `{question: answer}` file into the store's cache (RA-07, RA-09). Such a file knows neither teams nor files of
 * questions: it is one team's, and answers of questions with a file are not taken from it.
 *
 * @throws MeshError `store`
 */
export async function importCacheFile(
  plan: GaiaPlan,
  { cacheFile }: GaiaOptions,
  store: Store | undefined,
  note: (text: string) => void,
): Promise<void> {
  if (cacheFile === undefined || store === undefined) return;
  const { team, setup } = onlyTeam(plan);
  const withFile = new Set(
    plan.questions.flatMap(({ question, fileName }) => (fileName === undefined ? [] : [question])),
  );
  const answers = [...readCacheFile(userPath(cacheFile), note)].filter(
    ([question, answer]) => !withFile.has(question) && answer.trim() !== '',
  );
  await store.importCache(new Map(answers), (question) => ({
    question,
    fileHash: null,
    team: team.name,
    ...setup,
  }));
}

/** Writes the cache of the plan's team to the plain file. */
export async function exportCacheFile(
  plan: GaiaPlan,
  { cacheFile }: GaiaOptions,
  store: Store | undefined,
): Promise<void> {
  if (cacheFile === undefined || store === undefined) return;
  const { team, setup } = onlyTeam(plan);
  writeCacheFile(userPath(cacheFile), await store.exportCache({ team: team.name, ...setup }));
}

function onlyTeam({ teams }: GaiaPlan): GaiaPlan['teams'][number] {
  const [only] = teams;
  if (only === undefined || teams.length > 1)
    throw new Error('a cache file with several teams is refused before');
  return only;
}
