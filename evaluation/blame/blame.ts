import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import type { BatchEnd } from '../batch/batch.ts';
import { type RunContext, Runner } from '../batch/runner.ts';
import { type Question, toAttemptId } from '../questions/question.ts';
import { type Arm, buildBranchFile, createReplacers, listArms } from './arms.ts';
import type { BlameFile } from './blame-file.ts';
import type { BlamePlan } from './blame-plan.ts';
import { blameFile, judgeBranches, type Read } from './blame-results.ts';
import { findSuspects } from './judge.ts';

/** Returns the number of fresh tries for a suspect's branches. */
const countConfirmTries = (tries: number) => 2 * tries;

/**
 * Runs branches of the question, as often as the plan says, and judges its messages: first each message as recorded and with the
 * truth; then suspects, with fresh tries; then the other replacements of the messages that matter.
 */
export async function blame(
  plan: BlamePlan,
  context: RunContext,
): Promise<{ found: BlameFile; end: BatchEnd }> {
  const { recorded, tries } = plan;
  const arms = planArms(plan);
  const all = tries + countConfirmTries(tries);
  const file = JSON.stringify(buildBranchFile(recorded, arms, (taskId) => listAttemptIds(taskId, all)));
  mkdirSync(path.dirname(plan.branches), { recursive: true });
  writeWhole(plan.branches, file);
  const fingerprint = { ...plan.fingerprint, branches: createHash('sha256').update(file).digest('hex') };
  const runner = new Runner({ ...plan, fingerprint });
  const { journal } = runner;
  const read: Read = (taskId) =>
    Array.from({ length: all }, (_, i) =>
      journal.read({ task_id: taskId, team: plan.team.team.name, cycle: i + 1 }),
    ).filter((result) => result !== undefined);
  const ask = async (chosen: readonly Arm[], repeat: number): Promise<BatchEnd> => {
    if (chosen.length === 0) return { kind: 'finished' };
    const questions = chosen.map(({ taskId }): Question => ({ ...plan.question, taskId }));
    return (await runner.runTeam(plan.team, context, { questions, repeat })).end;
  };
  try {
    const isFirst = ({ says }: Arm) => says === 'kept' || says === 'truth';
    let end = await ask(arms.filter(isFirst), tries);
    if (end.kind === 'finished') {
      const { outset, tallies } = judgeBranches(plan, arms, read);
      const places = findSuspects(outset, tallies).flatMap((index) => [index, index + 1]);
      end = await ask(
        arms.filter(({ says, keep }) => says === 'kept' && places.includes(keep)),
        all,
      );
    }
    if (end.kind === 'finished') {
      const { messages } = judgeBranches(plan, arms, read);
      const matters = new Set(
        messages.flatMap(({ verdict }, index) =>
          verdict === 'made the answer wrong' || verdict === 'passed it on' ? [index + 1] : [],
        ),
      );
      end = await ask(
        arms.filter((arm) => !isFirst(arm) && matters.has(arm.keep)),
        tries,
      );
    }
    return { found: blameFile(plan, arms, read, end), end };
  } finally {
    await runner.close();
  }
}

/** Counts the branches that are run in any case; suspects take more. */
export function countBranches(plan: BlamePlan): number {
  return (
    planArms({ ...plan, replacements: plan.replacements.filter((name) => name === 'truth') }).length *
    plan.tries
  );
}

/** Lists every arm that may be tried. */
function planArms({ question, recorded, answer, replacements }: BlamePlan): Arm[] {
  const replacers = createReplacers(question, answer.text, recorded);
  return listArms(recorded, Object.fromEntries(replacements.map((name) => [name, replacers[name]])));
}

const listAttemptIds = (taskId: string, tries: number) =>
  Array.from({ length: tries }, (_, i) => toAttemptId(taskId, i + 1));
