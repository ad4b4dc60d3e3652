import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import type { GaiaOptions, GaiaPlan } from '../plan/gaia-plan.ts';
import type { TeamFingerprint } from '../plan/team-options.ts';
import type { Question } from '../questions/question.ts';
import { readCacheFile, writeCacheFile } from '../store/cache-file.ts';
import type { CacheKey } from '../store/cache-key.ts';
import type { Store } from '../store/store.ts';

/**
 * Answers of earlier runs. Team, model and prompts are part of the key of whoever implements it, beside question and file hash
 * (C-11): an entry that comes back is this team's own.
 */
export interface TeamCache {
  get(question: Question): Promise<CachedAnswer | undefined>;
  /** In the store when the promise is fulfilled: it survives a kill (RA-07). */
  put(question: Question, answer: CachedAnswer): Promise<void>;
}

export interface CachedAnswer {
  readonly finalAnswer: string;
  readonly rawAnswer: string | null;
  readonly reasoningTrace: string;
}

/** The store's table of answers as one team sees it: its key is question, file, team, model and prompts (C-11). */
export function createStoreCache(store: Store, team: string, fingerprint: TeamFingerprint): TeamCache {
  return {
    async get(question) {
      const key = buildCacheKey(question, team, fingerprint);
      const found = key === undefined ? undefined : await store.cachedAnswer(key);
      if (found === undefined) return undefined;
      const reasoningTrace = `From the answer cache, where it was put at ${found.created_at}.`;
      return { finalAnswer: found.answer, rawAnswer: null, reasoningTrace };
    },
    async put(question, { finalAnswer }) {
      const key = buildCacheKey(question, team, fingerprint);
      if (key !== undefined) await store.cacheAnswer(key, finalAnswer);
    },
  };
}

/** Undefined where the answer depends on a file that was not there: with it, it may be another. */
function buildCacheKey(question: Question, team: string, fingerprint: TeamFingerprint): CacheKey | undefined {
  const { attachment, document } = question;
  if (attachment?.status === 'missing') return undefined;
  const text = document === undefined ? question.question : `${question.question}\n\n${document}`;
  return { question: text, fileHash: attachment?.sha256 ?? null, team, ...fingerprint };
}

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
  const { team, setup } = requireOnlyTeam(plan);
  const withFile = new Set(
    plan.questions.flatMap(({ question, fileName }) => (fileName === undefined ? [] : [question])),
  );
  const answers = [...readCacheFile(resolveUserPath(cacheFile), note)].filter(
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
  const { team, setup } = requireOnlyTeam(plan);
  writeCacheFile(resolveUserPath(cacheFile), await store.exportCache({ team: team.name, ...setup }));
}

function requireOnlyTeam({ teams }: GaiaPlan): GaiaPlan['teams'][number] {
  const [only] = teams;
  if (only === undefined || teams.length > 1)
    throw new Error('a cache file with several teams is refused before');
  return only;
}
