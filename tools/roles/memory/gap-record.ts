import * as z from 'zod';
import {
  createNameSchema,
  createTextSchema,
  MAX_GAP_TEXT_CHARACTERS,
  MAX_NAME_CHARACTERS,
} from './storable.ts';

/**
 * What a record proposes to change. A planning hint informs the next plan at once; anything else waits until a person has
 * approved it, and even then only informs (OV-19).
 */
export const GAP_RECORD_KINDS = [
  'planning_hint',
  'prompt_change',
  'pipeline_change',
  'instruction_change',
] as const;

export const REVIEW_STATUSES = ['proposed', 'approved', 'rejected'] as const;

/** How an attempt can fail. */
export const FAILURE_TYPES = [
  'format_error',
  'retrieval_failure',
  'reasoning_gap',
  'tool_limit',
  'server_tool_use',
] as const;

/** Where an attempt broke, as the overseer classifies it; `unknown` where nobody could say. */
export const FAILURE_POINTS = [
  'plan',
  'tool_choice',
  'tool_call',
  'tool_result',
  'reasoning',
  'answer_form',
  'unknown',
] as const;

const gapText = createNameSchema(MAX_GAP_TEXT_CHARACTERS);

/**
 * A failure, told so that it helps with other questions (OV-17): a proposal to the planner, never an instruction. It is found by what
 * happened: what the question came with (`question_type`), what was observed, where the attempt broke, and at which tool.
 */
export const gapRecordSchema = z.strictObject({
  kind: z.enum(GAP_RECORD_KINDS),
  question_type: createNameSchema(MAX_NAME_CHARACTERS),
  failure_type: z.enum(FAILURE_TYPES),
  // Records of older stores have neither of the two.
  point: z.enum(FAILURE_POINTS).default('unknown'),
  /** Name of the tool at that point; empty: none. */
  tool: createTextSchema(MAX_NAME_CHARACTERS).default(''),
  /** Which questions it is about, in general words. */
  pattern: gapText,
  /** Why such an attempt fails. */
  cause: gapText,
  /** What to do differently. */
  advice: gapText,
});

export type GapRecord = Readonly<z.infer<typeof gapRecordSchema>>;

export interface StoredGapRecord extends GapRecord {
  readonly id: number;
  /** Null for one that a person wrote. */
  readonly attempt_id: string | null;
  readonly status: (typeof REVIEW_STATUSES)[number];
  /** ISO 8601, UTC. */
  readonly created_at: string;
}

export type ReviewVerdict = 'approved' | 'rejected';

/** Whether later plans are made with it: a hint at once, anything else when a person has approved it (OV-19). */
export function isInforming({ kind, status }: Pick<StoredGapRecord, 'kind' | 'status'>): boolean {
  return status === 'approved' || (status === 'proposed' && kind === 'planning_hint');
}

/** Whether it informs nobody until a person has decided (OV-19). */
export function isAwaitingReview(record: Pick<StoredGapRecord, 'kind' | 'status'>): boolean {
  return record.status === 'proposed' && !isInforming(record);
}

/** All that a reader of the record sees. */
export function formatGapRecord(record: GapRecord): string {
  return [record.question_type, record.pattern, record.cause, record.advice].join('\n');
}
