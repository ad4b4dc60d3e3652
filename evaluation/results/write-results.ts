import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { makeFolder } from '@gaia-mesh/core/system/files/make-folder.ts';
import { explainWriteFault, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { splitItems } from '@gaia-mesh/tools/tables/answer-form.ts';
import * as z from 'zod';
import { type Attempt, attemptSchema, getUse } from '../attempts/attempt.ts';
import type { FinishedBatch } from '../batch/finished-batch.ts';
import { nameTeamFile } from '../plan/batch-places.ts';
import type { GaiaPlan } from '../plan/gaia-plan.ts';
import type { SubmissionScore } from '../questions/scoring-api.ts';
import { answerUseSchema } from '../store/answer-use.ts';

/** Writes the answers file, and for each team a leaderboard file of first attempts. */
export function writeAnswers(batch: FinishedBatch, file: string): void {
  const { teams, repeat } = batch.head;
  const tables = new Set(batch.questions.flatMap(({ taskId, scorer }) => (scorer === 'wtq' ? [taskId] : [])));
  writeLines(file, answerLines());
  const leaderboard = file.replace(/(\.jsonl)?$/, '.leaderboard.jsonl');
  for (const { name } of teams)
    writeLines(nameTeamFile(leaderboard, name, teams.length), leaderboardLines(name));

  function* answerLines(): Generator<string> {
    for (const { name } of teams)
      for (let cycle = 1; cycle <= repeat; cycle++)
        for (const attempt of readAttempts(batch, name, cycle))
          yield formatAnswerLine(attempt, tables.has(attempt.task_id));
  }

  function* leaderboardLines(team: string): Generator<string> {
    for (const { task_id, final_answer, reasoning_trace } of readAttempts(batch, team))
      yield JSON.stringify({ task_id, model_answer: final_answer, reasoning_trace });
  }
}

/**
 * Saves each team's submission, and only then sends it (SV-19, SV-20): when the questions came from a server, or the user asked for it. A
 * partial batch is never sent, since the rest would count as wrong.
 *
 * @returns the scores of the submissions that were sent
 * @throws MeshError `io` with the server's words; the saved payload can be sent by hand
 */
export async function submitTeams(
  { submitter, teams, paths, api }: Pick<GaiaPlan, 'submitter' | 'teams' | 'paths' | 'api'>,
  batch: FinishedBatch,
  isComplete: boolean,
): Promise<Map<string, SubmissionScore>> {
  const scores = new Map<string, SubmissionScore>();
  if (submitter === undefined) return scores;
  for (const { team } of teams) {
    const file = nameTeamFile(paths.submission, team.name, teams.length);
    const submission = buildSubmission(submitter, readAttempts(batch, team.name));
    writeLines(file, [JSON.stringify(submission, null, 2)]);
    if (!isComplete || api === undefined) continue;
    try {
      scores.set(team.name, await api.submit(submission));
    } catch (error) {
      if (!(error instanceof MeshError) || error.code === 'interrupted') throw error;
      throw new MeshError(error.code, `not submitted: ${error.message}; the submission is saved in ${file}`, {
        cause: error,
      });
    }
  }
  return scores;
}

function* readAttempts({ read, questions }: FinishedBatch, team: string, cycle = 1): Generator<Attempt> {
  for (const { taskId } of questions) {
    const attempt = read({ task_id: taskId, team, cycle });
    if (attempt !== undefined) yield attempt;
  }
}

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

/** Takes the keys of a line, in their order, out of all facts of an attempt. */
const lineSchema = z.object(answerSchema.shape);

/**
 * Formats a line of the answers file. The file is in input order, with a line for each finished question, cycle and team
 * (REQ-074). Unknown values are omitted; `cost` is null if a price is not known.
 */
function formatAnswerLine(attempt: Attempt, isAboutTable: boolean): string {
  const line = lineSchema.parse({
    ...attempt,
    ...getUse(attempt),
    final_answer: isAboutTable ? parseAnswerItems(attempt) : attempt.final_answer,
    correct: attempt.correct ?? undefined,
    correct_lenient: attempt.correct_lenient ?? undefined,
  });
  return JSON.stringify(line);
}

/** Returns the items of an answer about a table: one item as a text, several as a list. */
function parseAnswerItems({ status, final_answer }: Attempt): string | string[] | null {
  const items = status === 'answered' ? splitItems(final_answer) : [];
  return items.length > 1 ? items : (items[0] ?? null);
}

/** Builds the submission for a scoring API: the bare answers, and always the user and a link to the code (C-08). */
function buildSubmission(
  { username, agentCode }: NonNullable<GaiaPlan['submitter']>,
  attempts: Iterable<Attempt>,
) {
  const answers = [...attempts].map(({ task_id, final_answer }) => ({
    task_id,
    submitted_answer: final_answer,
  }));
  return { username, agent_code: agentCode, answers };
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
