import { isJsonList, isJsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { FAILURE_TYPES, type GapRecord } from './gap-record.ts';
import {
  createJsonSchema,
  createNameSchema,
  createTextSchema,
  MAX_ID_CHARACTERS,
  MAX_JSON_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_TEXT_CHARACTERS,
} from './storable.ts';

/** The possible ends of an attempt (OV-34); `format_error` is a right answer in the wrong form (OV-41). */
export const RESOLUTION_TYPES = ['correct', ...FAILURE_TYPES] as const;
export type ResolutionType = (typeof RESOLUTION_TYPES)[number];

/**
 * One attempt at one question, right or wrong (OV-20, OV-37): a row of `gaia_attempts` (requirements 4.3). The number of the attempt
 * is missing: the store counts a team's attempts at a question over all runs, because the lessons of one run
 * feed the next.
 */
export const attemptSchema = z
  .strictObject({
    attempt_id: createNameSchema(MAX_ID_CHARACTERS),
    run_id: createNameSchema(MAX_ID_CHARACTERS),
    team: createNameSchema(MAX_NAME_CHARACTERS),
    /** The cycle of the run, from 1. */
    cycle: z.int().positive(),
    task_id: createNameSchema(MAX_ID_CHARACTERS),
    question: createNameSchema(MAX_TEXT_CHARACTERS),
    question_type: createNameSchema(MAX_NAME_CHARACTERS),
    level: createNameSchema(MAX_NAME_CHARACTERS).nullable(),
    /** The whole brief, with the gap records that were retrieved (OV-30). */
    pm_brief: createTextSchema(MAX_TEXT_CHARACTERS),
    /** Null if there was no plan. */
    pm_plan: createJsonSchema(MAX_JSON_CHARACTERS, isJsonObject, 'an object').nullable(),
    /** Raw calls: search queries, code with its output, file operations (OV-32). */
    tool_calls: createJsonSchema(MAX_JSON_CHARACTERS, isJsonList, 'a list'),
    /** Every call, intermediate result and step of reasoning, in order (OV-06). */
    trace: createJsonSchema(MAX_JSON_CHARACTERS, isJsonList, 'a list'),
    /** The answer before its format was normalised (OV-33). */
    raw_answer: createTextSchema(MAX_TEXT_CHARACTERS),
    final_answer: createTextSchema(MAX_TEXT_CHARACTERS),
    /** Null if no true answer is known; false without any answer. */
    correct: z.boolean().nullable(),
    /** Null if `correct` is null. */
    resolution_type: z.enum(RESOLUTION_TYPES).nullable(),
    /** Verbatim (OV-35); null if the overseer did not run. */
    overseer_diagnosis: createTextSchema(MAX_TEXT_CHARACTERS).nullable(),
    tokens: z.int().nonnegative(),
    /** US dollars; null if a price is not known. */
    cost: z.number().nonnegative().nullable(),
    seconds: z.number().nonnegative(),
  })
  .refine(
    ({ correct, resolution_type }) =>
      (correct === null) === (resolution_type === null) &&
      (correct === true) === (resolution_type === 'correct'),
    {
      path: ['resolution_type'],
      message: 'must be "correct" exactly where `correct` is true, and null where it is null',
    },
  );

export type Attempt = Readonly<z.infer<typeof attemptSchema>>;

/** An attempt with the fields that the store adds. */
export interface RecordedAttempt extends Attempt {
  /** Grows in the order of recording; pages begin at it. */
  readonly id: number;
  /** 1 for the first attempt of this team at this question, ever (C-12). */
  readonly attempt_number: number;
  /** The abstractor's gap record of it (OV-36), once it has been stored. */
  readonly gap_record: GapRecord | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
}
