import { RESOLUTION_TYPES } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import {
  FAILURE_TYPES,
  GAP_RECORD_KINDS,
  REVIEW_STATUSES,
} from '@gaia-mesh/tools/roles/memory/gap-record.ts';

/** The terms in which the two SQL dialects differ. */
interface SchemaWords {
  /** Type of a key that the database increments. */
  readonly id: string;
  readonly json: string;
  readonly boolean: string;
  readonly wholeNumber: string;
  readonly number: string;
  readonly time: string;
  /** Text after a table's closing bracket. */
  readonly tableEnd: string;
  /** Returns statements that protect a table. */
  readonly protect: (table: string) => string;
  /** Statements that make `terms` of `gap_records` searchable. */
  readonly gapIndex: string;
}

/**
 * Returns the migrations of the schema, one text per version: version n consists of the first n texts. Users' stores have the
 * older versions, so a published text never changes; a change is a new text at the end.
 */
export function listSchemaSteps(words: SchemaWords): readonly string[] {
  const { id, json, boolean, wholeNumber, number, time, tableEnd, protect, gapIndex } = words;
  return [
    `
    CREATE TABLE gaia_attempts (
      id ${id},
      attempt_id text NOT NULL UNIQUE,
      run_id text NOT NULL,
      team text NOT NULL,
      cycle ${wholeNumber} NOT NULL,
      attempt_number ${wholeNumber} NOT NULL,
      task_id text NOT NULL,
      question text NOT NULL,
      -- A question is too long for an index.
      question_hash text NOT NULL,
      question_type text NOT NULL,
      level text,
      pm_brief text NOT NULL,
      pm_plan ${json},
      tool_calls ${json} NOT NULL,
      trace ${json} NOT NULL,
      raw_answer text NOT NULL,
      final_answer text NOT NULL,
      correct ${boolean},
      resolution_type text CHECK (resolution_type IN (${quoteValues(RESOLUTION_TYPES)})),
      overseer_diagnosis text,
      gap_record ${json},
      tokens ${wholeNumber} NOT NULL,
      cost ${number},
      seconds ${number} NOT NULL,
      created_at ${time} NOT NULL,
      UNIQUE (team, task_id, question_hash, attempt_number)
    )${tableEnd};
    CREATE INDEX gaia_attempts_run ON gaia_attempts (run_id);
    ${protect('gaia_attempts')}
    CREATE TABLE gap_records (
      id ${id},
      attempt_id text REFERENCES gaia_attempts (attempt_id),
      kind text NOT NULL CHECK (kind IN (${quoteValues(GAP_RECORD_KINDS)})),
      question_type text NOT NULL,
      failure_type text NOT NULL CHECK (failure_type IN (${quoteValues(FAILURE_TYPES)})),
      pattern text NOT NULL,
      cause text NOT NULL,
      advice text NOT NULL,
      status text NOT NULL CHECK (status IN (${quoteValues(REVIEW_STATUSES)})),
      terms text NOT NULL,
      created_at ${time} NOT NULL
    )${tableEnd};
    CREATE INDEX gap_records_type ON gap_records (question_type);
    ${protect('gap_records')}
    ${gapIndex}
    `,
    `
    CREATE TABLE cached_answers (
      id ${id},
      cache_key text NOT NULL UNIQUE,
      question text NOT NULL,
      file_hash text,
      team text NOT NULL,
      model text NOT NULL,
      prompt_version text NOT NULL,
      answer text NOT NULL,
      created_at ${time} NOT NULL
    )${tableEnd};
    ${protect('cached_answers')}
    `,
    `
    ALTER TABLE gap_records ADD COLUMN point text NOT NULL DEFAULT 'unknown';
    ALTER TABLE gap_records ADD COLUMN tool text NOT NULL DEFAULT '';
    `,
    `
    ALTER TABLE cached_answers ADD COLUMN took ${json};
    `,
  ];
}

const quoteValues = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ');
