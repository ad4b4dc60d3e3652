import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  createNameSchema,
  createTextSchema,
  MAX_ID_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_TEXT_CHARACTERS,
} from '@gaia-mesh/tools/roles/memory/storable.ts';
import * as z from 'zod';
import { answerUseSchema } from '../answer-use.ts';
import { type CacheKey, hashCacheKey } from '../cache-key.ts';
import { MAX_CACHE_ENTRIES } from '../limits.ts';
import type { Store } from '../store.ts';
import type { SqlValue, Statement } from './sql-database.ts';
import { buildConditions, jsonCell, parseRow, type SqlTables, timeCell } from './sql-tables.ts';

/** Answers per import statement: 4,500 of at most 32,766 parameters that SQLite accepts. */
const IMPORT_BATCH = 500;

const CACHE_COLUMNS = 'cache_key, question, file_hash, team, model, prompt_version, answer, created_at, took';

const cacheRow = z.object({
  answer: z.string(),
  created_at: timeCell,
  took: jsonCell.pipe(answerUseSchema.nullable()),
});
const exportRow = z.object({ question: z.string(), answer: z.string() });

const keySchema = z.strictObject({
  question: createNameSchema(MAX_TEXT_CHARACTERS),
  fileHash: createNameSchema(MAX_ID_CHARACTERS).nullable(),
  team: createNameSchema(MAX_NAME_CHARACTERS),
  model: createNameSchema(MAX_NAME_CHARACTERS),
  promptVersion: createNameSchema(MAX_ID_CHARACTERS),
});
const answerSchema = createTextSchema(MAX_TEXT_CHARACTERS).refine(
  (answer) => answer.trim() !== '',
  'must not be empty',
);

/** Implements the part of {@link Store} on the table `cached_answers`. */
export function createCacheTable(
  tables: SqlTables,
): Pick<Store, 'cachedAnswer' | 'cacheAnswer' | 'exportCache' | 'importCache'> {
  /** Returns the values of a row in the order of {@link CACHE_COLUMNS}. */
  const rowOf = (
    given: CacheKey,
    answer: string,
    took?: Parameters<Store['cacheAnswer']>[2],
  ): readonly SqlValue[] => {
    const { question, fileHash, team, model, promptVersion } = parseRow(
      keySchema,
      given,
      'a key of the answer cache',
    );
    const kept = parseRow(answerSchema, answer, 'an answer for the cache');
    const use =
      took === undefined
        ? null
        : JSON.stringify(parseRow(answerUseSchema, took, 'what an answer for the cache took'));
    return [hashCacheKey(given), question, fileHash, team, model, promptVersion, kept, tables.time(), use];
  };
  return {
    async cachedAnswer(key) {
      const [found] = await tables.rows(cacheRow, 'cached_answers', {
        text: 'SELECT answer, created_at, took FROM cached_answers WHERE cache_key = $1',
        values: [hashCacheKey(key)],
      });
      return found;
    },

    async cacheAnswer(key, answer, took) {
      const row = rowOf(key, answer, took);
      const newer =
        'DO UPDATE SET answer = excluded.answer, created_at = excluded.created_at, took = excluded.took';
      await tables.database.write([insertAnswers([row], newer)]);
    },

    async exportCache({ team, model, promptVersion } = {}) {
      const where = buildConditions({ team, model, prompt_version: promptVersion });
      const rows = await tables.rows(exportRow, 'cached_answers', {
        text:
          `SELECT question, answer FROM cached_answers WHERE ${where.text} ` +
          `ORDER BY created_at DESC, id DESC LIMIT ${MAX_CACHE_ENTRIES}`,
        values: where.values,
      });
      return new Map(rows.reverse().map(({ question, answer }) => [question, answer]));
    },

    async importCache(answers, keyOf) {
      if (answers.size > MAX_CACHE_ENTRIES) {
        throw new MeshError(
          'store',
          `${answers.size} answers to import, more than ${MAX_CACHE_ENTRIES}: split the file`,
        );
      }
      const rows = [...answers].map(([question, answer]) => rowOf(keyOf(question), answer));
      let added = 0;
      for (let start = 0; start < rows.length; start += IMPORT_BATCH) {
        const insert = insertAnswers(rows.slice(start, start + IMPORT_BATCH), 'DO NOTHING');
        added += (await tables.database.write([insert])).flat().length;
      }
      return added;
    },
  };
}

/** Inserts many rows in one statement, since each statement is a round trip to the database. */
function insertAnswers(rows: readonly (readonly SqlValue[])[], onConflict: string): Statement {
  const tuples = rows.map(
    (row, index) => `(${row.map((_, column) => `$${index * row.length + column + 1}`).join(', ')})`,
  );
  return {
    text:
      `INSERT INTO cached_answers (${CACHE_COLUMNS}) VALUES ${tuples.join(', ')} ` +
      `ON CONFLICT (cache_key) ${onConflict} RETURNING id`,
    values: rows.flat(),
  };
}
