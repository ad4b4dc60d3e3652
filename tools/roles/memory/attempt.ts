import { isJsonList, isJsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';

/** Maximum length of ids, that of the longest key in a packet's head. */
export const MAX_ID_CHARACTERS = 256;

/** Maximum length of the names of teams, models and question types, which are keys in reports. */
const MAX_NAME_CHARACTERS = 128;

/** Maximum length of a question, an answer, a brief or a diagnosis, ten times what a model's context holds. */
const MAX_TEXT_CHARACTERS = 4 * 1024 * 1024;

/** Maximum length of one JSON column of an attempt, as text. A trace is collected from packets, and a frame holds 64 MiB. */
export const MAX_JSON_CHARACTERS = 16 * 1024 * 1024;

/** Maximum length of each text of a gap record: it is a pattern of a few sentences, and a brief holds several of them. */
const MAX_GAP_TEXT_CHARACTERS = 4_000;

/** Returns a text that every back end can store: Postgres refuses NUL, and UTF-8 has no lone surrogates. Both become U+FFFD. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Creates the schema of a text of at most `maxLength` characters, made {@link toStorable}. */
function createTextSchema(maxLength: number) {
  return z.string().max(maxLength).transform(toStorable);
}

/** Creates the schema of a name, which is not empty. */
const createNameSchema = (maxLength: number) => createTextSchema(maxLength).pipe(z.string().min(1));

/** Schemas of what the store keeps. A longer text is refused rather than cut, because records are kept verbatim. */
export const storable = {
  id: createNameSchema(MAX_ID_CHARACTERS),
  name: createNameSchema(MAX_NAME_CHARACTERS),
  question: createNameSchema(MAX_TEXT_CHARACTERS),
  text: createTextSchema(MAX_TEXT_CHARACTERS),
};

/** Creates the schema of a value whose JSON has at most `maxLength` characters. JSON escapes what texts cannot hold, so it is kept as it is. */
function createJsonSchema<T extends JsonValue>(
  maxLength: number,
  isShape: (value: unknown) => value is T,
  expected: string,
) {
  return z.custom<T>(isShape, `must be ${expected}`).superRefine((value, context) => {
    const length = JSON.stringify(value).length;
    if (length > maxLength) {
      context.addIssue({
        code: 'custom',
        message: `is ${length} characters of JSON, more than ${maxLength}`,
      });
    }
  });
}

/**
 * The change that a record proposes. A planning hint informs the next plan at once; anything else waits until a person has
 * approved it, and even then only informs (OV-19).
 */
const GAP_RECORD_KINDS = ['planning_hint', 'prompt_change', 'pipeline_change', 'instruction_change'] as const;

const REVIEW_STATUSES = ['proposed', 'approved', 'rejected'] as const;

/** The ways in which an attempt can fail. */
const FAILURE_TYPES = [
  'format_error',
  'retrieval_failure',
  'reasoning_gap',
  'tool_limit',
  'server_tool_use',
] as const;

/** The point where an attempt broke, as the overseer classifies it; `unknown` if it could not be determined. */
const FAILURE_POINTS = [
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
  question_type: storable.name,
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

/** The possible ends of an attempt (OV-34); `format_error` is a right answer in the wrong form (OV-41). */
const RESOLUTION_TYPES = ['correct', ...FAILURE_TYPES] as const;
export type ResolutionType = (typeof RESOLUTION_TYPES)[number];

/**
 * One attempt at one question, right or wrong (OV-20, OV-37): a row of `gaia_attempts` (requirements 4.3). The number of the attempt
 * is missing: the store counts a team's attempts at a question over all runs, because the lessons of one run
 * feed the next.
 */
export const attemptSchema = z
  .strictObject({
    attempt_id: storable.id,
    run_id: storable.id,
    team: storable.name,
    /** The cycle of the run, from 1. */
    cycle: z.int().positive(),
    task_id: storable.id,
    question: storable.question,
    question_type: storable.name,
    level: storable.name.nullable(),
    /** The whole brief, with the gap records that were retrieved (OV-30). */
    pm_brief: storable.text,
    /** Null if there was no plan. */
    pm_plan: createJsonSchema(MAX_JSON_CHARACTERS, isJsonObject, 'an object').nullable(),
    /** Raw calls: search queries, code with its output, file operations (OV-32). */
    tool_calls: createJsonSchema(MAX_JSON_CHARACTERS, isJsonList, 'a list'),
    /** Every call, intermediate result and step of reasoning, in order (OV-06). */
    trace: createJsonSchema(MAX_JSON_CHARACTERS, isJsonList, 'a list'),
    /** The answer before its format was normalised (OV-33). */
    raw_answer: storable.text,
    final_answer: storable.text,
    /** Null if no true answer is known; false without any answer. */
    correct: z.boolean().nullable(),
    /** Null if `correct` is null. */
    resolution_type: z.enum(RESOLUTION_TYPES).nullable(),
    /** Verbatim (OV-35); null if the overseer did not run. */
    overseer_diagnosis: storable.text.nullable(),
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

/** The part of the store that agents work with: it keeps the overseer's attempts and finds lessons again. */
export interface AttemptMemory {
  /** Stores an attempt, right or wrong (OV-20), and returns its number: 1 for the team's first at this question. */
  recordAttempt(attempt: Attempt): Promise<number>;

  /** Adds the overseer's diagnosis, word for word, to an attempt that is recorded already (OV-35). */
  addDiagnosis(attemptId: string, diagnosis: string): Promise<void>;

  /**
   * Stores a gap record for the very next plan (OV-15) and in the row of its attempt (OV-36), which must exist already.
   *
   * @returns its id; undefined if it is not stored, because it reveals the answer or names from the question (OV-12)
   */
  addGapRecord(record: GapRecord, origin: GapOrigin): Promise<number | undefined>;

  /** Returns the records that a planner may see for a question, most relevant first: planning hints, and records that a person approved (OV-16, OV-19). */
  gapRecords(query: GapQuery): Promise<StoredGapRecord[]>;
}

/** The question that a gap record comes from, which it must not reveal. */
interface GapOrigin {
  /** The attempt that it was abstracted from; null if a person wrote it. */
  readonly attempt_id: string | null;
  /** Empty for a record that was not made from a question. */
  readonly question: string;
  /** The true answer in all its accepted forms; empty if none is known. */
  readonly answers: readonly string[];
}

interface GapQuery {
  readonly questionType: string;
  /** Tools that the question certainly needs, such as the reader of its file. */
  readonly tools?: readonly string[];
  readonly question: string;
  /** 1 to 50. */
  readonly limit: number;
}
