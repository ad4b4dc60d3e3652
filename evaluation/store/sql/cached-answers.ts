import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import {
  createNameSchema,
  createTextSchema,
  MAX_ID_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_TEXT_CHARACTERS,
  toStorable,
} from '@gaia-mesh/tools/roles/memory/storable.ts';
import * as z from 'zod';
import { answerUseSchema } from '../answer-use.ts';
import { type CacheKey, hashCacheKey } from '../cache-key.ts';
import type { Store } from '../store.ts';
import { parseJsonCell, parseStorable, type StoreContext } from './tables.ts';

/** Answers per import statement: 4,000 of at most 32,766 parameters that SQLite accepts. */
const IMPORT_BATCH = 500;

const entrySchema = z.strictObject({
  key: z.strictObject({
    question: createNameSchema(MAX_TEXT_CHARACTERS),
    fileHash: createNameSchema(MAX_ID_CHARACTERS).nullable(),
    team: createNameSchema(MAX_NAME_CHARACTERS),
    model: createNameSchema(MAX_NAME_CHARACTERS),
    promptVersion: createNameSchema(MAX_ID_CHARACTERS),
  }),
  answer: createTextSchema(MAX_TEXT_CHARACTERS).refine((answer) => answer.trim() !== '', 'must not be empty'),
  took: answerUseSchema.nullable(),
});

type AnswerCache = Pick<Store, 'cachedAnswer' | 'cacheAnswer' | 'exportCache' | 'importCache'>;

/** Implements the part of {@link Store} on the table `cached_answers`. */
export function createAnswerCache({ db, location, now }: StoreContext): AnswerCache {
  const toRow = (key: CacheKey, given: string, use: z.infer<typeof answerUseSchema> | null) => {
    const entry = { key, answer: given, took: use };
    const { answer, took, ...storable } = parseStorable(entrySchema, entry, 'an answer for the cache');
    return {
      cache_key: hashCacheKey(key),
      question: storable.key.question,
      team: storable.key.team,
      model: storable.key.model,
      prompt_version: storable.key.promptVersion,
      answer,
      took: took === null ? null : JSON.stringify(took),
      created_at: now().toISOString(),
    };
  };
  return {
    async cachedAnswer(key) {
      const found = await db
        .selectFrom('cached_answers')
        .select(['answer', 'created_at', 'took'])
        .where('cache_key', '=', hashCacheKey(key))
        .executeTakeFirst();
      if (found === undefined) return undefined;
      const table = { location, table: 'cached_answers' } as const;
      return { ...found, took: parseJsonCell(answerUseSchema.nullable(), found.took, table) };
    },

    async cacheAnswer(key, answer, took) {
      const row = toRow(key, answer, took ?? null);
      await db
        .insertInto('cached_answers')
        .values(row)
        .onConflict((conflict) => conflict.column('cache_key').doUpdateSet(row))
        .execute();
    },

    async exportCache({ team, model, promptVersion } = {}) {
      let query = db
        .selectFrom('cached_answers')
        .select(['question', 'answer'])
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(STORE_LIMITS.cacheEntries);
      if (team !== undefined) query = query.where('team', '=', toStorable(team));
      if (model !== undefined) query = query.where('model', '=', toStorable(model));
      if (promptVersion !== undefined) query = query.where('prompt_version', '=', toStorable(promptVersion));
      return new Map((await query.execute()).reverse().map(({ question, answer }) => [question, answer]));
    },

    async importCache(answers, keyOf) {
      if (answers.size > STORE_LIMITS.cacheEntries) {
        throw new MeshError(
          'store',
          `${answers.size} answers to import, more than ${STORE_LIMITS.cacheEntries}: split the file`,
        );
      }
      const rows = [...answers].map(([question, answer]) => toRow(keyOf(question), answer, null));
      return db.transaction().execute(async (tx) => {
        let added = 0;
        for (let start = 0; start < rows.length; start += IMPORT_BATCH) {
          const inserted = await tx
            .insertInto('cached_answers')
            .values(rows.slice(start, start + IMPORT_BATCH))
            .onConflict((conflict) => conflict.column('cache_key').doNothing())
            .returning('id')
            .execute();
          added += inserted.length;
        }
        return added;
      });
    },
  };
}
