import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { makeFolder } from '@gaia-mesh/core/system/files/make-folder.ts';
import { explainWriteFault, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { splitItems } from '@gaia-mesh/tools/tables/answer-form.ts';
import * as z from 'zod';
import { type Attempt, attemptSchema, getUse } from '../attempts/attempt.ts';
import type { Question } from '../questions/question.ts';
import type { Submission } from '../questions/scoring-api.ts';
import { answerUseSchema } from '../store/answer-use.ts';

const { shape: attempt } = attemptSchema;

/** A line of the answers file. */
export const answerSchema = z.strictObject({
  task_id: attempt.task_id,
  final_answer: z
    .union([z.string().min(1), z.array(z.string()), z.null()])
    .describe(
      'the answer, never empty; after a failure, what went wrong. Of questions about tables (--format wtq) a list where it has several items, and null where there is none',
    ),
  reasoning_trace: attempt.reasoning_trace,
  raw_answer: attempt.raw_answer,
  status: attempt.status,
  correct: attempt.correct.unwrap().optional(),
  correct_lenient: attempt.correct_lenient.unwrap().optional(),
  level: attempt.level,
  team: attempt.team,
  cycle: attempt.cycle,
  ...answerUseSchema.shape,
  cached: attempt.cached,
  took: attempt.took,
  confidence: attempt.confidence,
  reason: attempt.reason,
  failed_role: attempt.failed_role,
  file: attempt.file,
});

/**
 * Formats a line of the answers file. The file is in input order, with a line for each finished question, cycle and team
 * (REQ-074). Unknown values are omitted; `cost` is null if a price is not known.
 */
export function formatAnswerLine(attempt: Attempt, question?: Pick<Question, 'scorer'>): string {
  const line: z.infer<typeof answerSchema> = {
    task_id: attempt.task_id,
    final_answer: question?.scorer === 'wtq' ? parseAnswerItems(attempt) : attempt.final_answer,
    reasoning_trace: attempt.reasoning_trace,
    raw_answer: attempt.raw_answer,
    status: attempt.status,
    correct: attempt.correct ?? undefined,
    correct_lenient: attempt.correct_lenient ?? undefined,
    level: attempt.level,
    team: attempt.team,
    cycle: attempt.cycle,
    ...getUse(attempt),
    cached: attempt.cached,
    took: attempt.took,
    confidence: attempt.confidence,
    reason: attempt.reason,
    failed_role: attempt.failed_role,
    file: attempt.file,
  };
  return JSON.stringify(line);
}

/** Returns the items of an answer about a table: one item as a text, several as a list. */
function parseAnswerItems({ status, final_answer }: Attempt): string | string[] | null {
  const items = status === 'answered' ? splitItems(final_answer) : [];
  return items.length > 1 ? items : (items[0] ?? null);
}

/** Formats a line for the leaderboard. */
export function formatLeaderboardLine({ task_id, final_answer, reasoning_trace }: Attempt): string {
  return JSON.stringify({ task_id, model_answer: final_answer, reasoning_trace });
}

/** Builds the submission for a scoring API: the bare answers, and always the user and a link to the code (C-08). */
export function buildSubmission(
  who: { readonly username: string; readonly agentCode: string },
  results: Iterable<Attempt>,
): Submission {
  const answers = [...results].map(({ task_id, final_answer }) => ({
    task_id,
    submitted_answer: final_answer,
  }));
  return { username: who.username, agent_code: who.agentCode, answers };
}

/**
 * Writes lines to a file that readers see as a whole or not at all. The lines are produced one by one, so that memory does not
 * grow with their number.
 *
 * @throws MeshError `io`; an existing file is unchanged then
 */
export function writeLines(file: string, lines: Iterable<string>): void {
  try {
    makeFolder(path.dirname(file));
  } catch (error) {
    throw new MeshError('io', `${file} cannot be written: ${explainWriteFault(error)}`, { cause: error });
  }
  writeWhole(file, endLines(lines));
}

function* endLines(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}
