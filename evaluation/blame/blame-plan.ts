import { existsSync } from 'node:fs';
import path from 'node:path';
import { resolveTaskFolder } from '@gaia-mesh/core/agent/task-files.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { FINAL_ANSWER, type JsonObject, toFolderName } from '@gaia-mesh/core/contracts/packet.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import * as z from 'zod';
import { buildAttempt } from '../attempts/build-attempt.ts';
import { type BatchHead, listHeadQuestions, readBatchHead } from '../batch/journal/batch-head.ts';
import { openJournal } from '../batch/journal/journal.ts';
import { findFilesFolder, resolveGaiaPaths, shortenPath } from '../plan/batch-places.ts';
import { amount, argument, defineTable, flag, option, text, wholeNumber } from '../plan/option-table.ts';
import { limitShape, teamNeeds, teamShape } from '../plan/options.ts';
import { planRun, type RunPlan } from '../plan/run-plan.ts';
import { hasStore, loadTeams, type PlannedTeam } from '../plan/team-options.ts';
import { findMissingFiles } from '../questions/place-file.ts';
import type { Question } from '../questions/question.ts';
import { readQuestionFile } from '../questions/question-rows.ts';
import { type RecordedQuestion, readRecordedQuestion } from './recorded-question.ts';

/** The question whose answer is examined, and how. */
export interface BlamePlan extends RunPlan {
  readonly question: Question;
  readonly recorded: RecordedQuestion;
  readonly answer: { readonly text: string; readonly isRight: boolean };
  readonly team: PlannedTeam;
  readonly archive: string;
  /** Tries of each branch in the first round. */
  readonly tries: number;
  readonly margin: number;
  /** The file of branches, which agents read. */
  readonly branches: string;
  /** The page with the findings, and the same as JSON. */
  readonly findings: { readonly page: string; readonly json: string };
}

/** All options of `gaia blame`. */
export const blameTable = defineTable({
  options: z.object({
    id: argument('<id>', 'analyse the question with this task_id', z.string()),
    out: option(
      '<file>',
      'read the answers of this batch (default: runs/gaia/answers.jsonl)',
      text.optional(),
    ),
    team: option('<name>', 'choose the team (default: the one that answered)', text.optional()),
    questions: option('<file>', "read questions from this file (default: the batch's)", text.optional()),
    files: option(
      '<dir>',
      'read attached files from this folder (default: beside the questions)',
      text.optional(),
    ),
    repeat: option('<n>', 'try each branch this many times (default: 5)', wholeNumber.optional()),
    margin: option(
      '<share>',
      'ignore changes of the success rate up to this share',
      amount('a share', 1).default(0.25),
    ),
    ...teamShape,
    ...limitShape,
    resume: flag('continue an interrupted analysis'),
    concurrency: option('<k>', 'run this many branches at once', wholeNumber.optional()),
    json: flag('print findings as JSON'),
  }),
  common: [
    ...(['out', 'team', 'questions', 'files', 'repeat', 'engine', 'model', 'baseUrl'] as const),
    ...(['maxTokens', 'maxCost', 'questionTokens', 'timeout', 'resume', 'concurrency', 'json'] as const),
  ],
  needs: teamNeeds,
});

export type BlameOptions = z.output<typeof blameTable.options>;

/** Maximum messages of a question. More would take too long, and no test can tell so many apart. */
const MAX_MESSAGES = 200;
/** First tries of each branch: enough to see a suspect. Undecided messages get more, and suspects fresh ones. */
const TRIES = 5;

/**
 * Plans a blame: the question `id` of a finished batch with its recording, its team, and the engine of the new answers. Whatever
 * the options leave out is as in that batch.
 *
 * @throws MeshError `usage`, `config`
 */
export async function blamePlan(options: BlameOptions): Promise<BlamePlan> {
  const { id } = options;
  const batch = resolveGaiaPaths(options);
  const head = existsSync(batch.head) ? readBatchHead(batch.head) : undefined;
  const question = await findQuestion(id, options, head);
  const name = chooseTeam(options, head, batch.head);
  const [given, ...others] = options.replies ?? [];
  if (others.length > 0)
    throw new MeshError('usage', '--replies: give the archive of the one run that asked the question');
  const archive =
    given === undefined ? path.join(batch.runs, name, 'run_artifacts.tar.gz') : resolveUserPath(given);
  if (given === undefined) checkAsked(id, name, batch.journal);
  const recorded = cutAfterAnswer(await readRecordedQuestion(archive, id), archive);
  const { replies: _replies, ...live } = resolveTeamOptions(options, head, name);
  const [team] = await loadTeams([name], live);
  if (team === undefined) throw new Error('one team was named');
  if (hasStore(team))
    throw new MeshError(
      'usage',
      `team ${team.name} learns from one question to the next, so its branches would not meet the team that was recorded`,
    );
  if (recorded.team !== team.name)
    throw new MeshError(
      'usage',
      `${shortenPath(archive)} is of team ${recorded.team}, not ${team.name} (--team)`,
    );
  const folder = path.join(batch.runs, 'blame', toFolderName(id));
  const branches = path.join(folder, 'branches.json');
  const paths = resolveGaiaPaths({ out: path.join(folder, 'branches.jsonl') });
  const tries = options.repeat ?? TRIES;
  const run = await planRun(
    { ...live, repeat: tries },
    {
      teams: [team],
      questions: [question],
      isBatch: true,
      portBase: live.portBase ?? 'auto',
      external: new Set(),
      folder: await findQuestionFile(question, options, head),
      fingerprint: { question: id },
      warnings: [],
    },
    // Branches are not a batch of the user's, which lists of results would name.
    { ...paths, head: path.join(folder, 'branches.plan.json'), branches },
    () => path.join(paths.runs, team.name),
  );
  const [planned] = run.teams;
  if (planned === undefined) throw new Error('one team was planned');
  return {
    ...run,
    question,
    recorded,
    answer: scoreAnswer(question, recorded, team.name),
    team: planned,
    archive: shortenPath(archive),
    tries,
    margin: options.margin,
    branches,
    findings: { page: path.join(folder, 'blame.html'), json: path.join(folder, 'blame.json') },
  };
}

function findSource({ questions }: BlameOptions, head: BatchHead | undefined): string | undefined {
  return questions ?? head?.source ?? undefined;
}

/** Finds the folder with the question's file: the batch's own, unless `--files` names another. */
async function findQuestionFile(
  question: Question,
  options: BlameOptions,
  head: BatchHead | undefined,
): Promise<string | undefined> {
  const kept = resolveTaskFolder(resolveGaiaPaths(options).files, question.taskId);
  const isKept = question.fileName !== undefined && existsSync(path.join(kept, question.fileName));
  const folder =
    options.files === undefined && isKept
      ? kept
      : findFilesFolder({ ...options, questions: findSource(options, head) });
  const [missing] = folder === undefined ? [] : await findMissingFiles([question], folder);
  if (missing !== undefined)
    throw new MeshError('usage', `--files: the question's file is missing: ${missing.why}`);
  return folder;
}

async function findQuestion(
  id: string,
  options: BlameOptions,
  head: BatchHead | undefined,
): Promise<Question> {
  const source = findSource(options, head);
  const isThere =
    source !== undefined && (options.questions !== undefined || existsSync(resolveUserPath(source)));
  const all =
    isThere && source !== undefined
      ? (await readQuestionFile(resolveUserPath(source))).questions
      : head === undefined
        ? []
        : listHeadQuestions(head);
  const question = all.find(({ taskId }) => taskId === id);
  if (question === undefined)
    throw new MeshError(
      'usage',
      all.length === 0
        ? `no batch of gaia was found with question ${id}: name its answers with --out, or give --questions, --team and --replies`
        : `there is no question ${id}; the first of ${all.length} is ${all[0]?.taskId}`,
    );
  if (question.truths.length === 0)
    throw new MeshError(
      'usage',
      `question ${id} has no true answer, so it is not known whether its answer was wrong`,
    );
  return question;
}

/**
 * Refuses an answer from the cache, of which the batch has no messages.
 *
 * @throws MeshError `usage`
 */
function checkAsked(id: string, team: string, journal: string): void {
  if (!existsSync(journal)) return;
  const results = openJournal(journal);
  try {
    if (results.read({ task_id: id, team, cycle: 1 })?.cached !== true) return;
  } finally {
    results.close();
  }
  throw new MeshError(
    'usage',
    `question ${id} was answered from the cache, so the batch has no messages of it: run the batch again with --no-cache, or name the archive of the run that asked it (--replies)`,
  );
}

function chooseTeam({ team }: BlameOptions, head: BatchHead | undefined, file: string): string {
  if (team !== undefined) return team;
  const names = head?.teams.map(({ name }) => name) ?? [];
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) return only;
  throw new MeshError(
    'usage',
    names.length === 0
      ? '--team: name the team that answered'
      : `--team: ${file} has several teams: name one of ${names.join(', ')}`,
  );
}

/** Takes engine and model from the batch, unless the options name others. */
function resolveTeamOptions(options: BlameOptions, head: BatchHead | undefined, name: string): BlameOptions {
  const { engine, model } = head?.teams.find((team) => team.name === name) ?? {};
  if (options.engine !== undefined || options.baseUrl !== undefined || engine === undefined) return options;
  if (engine === 'recorded')
    throw new MeshError(
      'usage',
      '--engine: the batch was itself a replay: name the engine for the new answers',
    );
  return {
    ...options,
    engine,
    model: options.model ?? model ?? undefined,
  };
}

/** Drops messages after the answer, which cannot have changed it. */
function cutAfterAnswer(recorded: RecordedQuestion, archive: string): RecordedQuestion {
  const end = recorded.messages.findIndex(({ tag }) => tag === FINAL_ANSWER);
  if (end === -1)
    throw new MeshError(
      'usage',
      `${shortenPath(archive)}: the question ended without an answer, so there is no answer to explain`,
    );
  const messages = recorded.messages.slice(0, end + 1);
  if (messages.length > MAX_MESSAGES)
    throw new MeshError(
      'usage',
      `the question took ${messages.length} messages; blame takes at most ${MAX_MESSAGES}`,
    );
  return { ...recorded, messages };
}

/** Scores the recorded answer by the rules of a batch. */
function scoreAnswer(question: Question, { messages }: RecordedQuestion, team: string): BlamePlan['answer'] {
  const payload: JsonObject = messages.at(-1)?.payload ?? {};
  const answer = String(payload.answer ?? '');
  const end = { status: 'answered' as const, answer, elapsedMs: 0, scores: {} };
  const { final_answer, correct } = buildAttempt(end, { question, team, cycle: 1, redact: (text) => text });
  return { text: final_answer, isRight: correct === true };
}
