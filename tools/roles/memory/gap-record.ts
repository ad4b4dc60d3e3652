import * as z from 'zod';
import {
  createNameSchema,
  createTextSchema,
  MAX_GAP_TEXT_CHARACTERS,
  MAX_NAME_CHARACTERS,
} from './storable.ts';

/**
 * The change that a record proposes. A planning hint informs the next plan at once; anything else waits until a person has
 * approved it, and even then only informs (OV-19).
 */
export const GAP_RECORD_KINDS = [
  'planning_hint',
  'prompt_change',
  'pipeline_change',
  'instruction_change',
] as const;

const REVIEW_STATUSES = ['proposed', 'approved', 'rejected'] as const;

/** The ways in which an attempt can fail. */
export const FAILURE_TYPES = [
  'format_error',
  'retrieval_failure',
  'reasoning_gap',
  'tool_limit',
  'server_tool_use',
] as const;

/** The point where an attempt broke, as the overseer classifies it; `unknown` if it could not be determined. */
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
 * A failure in a form that helps with other questions (OV-17): a proposal to the planner, never an instruction. It is found by what
 * happened: the question's attachment (`question_type`), the observed failure, the point where the attempt broke, and the tool there.
 */
export const gapRecordSchema = z.strictObject({
  kind: z.enum(GAP_RECORD_KINDS),
  question_type: createNameSchema(MAX_NAME_CHARACTERS),
  failure_type: z.enum(FAILURE_TYPES),
  // Records of older stores have neither of the two.
  point: z.enum(FAILURE_POINTS).default('unknown'),
  /** Name of the tool at that point; empty for none. */
  tool: createTextSchema(MAX_NAME_CHARACTERS).default(''),
  /** A general description of the questions it is about. */
  pattern: gapText,
  /** The reason why such an attempt fails. */
  cause: gapText,
  /** The advice for the next attempt. */
  advice: gapText,
});

export type GapRecord = Readonly<z.infer<typeof gapRecordSchema>>;

export interface StoredGapRecord extends GapRecord {
  readonly id: number;
  /** Null if a person wrote it. */
  readonly attempt_id: string | null;
  readonly status: (typeof REVIEW_STATUSES)[number];
  /** ISO 8601, UTC. */
  readonly created_at: string;
}

export type ReviewVerdict = 'approved' | 'rejected';

/** Returns true if later plans use it: a hint at once, anything else after a person has approved it (OV-19). */
export function isInforming({ kind, status }: Pick<StoredGapRecord, 'kind' | 'status'>): boolean {
  return status === 'approved' || (status === 'proposed' && kind === 'planning_hint');
}

/** Returns true if no plan uses it until a person has decided (OV-19). */
export function isAwaitingReview(record: Pick<StoredGapRecord, 'kind' | 'status'>): boolean {
  return record.status === 'proposed' && !isInforming(record);
}

/** Formats a record as a planner reads it in a brief. */
export function formatHint({
  pattern,
  cause,
  advice,
}: Pick<GapRecord, 'pattern' | 'cause' | 'advice'>): string {
  return `  pattern: ${pattern}\n  cause: ${cause}\n  advice: ${advice}`;
}

/** Returns all the text that a reader of the record sees. */
export function formatGapRecord(record: GapRecord): string {
  return [record.question_type, record.pattern, record.cause, record.advice].join('\n');
}
