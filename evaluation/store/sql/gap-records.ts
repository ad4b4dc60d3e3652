import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import {
  type GapRecord,
  gapRecordSchema,
  type StoredGapRecord,
  toStorable,
} from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import { listTerms, rankGapRecords } from '../gaps/gap-ranking.ts';
import { findLeaks } from '../gaps/leaks.ts';
import type { Store } from '../store.ts';
import { parseJsonCell, parseStorable, type StoreContext, type Tables } from './tables.ts';

type GapPool = Pick<Store, 'addGapRecord' | 'gapRecords' | 'gapRecordPage' | 'reviewGapRecord'>;

const COLUMNS = ['id', 'attempt_id', 'status', 'created_at', 'record'] as const;

/** Implements the part of {@link Store} on the tables `gap_records` and `gap_terms`. */
export function createGapPool({ db, location, now }: StoreContext): GapPool {
  const toRecord = (
    row: Pick<Selectable<Tables['gap_records']>, (typeof COLUMNS)[number]>,
  ): StoredGapRecord => {
    const { record, ...columns } = row;
    return { ...parseJsonCell(gapRecordSchema, record, { location, table: 'gap_records' }), ...columns };
  };
  return {
    async addGapRecord(given, { attempt_id, question, answers }) {
      const record = parseStorable(gapRecordSchema, given, 'a gap record');
      const text = formatGapRecord(record);
      if (findLeaks(text, question, answers).length > 0) return undefined;
      // The question's words help to find the record, but are never shown.
      const terms = listTerms(`${text}\n${question}`);
      return db.transaction().execute(async (tx) => {
        if (attempt_id !== null) {
          const attempt = await tx
            .selectFrom('gaia_attempts')
            .select('id')
            .where('attempt_id', '=', attempt_id)
            .executeTakeFirst();
          if (attempt === undefined) {
            throw new MeshError(
              'store',
              `${location}: a gap record of attempt ${attempt_id}, which is not recorded: record it first`,
            );
          }
        }
        const { id } = await tx
          .insertInto('gap_records')
          .values({
            attempt_id,
            question_type: record.question_type,
            kind: record.kind,
            status: 'proposed',
            terms: terms.join(' '),
            created_at: now().toISOString(),
            record: JSON.stringify(record),
          })
          .returning('id')
          .executeTakeFirstOrThrow();
        const index = terms.map((term) => ({ term, gap_id: id }));
        if (index.length > 0) await tx.insertInto('gap_terms').values(index).execute();
        return id;
      });
    },

    async gapRecords({ questionType: given, tools = [], question, limit }) {
      if (!(Number.isInteger(limit) && limit >= 1 && limit <= STORE_LIMITS.gapRecords))
        throw new MeshError('store', `expected a limit from 1 to ${STORE_LIMITS.gapRecords}, got ${limit}`);
      const questionType = toStorable(given);
      const terms = listTerms(question, STORE_LIMITS.queryTerms);
      const ofType = db
        .selectFrom('gap_records')
        .select('id')
        .where('question_type', '=', questionType)
        .where(isRetrievable)
        .orderBy('id', 'desc')
        .limit(STORE_LIMITS.gapCandidates);
      const rows = await db
        .selectFrom('gap_records')
        .select([...COLUMNS, 'terms'])
        .where(isRetrievable)
        .where((either) =>
          either.or([
            either('id', 'in', ofType),
            ...(terms.length === 0 ? [] : [either('id', 'in', findByTerms(db, terms))]),
          ]),
        )
        .execute();
      const candidates = rows.map(({ terms: words, ...row }) => ({ ...toRecord(row), terms: words }));
      const seen = new Set<string>();
      return rankGapRecords(candidates, { questionType, tools, terms })
        .filter((record) => {
          // A failure that repeats in every cycle must not fill the brief.
          const text = formatGapRecord(record);
          return !seen.has(text) && seen.add(text);
        })
        .slice(0, limit)
        .map(({ terms: _, ...record }) => record);
    },

    async gapRecordPage(after = 0) {
      const rows = await db
        .selectFrom('gap_records')
        .select(COLUMNS)
        .where('id', '>', after)
        .orderBy('id')
        .limit(STORE_LIMITS.gapRecords)
        .execute();
      return rows.map(toRecord);
    },

    async reviewGapRecord(id, verdict) {
      const reviewed = await db
        .updateTable('gap_records')
        .set({ status: verdict })
        .where('id', '=', id)
        .returning(COLUMNS)
        .executeTakeFirst();
      if (reviewed === undefined) throw new MeshError('store', `${location}: there is no gap record ${id}`);
      return toRecord(reviewed);
    },
  };
}

/** Builds the condition for records that a planner may see, see `isInforming`. */
function isRetrievable(builder: ExpressionBuilder<Tables, 'gap_records'>) {
  const isHint = builder.and([builder('status', '=', 'proposed'), builder('kind', '=', 'planning_hint')]);
  return builder.or([builder('status', '=', 'approved'), isHint]);
}

/** Builds the query for the ids of the records that share the most words with a question, where a rare word counts for more. */
function findByTerms(db: StoreContext['db'], terms: readonly string[]) {
  return db
    .with('shared', (query) =>
      query
        .selectFrom('gap_terms')
        .select(({ fn }) => ['term', fn.countAll().as('records')])
        .where('term', 'in', terms)
        .groupBy('term'),
    )
    .selectFrom('gap_records')
    .innerJoin('gap_terms', 'gap_terms.gap_id', 'gap_records.id')
    .innerJoin('shared', 'shared.term', 'gap_terms.term')
    .select('gap_records.id')
    .where(isRetrievable)
    .groupBy('gap_records.id')
    .orderBy(sql`sum(1.0 / shared.records)`, 'desc')
    .orderBy('gap_records.id', 'desc')
    .limit(STORE_LIMITS.gapCandidates);
}

/** Returns all the text that a reader of the record sees. */
function formatGapRecord({ question_type, pattern, cause, advice }: GapRecord): string {
  return [question_type, pattern, cause, advice].join('\n');
}
