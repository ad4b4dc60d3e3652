import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import type { ModelSums } from '@gaia-mesh/core/contracts/usage.ts';
import * as z from 'zod';
import { NO_ANSWER } from '../../answers/answer-format.ts';
import { findReader } from '../../files/reading/readers.ts';
import { OfferedTools } from '../../foreign/offered.ts';
import type { IsRight, ToolServices } from '../../tool-services.ts';
import { answeredSchema, conclude } from '../answer/answered.ts';
import { formatHint, MAX_ID_CHARACTERS, type ResolutionType } from '../memory/attempt.ts';
import { classifyQuestion, type Plan, planSchema } from '../plan.ts';
import { type Conclusion, createEntryTool, type Problem } from '../role-tool.ts';
import type { RoleWork } from '../role-work.ts';
import type { TraceEntry } from '../trace.ts';
import { diagnosisSchema, gapSchema } from './diagnose.ts';
import { classifyResolution } from './resolution.ts';
import { readTruths, TRUTHS_FILE, type Truth } from './truths.ts';

/** The outcome of one attempt at a question. */
interface Attempt {
  readonly number: number;
  readonly question: string;
  /** Derived from the attached file, hence the same in every attempt: hints are found by it. A planner's own type might name the question (OV-16). */
  readonly questionType: string;
  readonly brief: string;
  /** Null if there was none. */
  readonly plan: Plan | null;
  readonly conclusion: Conclusion;
  readonly entries: readonly TraceEntry[];
  readonly resolution: ResolutionType;
  readonly tokens: number;
  readonly costUsd: number | null;
  readonly seconds: number;
}

/** The run, team and task of an attempt, for the store. */
interface AttemptOwner {
  readonly run_id: string;
  readonly team: string;
  readonly taskId: string;
  readonly truth: Truth;
}

const optionsSchema = z.looseObject({
  retry: z.looseObject({ attempts: z.int().positive().default(1) }).prefault({}),
  run_id: z.string().default('run'),
  team: z.string().default('overseer'),
});

const briefReply = z.looseObject({
  hints: z.array(
    z.looseObject({
      failure_type: z.string(),
      point: z.string(),
      tool: z.string(),
      pattern: z.string(),
      cause: z.string(),
      advice: z.string(),
    }),
  ),
});

/**
 * Creates the overseer's runner: retrieve → plan → execute → format → score → (if wrong) diagnose → abstract → store (OV-40). It alone
 * knows the true answers and asks each role separately: the overseer's roles and the executing one have no contact
 * (OV-18). Prompts, teams and instructions are files that no agent can write (OV-19).
 */
export function oversee({ loadScorer }: ToolServices): Tool {
  let isRight: IsRight = () => false;
  let truths: ReadonlyMap<string, Truth> = new Map();
  return createEntryTool({
    name: 'oversee',
    description:
      'plans, executes, scores and, after a wrong answer, diagnoses it and keeps what later plans can learn',
    async prepare({ workspace }) {
      truths = readTruths(path.join(workspace, TRUTHS_FILE));
      isRight = await loadScorer();
    },
    async run(problem, work) {
      const truth = truths.get(problem.taskId);
      if (truth === undefined) {
        // It could learn nothing and would not know when to stop (C-12).
        throw new MeshError(
          'config',
          `the overseer needs the true answer of ${problem.taskId}, and there is none`,
        );
      }
      const { retry, run_id, team } = work.options(optionsSchema);
      const owner: AttemptOwner = { run_id, team, taskId: problem.taskId, truth };
      for (let number = 1; ; number++) {
        const attempt = await attemptOnce(problem, owner, number, isRight, work);
        const { resolution, conclusion, questionType: question_type } = attempt;
        work.note(`attempt ${number}: ${resolution}`);
        const isCorrect = resolution === 'correct';
        // The overseer's roles run only after wrong attempts (OV-10).
        if (isCorrect) await storeAttempt(attempt, owner, work);
        const learned = isCorrect ? {} : { gap_stored: await learnAttempt(attempt, owner, work) };
        if (isCorrect || number === retry.attempts || work.isOutOfTime) {
          const details = { attempts: number, resolution_type: resolution, question_type, ...learned };
          return { ...conclusion, details };
        }
      }
    },
  });
}

async function attemptOnce(
  problem: Problem,
  owner: AttemptOwner,
  number: number,
  isRight: IsRight,
  work: RoleWork,
): Promise<Attempt> {
  const { question, attached, document } = problem;
  const beginMs = performance.now();
  const spent = work.usage.total;
  const before = work.trace.entries.length;
  const type = classifyQuestion(attached.file);
  const brief = await composeBrief(problem, type, work);
  const tools = work.context.partners.find(({ id }) => id === 'execute')?.tools ?? [];
  const soFar = () => {
    const total = work.usage.total;
    return {
      number,
      question,
      questionType: type,
      brief,
      entries: work.trace.entries.slice(before),
      tokens: sumTokens(total) - sumTokens(spent),
      costUsd: total.cost_usd === null || spent.cost_usd === null ? null : total.cost_usd - spent.cost_usd,
      seconds: (performance.now() - beginMs) / 1000,
    };
  };
  let plan: Plan | null = null;
  try {
    const foreign = await OfferedTools.toPlan(work);
    const given = { question, ...attached, document, tools, ...foreign, brief, last: '', feedback: '' };
    plan = await work.askRole('plan', given, planSchema);
    const answered = await work.askRole('execute', { question, ...attached, plan }, answeredSchema);
    // The answer is cleaned before scoring (OV-07).
    const conclusion = conclude(answered);
    const attempt = soFar();
    const { answers } = owner.truth;
    const resolution = classifyResolution(conclusion.answer, answered, answers, attempt.entries, isRight);
    return { ...attempt, plan, conclusion, resolution };
  } catch (error) {
    // An attempt that broke off is recorded, too (OV-37), before the task fails with its error.
    if (error instanceof MeshError && !work.context.signal.aborted) {
      const conclusion = { answer: NO_ANSWER, raw: error.message };
      const resolution = work.isTimeUp(error) ? 'tool_limit' : 'server_tool_use';
      await storeAttempt({ ...soFar(), plan, conclusion, resolution }, owner, work);
    }
    throw error;
  }
}

function sumTokens({ prompt_tokens, completion_tokens }: ModelSums): number {
  return (prompt_tokens ?? 0) + (completion_tokens ?? 0);
}

/** Composes the hints for a planner, most relevant first (OV-16), so that observations and advice are told apart (OV-43). */
async function composeBrief(
  { question, attached: { file } }: Problem,
  type: string,
  work: RoleWork,
): Promise<string> {
  const reader = file === undefined ? undefined : findReader(file);
  const tools = reader === undefined ? [] : [reader];
  const reply = await work.askTool('gap_store', { action: 'brief', question, question_type: type, tools });
  if ('error' in reply) throw new MeshError('store', `gap records cannot be read: ${reply.error.message}`);
  const { hints } = briefReply.parse(reply.data);
  return hints
    .map((hint, i) => {
      const observed = [hint.failure_type, hint.point, hint.tool].filter((part) => part !== '').join(', ');
      return `Hint ${i + 1}\n  observed: ${observed}\n${formatHint(hint)}`;
    })
    .join('\n');
}

/** Stores an attempt as it is; a diagnosis comes later (OV-20, OV-37). */
async function storeAttempt(attempt: Attempt, owner: AttemptOwner, work: RoleWork): Promise<void> {
  await askStore(work, { action: 'attempt', record: buildAttemptRecord(attempt, owner) });
}

/**
 * Stores a wrong attempt, and a lesson from it for later plans (OV-10 to OV-15).
 *
 * @returns true if a gap record of it was stored
 */
async function learnAttempt(attempt: Attempt, owner: AttemptOwner, work: RoleWork): Promise<boolean> {
  // The attempt is stored while the overseer's roles work, one after the other (OV-14, C-05): it is kept if they do not come to an end.
  const [gap] = await Promise.all([describeGap(attempt, owner, work), storeAttempt(attempt, owner, work)]);
  if (gap === undefined) return false;
  const attempt_id = formatAttemptId(attempt, owner);
  await askStore(work, { action: 'diagnosis', attempt_id, diagnosis: gap.diagnosis });
  if (gap.record === undefined) return false;
  // A record that would reveal the answer is refused, which is no failure of the run (C-12).
  const { question } = attempt;
  const { answers } = owner.truth;
  const kept = await askStore(work, { action: 'gap', attempt_id, question, answers, record: gap.record });
  return z.looseObject({ stored: z.boolean() }).parse(kept).stored;
}

/** Asks for the diagnosis, and then for a record without anything of the question; undefined if there is no diagnosis (OV-13). */
async function describeGap(
  attempt: Attempt,
  owner: AttemptOwner,
  work: RoleWork,
): Promise<{ readonly diagnosis: string; readonly record: JsonObject | undefined } | undefined> {
  const { question, questionType, conclusion, entries, plan, resolution } = attempt;
  // The overseer's roles know the truth, so their steps stay out of the answer's trace.
  const secretly = { takesTrace: false };
  const given = {
    question,
    plan,
    attempt: entries,
    raw_answer: conclusion.raw,
    answer: conclusion.answer,
    truth: owner.truth.answers.join(' or '),
    resolution_type: resolution,
  };
  const diagnosed = await tryRole('diagnose', work, () =>
    work.askRole('diagnose', given, diagnosisSchema, secretly),
  );
  if (diagnosed === undefined) return undefined;
  const { diagnosis, point } = diagnosed;
  // A tool that no step called is the model's invention.
  const tool = entries.some((entry) => entry.tool === diagnosed.tool) ? diagnosed.tool : '';
  const known = { diagnosis, point, tool, resolution_type: resolution };
  const asked = { ...known, question_type: questionType, planned_type: plan?.question_type ?? '' };
  const gap = await tryRole('abstract', work, () => work.askRole('abstract', asked, gapSchema, secretly));
  if (gap === undefined) return { diagnosis, record: undefined };
  const record = { ...gap, question_type: questionType, failure_type: resolution, point, tool };
  return { diagnosis, record };
}

function buildAttemptRecord(attempt: Attempt, owner: AttemptOwner): JsonObject {
  const { run_id, team, truth } = owner;
  const { entries: trace } = attempt;
  return {
    attempt_id: formatAttemptId(attempt, owner),
    run_id,
    team,
    cycle: truth.cycle,
    task_id: truth.question_id,
    question: attempt.question,
    question_type: attempt.questionType,
    level: truth.level,
    pm_brief: attempt.brief,
    pm_plan: attempt.plan,
    tool_calls: trace.filter(({ kind }) => kind === 'tool'),
    trace,
    raw_answer: attempt.conclusion.raw,
    final_answer: attempt.conclusion.answer,
    correct: attempt.resolution === 'correct',
    resolution_type: attempt.resolution,
    overseer_diagnosis: null,
    tokens: attempt.tokens,
    cost: attempt.costUsd,
    seconds: attempt.seconds,
  };
}

function formatAttemptId({ number }: Attempt, { run_id, taskId }: AttemptOwner): string {
  return `${run_id}/${taskId}/${number}`.slice(-MAX_ID_CHARACTERS);
}

/**
 * Asks one of the overseer's roles, which help later questions; if it fails, this question still has its answer. The error's text is left
 * out: a model's invalid reply may contain the truth.
 */
async function tryRole<Result>(
  role: string,
  work: RoleWork,
  ask: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof MeshError) || work.context.signal.aborted) throw error;
    work.note(`${role} failed (${error.code}): nothing is learned from this attempt`);
    return undefined;
  }
}

async function askStore(work: RoleWork, args: JsonObject): Promise<JsonObject> {
  const reply = await work.askTool('gap_store', args);
  if ('error' in reply) throw new MeshError('store', `the attempt cannot be stored: ${reply.error.message}`);
  return reply.data ?? {};
}
