import type { CacheKey } from '../../store/cache-key.ts';
import type { Store } from '../../store/store.ts';
import type { Question } from './question.ts';
import type { TeamCache } from './team-cache.ts';
import type { TeamSetup } from './team-setup.ts';

/** The store's table of answers as one team sees it: its key is question, file, team, model and prompts (C-11). */
export function storeCache(store: Store, team: string, setup: TeamSetup): TeamCache {
  return {
    async get(question) {
      const key = cacheKey(question, team, setup);
      const found = key === undefined ? undefined : await store.cachedAnswer(key);
      if (found === undefined) return undefined;
      const reasoningTrace = `From the answer cache, where it was put at ${found.created_at}.`;
      return { finalAnswer: found.answer, rawAnswer: null, reasoningTrace };
    },
    async put(question, { finalAnswer }) {
      const key = cacheKey(question, team, setup);
      if (key !== undefined) await store.cacheAnswer(key, finalAnswer);
    },
  };
}

/** Undefined where the answer depends on a file that was not there: with it, it may be another. */
function cacheKey(question: Question, team: string, setup: TeamSetup): CacheKey | undefined {
  const { attachment, document } = question;
  if (attachment?.status === 'missing') return undefined;
  const text = document === undefined ? question.question : `${question.question}\n\n${document}`;
  return { question: text, fileHash: attachment?.sha256 ?? null, team, ...setup };
}
