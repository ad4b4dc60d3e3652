import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Leak, Secrets } from '@gaia-mesh/tools/roles/memory/attempt-memory.ts';
import {
  formatGapRecord,
  gapRecordSchema,
  REVIEW_STATUSES,
  type StoredGapRecord,
} from '@gaia-mesh/tools/roles/memory/gap-record.ts';
import { toStorable } from '@gaia-mesh/tools/roles/memory/storable.ts';
import * as z from 'zod';
import { listTerms, rankGapRecords } from '../gaps/gap-ranking.ts';
import { findNames } from '../gaps/question-names.ts';
import { hasPhrase, listReadings, splitWords, type Word } from '../gaps/text-words.ts';
import { MAX_GAP_CANDIDATES, MAX_GAP_RECORDS, MAX_QUERY_TERMS } from '../limits.ts';
import type { Store } from '../store.ts';
import { findRecordedAttempt } from './attempt-table.ts';
import type { SqlValue } from './sql-database.ts';
import { checkLimit, parseRow, type SqlTables, timeCell, wholeNumberCell } from './sql-tables.ts';

/**
 * Minimum characters of an answer that is also found inside words ("Guatemala" in "Guatemalan"); a shorter one is inside too many
 * of them.
 */
const MIN_INSIDE_CHARACTERS = 6;

/** Minimum characters of a list item that counts as an answer by itself; shorter ones occur in any text. */
const MIN_ITEM_CHARACTERS = 3;

/**
 * Returns what `text` reveals of the correct answer and of the question's names, numbers and quotations (OV-12, C-12); empty if
 * nothing. Case, accents, punctuation and the format of numbers are ignored. This guards the store but proves nothing: a
 * paraphrase passes it.
 */
export function findLeaks(text: string, { question, answers }: Secrets): Leak[] {
  const readings = listReadings(text).map(splitWords);
  const leaks: Leak[] = [];
  for (const answer of new Set(answers.flatMap(withItems))) {
    if (readings.some((words) => hasAnswer(words, answer))) leaks.push({ what: 'answer', text: answer });
  }
  for (const name of findNames(question)) {
    if (readings.some((words) => hasPhrase(words, name.words, name.isIn)))
      leaks.push({ what: 'name', text: name.text });
  }
  return leaks;
}

function withItems(answer: string): string[] {
  const items = answer.split(/[,;]/).map((item) => item.trim());
  return [answer, ...items.filter((item) => item.length >= MIN_ITEM_CHARACTERS && items.length > 1)];
}

function hasAnswer(words: readonly Word[], answer: string): boolean {
  return listReadings(answer).some((reading) => {
    const all = splitWords(reading);
    const sought = all.length > 1 && /^(a|an|the)$/.test(all[0]?.key ?? '') ? all.slice(1) : all;
    if (sought.length === 0) return false;
    const keys = sought.map(({ key }) => key);
    const squeezed = keys.join('');
    if (squeezed.length >= MIN_INSIDE_CHARACTERS && /\p{L}/u.test(squeezed)) {
      return words
        .map(({ key }) => key)
        .join('')
        .includes(squeezed);
    }
    // "A" as an answer is a letter to choose, and in a sentence an article: only a capital inside a sentence counts.
    const isArticle = squeezed === 'a' || squeezed === 'i';
    return hasPhrase(words, keys, isArticle ? 'capital inside a sentence' : 'anywhere');
  });
}

const gapRow = gapRecordSchema.extend({
  id: wholeNumberCell,
  attempt_id: z.string().nullable(),
  status: z.enum(REVIEW_STATUSES),
  created_at: timeCell,
  terms: z.string(),
});
const idRow = z.object({ id: wholeNumberCell });

const GAP_COLUMNS = [
  ...Object.keys(gapRecordSchema.shape),
  'id',
  'attempt_id',
  'status',
  'created_at',
  'terms',
].join(', ');

/** Condition for records that a planner may see, see `isInforming`. */
const RETRIEVABLE = "(status = 'approved' OR (status = 'proposed' AND kind = 'planning_hint'))";

/** Implements the part of {@link Store} on the table `gap_records`. */
export function createGapTable(
  tables: SqlTables,
): Pick<Store, 'addGapRecord' | 'gapRecords' | 'gapRecordPage' | 'reviewGapRecord'> {
  return {
    async addGapRecord(given, { attempt_id, ...secrets }) {
      const record = parseRow(gapRecordSchema, given, 'a gap record');
      const text = formatGapRecord(record);
      const leaks = findLeaks(text, secrets);
      if (leaks.length > 0) return { stored: false, leaks };
      if (attempt_id !== null && (await findRecordedAttempt(tables, attempt_id)) === undefined) {
        throw new MeshError(
          'store',
          `${tables.location}: a gap record of attempt ${attempt_id}, which is not recorded: record it first`,
        );
      }
      const row: Record<string, SqlValue> = {
        ...record,
        attempt_id,
        status: 'proposed',
        // The question's words help to find the record, but are never shown.
        terms: listTerms(`${text}\n${secrets.question}`).join(' '),
        created_at: tables.time(),
      };
      const [inserted = []] = await tables.database.write([
        {
          text:
            `INSERT INTO gap_records (${Object.keys(row).join(', ')}) VALUES ` +
            `(${Object.keys(row)
              .map((_, index) => `$${index + 1}`)
              .join(', ')}) RETURNING id`,
          values: Object.values(row),
        },
        {
          text: 'UPDATE gaia_attempts SET gap_record = $1 WHERE attempt_id = $2',
          values: [JSON.stringify(record), attempt_id],
        },
      ]);
      const [stored] = tables.parse(idRow, inserted, 'gap_records');
      if (stored === undefined) throw new Error('the database returned no id for a new gap record');
      return { stored: true, id: stored.id };
    },

    async gapRecords({ questionType, tools = [], question, limit }) {
      const count = checkLimit(limit, MAX_GAP_RECORDS);
      const terms = listTerms(question, MAX_QUERY_TERMS);
      const candidates = await tables.rows(gapRow, 'gap_records', {
        text: `
          SELECT ${GAP_COLUMNS} FROM gap_records WHERE ${RETRIEVABLE} AND (
            id IN (SELECT id FROM gap_records WHERE question_type = $2 AND ${RETRIEVABLE} ORDER BY id DESC LIMIT ${MAX_GAP_CANDIDATES})
            OR id IN (${tables.database.termSearch(RETRIEVABLE)} LIMIT ${MAX_GAP_CANDIDATES})
          )`,
        values: [tables.database.anyOf(terms), toStorable(questionType)],
      });
      const seen = new Set<string>();
      return rankGapRecords(candidates, { questionType: toStorable(questionType), tools, terms })
        .filter((record) => {
          // A failure that repeats in every cycle must not fill the brief.
          const text = formatGapRecord(record);
          return !seen.has(text) && seen.add(text);
        })
        .slice(0, count)
        .map(stripTerms);
    },

    async gapRecordPage({ after = 0, limit = MAX_GAP_RECORDS }) {
      const rows = checkLimit(limit, MAX_GAP_RECORDS);
      const found = await tables.rows(gapRow, 'gap_records', {
        text: `SELECT ${GAP_COLUMNS} FROM gap_records WHERE id > $1 ORDER BY id LIMIT ${rows}`,
        values: [after],
      });
      return found.map(stripTerms);
    },

    async reviewGapRecord(id, verdict) {
      const [updated = []] = await tables.database.write([
        {
          text: `UPDATE gap_records SET status = $1 WHERE id = $2 RETURNING ${GAP_COLUMNS}`,
          values: [verdict, id],
        },
      ]);
      const [reviewed] = tables.parse(gapRow, updated, 'gap_records');
      if (reviewed === undefined)
        throw new MeshError('store', `${tables.location}: there is no gap record ${id}`);
      return stripTerms(reviewed);
    },
  };
}

function stripTerms({ terms: _, ...record }: z.infer<typeof gapRow>): StoredGapRecord {
  return record;
}
