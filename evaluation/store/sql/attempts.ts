import { createHash } from 'node:crypto';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { attemptSchema, type RecordedAttempt } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { gapRecordSchema } from '@gaia-mesh/tools/roles/memory/gap-record.ts';
import { toStorable } from '@gaia-mesh/tools/roles/memory/storable.ts';
import { sql } from 'kysely';
import type { Store } from '../store.ts';
import { checkLimit, parseJsonCell, parseStorable, type StoreContext } from './tables.ts';

/** Stores an attempt, and returns its number. In a transaction it is stored together with the transaction's other changes. */
export async function recordAttempt({ db, location, now }: StoreContext, given: unknown): Promise<number> {
  const attempt = parseStorable(attemptSchema, given, 'an attempt');
  const { attempt_id, run_id, team, task_id } = attempt;
  const question_hash = createHash('sha256').update(attempt.question).digest('hex');
  const insert = db
    .insertInto('gaia_attempts')
    .values(({ selectFrom }) => ({
      attempt_id,
      run_id,
      team,
      task_id,
      question_hash,
      attempt_number: selectFrom('gaia_attempts')
        .select(sql<number>`coalesce(max(attempt_number), 0) + 1`.as('next'))
        .where('team', '=', team)
        .where('task_id', '=', task_id)
        .where('question_hash', '=', question_hash),
      created_at: now().toISOString(),
      record: JSON.stringify(attempt),
    }))
    .onConflict((conflict) => conflict.doNothing())
    .returning('attempt_number');
  for (let tries = 0; tries < STORE_LIMITS.numberingTries; tries++) {
    const inserted = await insert.executeTakeFirst();
    if (inserted !== undefined) return inserted.attempt_number;
    // Another process took the number at the same moment, or the id exists.
    const same = await db
      .selectFrom('gaia_attempts')
      .select('created_at')
      .where('attempt_id', '=', attempt_id)
      .executeTakeFirst();
    if (same !== undefined) {
      throw new MeshError(
        'store',
        `${location}: attempt ${attempt_id} was recorded already, at ${same.created_at}`,
      );
    }
  }
  throw new MeshError(
    'store',
    `${location}: attempt ${attempt_id} got no number in ${STORE_LIMITS.numberingTries} tries: too many processes record attempts at task ` +
      `${task_id} at once`,
  );
}

/** Adds the overseer's diagnosis to an attempt; both are one record. */
export async function addDiagnosis(
  { db, location }: StoreContext,
  attemptId: string,
  diagnosis: string,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('gaia_attempts')
      .select('record')
      .where('attempt_id', '=', attemptId)
      .executeTakeFirst();
    if (row === undefined)
      throw new MeshError(
        'store',
        `${location}: a diagnosis of attempt ${attemptId}, which is not recorded: record it first`,
      );
    const recorded = parseJsonCell(attemptSchema, row.record, { location, table: 'gaia_attempts' });
    const attempt = parseStorable(
      attemptSchema,
      { ...recorded, overseer_diagnosis: diagnosis },
      'an attempt',
    );
    await tx
      .updateTable('gaia_attempts')
      .set({ record: JSON.stringify(attempt) })
      .where('attempt_id', '=', attemptId)
      .execute();
  });
}

const FILTERS = ['run_id', 'team', 'task_id', 'attempt_id'] as const;

export async function readAttempts(
  { db, location }: StoreContext,
  { after = 0, limit = STORE_LIMITS.attemptsPerPage, ...filter }: Parameters<Store['attempts']>[0],
): Promise<RecordedAttempt[]> {
  let query = db
    .selectFrom('gaia_attempts')
    .select(['id', 'attempt_number', 'created_at', 'record'])
    .select(({ selectFrom }) =>
      selectFrom('gap_records')
        .select('gap_records.record')
        .whereRef('gap_records.attempt_id', '=', 'gaia_attempts.attempt_id')
        .orderBy('gap_records.id', 'desc')
        .limit(1)
        .as('gap_record'),
    )
    .where('id', '>', after)
    .orderBy('id')
    .limit(checkLimit(limit, STORE_LIMITS.attemptsPerPage));
  for (const column of FILTERS) {
    const value = filter[column];
    if (value !== undefined) query = query.where(column, '=', toStorable(value));
  }
  return (await query.execute()).map(({ id, attempt_number, created_at, record, gap_record }) => ({
    ...parseJsonCell(attemptSchema, record, { location, table: 'gaia_attempts' }),
    id,
    attempt_number,
    created_at,
    gap_record: parseJsonCell(gapRecordSchema.nullable(), gap_record, { location, table: 'gap_records' }),
  }));
}
