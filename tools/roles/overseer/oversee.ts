import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import type { ModelSums } from '@gaia-mesh/core/contracts/usage.ts';
import * as z from 'zod';
import { NO_ANSWER } from '../../answers/answer-format.ts';
import { findReader } from '../../files/reading/readers.ts';
import { OfferedTools } from '../../foreign/offered.ts';
import type { IsRight, ToolServices } from '../../tool-services.ts';
import { answeredSchema, conclude } from '../answer/answered.ts';
import { toAttached } from '../attached.ts';
import { formatHint } from '../memory/gap-record.ts';
import { classifyQuestion, type Plan, planSchema } from '../plan.ts';
import { createEntryTool, type Problem } from '../role-tool.ts';
import type { RoleWork } from '../role-work.ts';
import { type Attempt, type AttemptOwner, learnAttempt, storeAttempt } from './learn.ts';
import { classifyResolution } from './resolution.ts';
import { readTruths, TRUTHS_FILE, type Truth } from './truths.ts';

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
  const { question, file, document } = problem;
  const beginMs = performance.now();
  const spent = work.usage.total;
  const before = work.trace.entries.length;
  const type = classifyQuestion(file);
  const brief = await composeBrief(problem, type, work);
  const attached = toAttached(problem);
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
async function composeBrief({ question, file }: Problem, type: string, work: RoleWork): Promise<string> {
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
