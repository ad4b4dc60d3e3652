import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { ResolutionType } from '../memory/attempt.ts';
import { MAX_ID_CHARACTERS } from '../memory/storable.ts';
import type { Plan } from '../plan.ts';
import type { Conclusion } from '../role-tool.ts';
import type { RoleWork } from '../role-work.ts';
import type { TraceEntry } from '../trace.ts';
import { diagnosisSchema, gapSchema } from './diagnose.ts';
import type { Truth } from './truths.ts';

/** The outcome of one attempt at a question. */
export interface Attempt {
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
export interface AttemptOwner {
  readonly run_id: string;
  readonly team: string;
  readonly taskId: string;
  readonly truth: Truth;
}

/** Stores an attempt as it is; a diagnosis comes later (OV-20, OV-37). */
export async function storeAttempt(attempt: Attempt, owner: AttemptOwner, work: RoleWork): Promise<void> {
  await askStore(work, { action: 'attempt', record: buildAttemptRecord(attempt, owner) });
}

/**
 * Stores a wrong attempt, and a lesson from it for later plans (OV-10 to OV-15).
 *
 * @returns true if a gap record of it was stored
 */
export async function learnAttempt(attempt: Attempt, owner: AttemptOwner, work: RoleWork): Promise<boolean> {
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
    attempt: toJsonEntries(entries),
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
  const trace = toJsonEntries(attempt.entries);
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

function toJsonEntries(entries: readonly TraceEntry[]): JsonObject[] {
  return entries.map((entry) => ({ ...entry }));
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
