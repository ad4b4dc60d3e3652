import { createHash } from 'node:crypto';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { attemptSchema, RESOLUTION_TYPES } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { gapRecordSchema } from '@gaia-mesh/tools/roles/memory/gap-record.ts';
import * as z from 'zod';
import { MAX_ATTEMPTS_PER_PAGE, MAX_NUMBERING_TRIES, MAX_OUTCOMES } from '../limits.ts';
import type { Store } from '../store.ts';
import type { SqlValue, Statement } from './sql-database.ts';
import {
  buildConditions,
  checkLimit,
  jsonCell,
  parseRow,
  type SqlTables,
  timeCell,
  wholeNumberCell,
} from './sql-tables.ts';

const booleanCell = z.union([z.boolean(), z.literal([0, 1])]).transform(Boolean);

const outcomeRow = z.object({
  run_id: z.string(),
  cycle: wholeNumberCell,
  attempt_number: wholeNumberCell,
  task_id: z.string(),
  question_type: z.string(),
  level: z.string().nullable(),
  correct: booleanCell.nullable(),
  resolution_type: z.enum(RESOLUTION_TYPES).nullable(),
  tokens: wholeNumberCell,
  cost: z.number().nullable(),
  seconds: z.number(),
});

const attemptRow = outcomeRow.extend({
  id: wholeNumberCell,
  attempt_id: z.string(),
  team: z.string(),
  question: z.string(),
  pm_brief: z.string(),
  pm_plan: jsonCell.pipe(z.custom<JsonObject>(isJsonObject).nullable()),
  tool_calls: jsonCell.pipe(z.custom<readonly JsonValue[]>(isJsonList)),
  trace: jsonCell.pipe(z.custom<readonly JsonValue[]>(isJsonList)),
  raw_answer: z.string(),
  final_answer: z.string(),
  overseer_diagnosis: z.string().nullable(),
  gap_record: jsonCell.pipe(gapRecordSchema.nullable()),
  created_at: timeCell,
});

const numberedRow = z.object({ attempt_number: wholeNumberCell });
const recordedRow = z.object({ created_at: timeCell });

const OUTCOME_COLUMNS = Object.keys(outcomeRow.shape).join(', ');
const ATTEMPT_COLUMNS = Object.keys(attemptRow.shape).join(', ');

/** Implements the part of {@link Store} on the table `gaia_attempts`. */
export function createAttemptTable(
  tables: SqlTables,
): Pick<Store, 'recordAttempt' | 'attempts' | 'outcomes'> {
  return {
    async recordAttempt(given) {
      const attempt = parseRow(attemptSchema, given, 'an attempt');
      const question_hash = createHash('sha256').update(attempt.question).digest('hex');
      const row: Record<string, SqlValue> = {
        ...attempt,
        pm_plan: attempt.pm_plan === null ? null : JSON.stringify(attempt.pm_plan),
        tool_calls: JSON.stringify(attempt.tool_calls),
        trace: JSON.stringify(attempt.trace),
        question_hash,
        created_at: tables.time(),
      };
      const names = Object.keys(row);
      const place = (name: string) => `$${names.indexOf(name) + 1}`;
      const insert: Statement = {
        text: `
          INSERT INTO gaia_attempts (${names.join(', ')}, attempt_number)
          VALUES (${names.map(place).join(', ')}, (
            SELECT coalesce(max(attempt_number), 0) + 1 FROM gaia_attempts
            WHERE team = ${place('team')} AND task_id = ${place('task_id')} AND question_hash = ${place('question_hash')}
          )) ON CONFLICT DO NOTHING RETURNING attempt_number`,
        values: Object.values(row),
      };
      for (let tries = 0; tries < MAX_NUMBERING_TRIES; tries++) {
        const [inserted = []] = await tables.database.write([insert]);
        const [numbered] = tables.parse(numberedRow, inserted, 'gaia_attempts');
        if (numbered !== undefined) return numbered.attempt_number;
        // Another process took the number at the same moment, or the id exists.
        const same = await findRecordedAttempt(tables, attempt.attempt_id);
        if (same !== undefined) {
          throw new MeshError(
            'store',
            `${tables.location}: attempt ${attempt.attempt_id} was recorded already, at ${same.created_at}`,
          );
        }
      }
      throw new MeshError(
        'store',
        `${tables.location}: attempt ${attempt.attempt_id} got no number in ${MAX_NUMBERING_TRIES} tries: too many processes record ` +
          `attempts at task ${attempt.task_id} at once`,
      );
    },

    async attempts({ after = 0, limit = MAX_ATTEMPTS_PER_PAGE, ...filter }) {
      const rows = checkLimit(limit, MAX_ATTEMPTS_PER_PAGE);
      const where = buildFilter(filter);
      const values = [...where.values, after];
      return tables.rows(attemptRow, 'gaia_attempts', {
        text: `SELECT ${ATTEMPT_COLUMNS} FROM gaia_attempts WHERE ${where.text} AND id > $${values.length} ORDER BY id LIMIT ${rows}`,
        values,
      });
    },

    async outcomes(filter) {
      const where = buildFilter(filter);
      const found = await tables.rows(outcomeRow, 'gaia_attempts', {
        text: `SELECT ${OUTCOME_COLUMNS} FROM gaia_attempts WHERE ${where.text} ORDER BY id LIMIT ${MAX_OUTCOMES + 1}`,
        values: where.values,
      });
      if (found.length > MAX_OUTCOMES) {
        throw new MeshError(
          'store',
          `${tables.location}: more than ${MAX_OUTCOMES} attempts for one report: narrow it to a run or a team`,
        );
      }
      return found;
    },
  };
}

/** Returns the time at which an attempt was recorded, if it was. */
export async function findRecordedAttempt(
  tables: SqlTables,
  attemptId: string,
): Promise<z.infer<typeof recordedRow> | undefined> {
  const [found] = await tables.rows(recordedRow, 'gaia_attempts', {
    text: 'SELECT created_at FROM gaia_attempts WHERE attempt_id = $1',
    values: [attemptId],
  });
  return found;
}

/** Picks the known keys of a filter, which may come from a packet: its other keys must not become part of a statement. */
function buildFilter({ run_id, team, task_id, attempt_id }: Parameters<Store['outcomes']>[0]): Statement {
  return buildConditions({ run_id, team, task_id, attempt_id });
}
