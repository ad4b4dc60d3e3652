import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Attempt } from '../attempts/attempt.ts';
import type { Journal } from '../batch/journal/journal.ts';
import { type GaiaPaths, nameTeamFile } from '../plan/batch-places.ts';
import type { Question } from '../questions/question.ts';
import type { ScoringApi, SubmissionScore } from '../questions/scoring-api.ts';
import { buildSubmission, formatAnswerLine, formatLeaderboardLine, writeLines } from './answers.ts';

/** The finished results to write, in the order of teams and questions. */
export interface Finished {
  readonly journal: Journal;
  readonly teams: readonly string[];
  readonly questions: readonly Question[];
  readonly repeat: number;
}

/** Writes the answers file, and for each team a leaderboard file of first attempts. */
export function writeAnswers(finished: Finished, places: Pick<GaiaPaths, 'answers'>): void {
  const { teams, repeat } = finished;
  const byId = new Map(finished.questions.map((question) => [question.taskId, question]));
  writeLines(places.answers, answerLines());
  const leaderboard = places.answers.replace(/(\.jsonl)?$/, '.leaderboard.jsonl');
  for (const team of teams) {
    writeLines(
      nameTeamFile(leaderboard, team, teams.length),
      formatLines(readFirstAttempts(finished, team), formatLeaderboardLine),
    );
  }

  function* answerLines(): Generator<string> {
    for (const team of teams) {
      for (let cycle = 1; cycle <= repeat; cycle++)
        yield* formatLines(readCycleResults(finished, team, cycle), (result) =>
          formatAnswerLine(result, byId.get(result.task_id)),
        );
    }
  }
}

/** Identity of the submitting user. */
interface Submitter {
  readonly username: string;
  readonly agentCode: string;
}

/**
 * Saves a team's submission, and only then sends it (SV-19, SV-20).
 *
 * @throws MeshError `io` with the server's words; the saved payload can be sent by hand
 */
export async function submitAnswers(
  finished: Finished,
  team: string,
  who: Submitter,
  file: string,
  api: ScoringApi | undefined,
): Promise<SubmissionScore | undefined> {
  const submission = buildSubmission(who, readFirstAttempts(finished, team));
  writeLines(file, [JSON.stringify(submission, null, 2)]);
  if (api === undefined) return undefined;
  try {
    return await api.submit(submission);
  } catch (error) {
    if (!(error instanceof MeshError) || error.code === 'interrupted') throw error;
    throw new MeshError(error.code, `not submitted: ${error.message}; the submission is saved in ${file}`, {
      cause: error,
    });
  }
}

function readFirstAttempts(finished: Finished, team: string): Generator<Attempt> {
  return readCycleResults(finished, team, 1);
}

function* readCycleResults(
  { journal, questions }: Finished,
  team: string,
  cycle: number,
): Generator<Attempt> {
  for (const { taskId } of questions) {
    const result = journal.read({ task_id: taskId, team, cycle });
    if (result !== undefined) yield result;
  }
}

function* formatLines(from: Iterable<Attempt>, line: (result: Attempt) => string): Generator<string> {
  for (const result of from) yield line(result);
}
