import { createHash } from 'node:crypto';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import type { GaiaPlan } from '../plan/gaia-plan.ts';
import type { PlannedTeam } from '../plan/team-options.ts';
import type { Question } from '../questions/question.ts';
import { readCacheFile, writeCacheFile } from '../store/cache-file.ts';
import type { CacheKey, Store } from '../store/store.ts';

type TeamFingerprint = PlannedTeam['fingerprint'];

/** Longer lists of servers are named by their digest, since names in the store are bounded. */
const MAX_SERVERS_CHARACTERS = 100;

/**
 * Answers of earlier runs. Besides question and file hash, implementations put the team, its model and its prompts into the key
 * (C-11), so that a returned entry always belongs to this team.
 */
export interface TeamCache {
  get(question: Question): Promise<Pick<Attempt, 'final_answer' | 'reasoning_trace' | 'took'> | undefined>;
  /** Stores an answer. Once the promise is fulfilled, the entry survives a kill (RA-07). */
  put(question: Question, attempt: Attempt): Promise<void>;
}

/** Returns the store's table of answers as one team sees it: the key is question, file, team, model and prompts (C-11). */
export function createStoreCache(store: Store, team: string, fingerprint: TeamFingerprint): TeamCache {
  return {
    async get(question) {
      const key = buildCacheKey(question, team, fingerprint);
      const found = key === undefined ? undefined : await store.cachedAnswer(key);
      if (found === undefined) return undefined;
      return {
        final_answer: found.answer,
        reasoning_trace: `From the answer cache, where it was put at ${found.created_at}.`,
        took: found.took ?? undefined,
      };
    },
    async put(question, attempt) {
      const key = buildCacheKey(question, team, fingerprint);
      if (key !== undefined) await store.cacheAnswer(key, attempt.final_answer, getUse(attempt));
    },
  };
}

/** Returns undefined if the question's file is missing, since the answer might differ with it. */
function buildCacheKey(question: Question, team: string, fingerprint: TeamFingerprint): CacheKey | undefined {
  const { attachment, document } = question;
  if (attachment?.status === 'missing') return undefined;
  const text = document === undefined ? question.question : `${question.question}\n\n${document}`;
  return { question: text, fileHash: attachment?.sha256 ?? null, team, ...toKeyParts(fingerprint) };
}

/** Names the model by its server, too: models of one name on two servers are two models. */
function toKeyParts({
  model,
  promptVersion,
  servers,
}: TeamFingerprint): Pick<CacheKey, 'model' | 'promptVersion'> {
  if (servers === undefined) return { model, promptVersion };
  const at =
    servers.length <= MAX_SERVERS_CHARACTERS ? servers : createHash('sha256').update(servers).digest('hex');
  return { model: `${model} at ${at}`, promptVersion };
}

/**
 * Imports the plain `{question: answer}` file into the store's cache (RA-07, RA-09). Such a file names neither teams nor
 * attachments: its answers belong to the plan's only team, and questions with a file are skipped.
 *
 * @throws MeshError `store`
 */
export async function importCacheFile(
  plan: GaiaPlan,
  store: Store | undefined,
  note: (text: string) => void,
): Promise<void> {
  const { cacheFile } = plan;
  if (cacheFile === undefined || store === undefined) return;
  const { team, fingerprint } = requireOnlyTeam(plan);
  const withFile = new Set(
    plan.questions.flatMap(({ question, fileName }) => (fileName === undefined ? [] : [question])),
  );
  const answers = [...readCacheFile(cacheFile, note)].filter(
    ([question, answer]) => !withFile.has(question) && answer.trim() !== '',
  );
  await store.importCache(new Map(answers), (question) => ({
    question,
    fileHash: null,
    team: team.name,
    ...toKeyParts(fingerprint),
  }));
}

/** Writes the cached answers of the plan's team to the plain file. */
export async function exportCacheFile(plan: GaiaPlan, store: Store | undefined): Promise<void> {
  const { cacheFile } = plan;
  if (cacheFile === undefined || store === undefined) return;
  const { team, fingerprint } = requireOnlyTeam(plan);
  writeCacheFile(cacheFile, await store.exportCache({ team: team.name, ...toKeyParts(fingerprint) }));
}

function requireOnlyTeam({ teams }: GaiaPlan): GaiaPlan['teams'][number] {
  const [only] = teams;
  if (only === undefined || teams.length > 1)
    throw new Error('a cache file with several teams is refused before');
  return only;
}
