import * as z from 'zod';
import { MeshError } from '../../../core/contracts/errors.ts';
import {
  MAX_ID_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_TEXT_CHARACTERS,
  storableName,
  storableText,
} from '../../../tools/roles/memory/storable.ts';
import { type CacheKey, cacheKeyHash } from '../cache-key.ts';
import { MAX_CACHE_ENTRIES } from '../limits.ts';
import type { CachedAnswer, CacheFilter } from '../store.ts';
import type { SqlValue, Statement } from './sql-database.ts';
import { checked, conditions, type SqlTables, timeCell } from './sql-tables.ts';

/** Answers that one statement imports: 4,000 of at most 32,766 parameters that SQLite takes. */
const IMPORT_BATCH = 500;

const CACHE_COLUMNS = 'cache_key, question, file_hash, team, model, prompt_version, answer, created_at';

const cacheRow = z.object({ answer: z.string(), created_at: timeCell });
const exportRow = z.object({ question: z.string(), answer: z.string() });

const keySchema = z.strictObject({
  question: storableName(MAX_TEXT_CHARACTERS),
  fileHash: storableName(MAX_ID_CHARACTERS).nullable(),
  team: storableName(MAX_NAME_CHARACTERS),
  model: storableName(MAX_NAME_CHARACTERS),
  promptVersion: storableName(MAX_ID_CHARACTERS),
});
const answerSchema = storableText(MAX_TEXT_CHARACTERS).refine(
  (answer) => answer.trim() !== '',
  'must not be empty',
);

/** `cached_answers`. See {@link Store} for what each does. */
export class CacheTable {
  readonly #tables: SqlTables;

  constructor(tables: SqlTables) {
    this.#tables = tables;
  }

  async cachedAnswer(key: CacheKey): Promise<CachedAnswer | undefined> {
    const [found] = await this.#tables.rows(cacheRow, 'cached_answers', {
      text: 'SELECT answer, created_at FROM cached_answers WHERE cache_key = $1',
      values: [cacheKeyHash(key)],
    });
    return found;
  }

  async cacheAnswer(key: CacheKey, answer: string): Promise<void> {
    const row = this.#cacheRow(key, answer);
    const newer = 'DO UPDATE SET answer = excluded.answer, created_at = excluded.created_at';
    await this.#tables.database.write([insertAnswers([row], newer)]);
  }

  async exportCache({ team, model, promptVersion }: CacheFilter = {}): Promise<Map<string, string>> {
    const where = conditions({ team, model, prompt_version: promptVersion });
    const rows = await this.#tables.rows(exportRow, 'cached_answers', {
      text:
        `SELECT question, answer FROM cached_answers WHERE ${where.text} ` +
        `ORDER BY created_at DESC, id DESC LIMIT ${MAX_CACHE_ENTRIES}`,
      values: where.values,
    });
    return new Map(rows.reverse().map(({ question, answer }) => [question, answer]));
  }

  async importCache(
    answers: ReadonlyMap<string, string>,
    keyOf: (question: string) => CacheKey,
  ): Promise<number> {
    if (answers.size > MAX_CACHE_ENTRIES) {
      throw new MeshError(
        'store',
        `${answers.size} answers to import, more than ${MAX_CACHE_ENTRIES}: split the file`,
      );
    }
    const rows = [...answers].map(([question, answer]) => this.#cacheRow(keyOf(question), answer));
    let added = 0;
    for (let start = 0; start < rows.length; start += IMPORT_BATCH) {
      const insert = insertAnswers(rows.slice(start, start + IMPORT_BATCH), 'DO NOTHING');
      added += (await this.#tables.database.write([insert])).flat().length;
    }
    return added;
  }

  /** In the order of {@link CACHE_COLUMNS}. */
  #cacheRow(given: CacheKey, answer: string): readonly SqlValue[] {
    const key = checked(keySchema, given, 'a key of the answer cache');
    return [
      cacheKeyHash(given),
      key.question,
      key.fileHash,
      key.team,
      key.model,
      key.promptVersion,
      checked(answerSchema, answer, 'an answer for the cache'),
      this.#tables.time(),
    ];
  }
}

/** One statement for many rows: each would be a trip to the database. */
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
