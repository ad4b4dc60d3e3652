import { DEPARTED } from '@gaia-mesh/core/agent/branches.ts';
import { sumOfKnown } from '@gaia-mesh/core/contracts/usage.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import type { BatchEnd } from '../batch/batch.ts';
import type { Tally } from '../statistics/answers/independent-answers.ts';
import { toOneLine } from '../terminal/table.ts';
import type { Arm } from './arms.ts';
import type { BlameFile } from './blame-file.ts';
import type { BlamePlan } from './blame-plan.ts';
import { formatHeadline } from './headline.ts';
import {
  type Confirmation,
  computeChance,
  findCulprits,
  type JudgedMessage,
  judge,
  type MessageTallies,
  REPLACEMENTS,
} from './judge.ts';
import type { Message } from './recorded-question.ts';

/** Maximum characters of a message in a table or on a page. */
const SHOWN_CHARACTERS = 400;

/** Returns the results of an arm's branches, in the order of their cycles. */
export type Read = (taskId: string) => readonly Attempt[];

/** Tells if an attempt departed from the recording before its branch began. What follows then says nothing about the question. */
const hasDeparted = ({ status, reason = '' }: Attempt) => status !== 'answered' && reason.includes(DEPARTED);

/** Judges the branches finished so far. */
export function judgeBranches(
  { recorded, margin, tries }: BlamePlan,
  arms: readonly Arm[],
  read: Read,
): {
  readonly outset: Tally;
  readonly tallies: readonly MessageTallies[];
  readonly messages: readonly JudgedMessage[];
} {
  const tally = (place: number, says: Arm['says'], isFirst: boolean): Tally => {
    const arm = arms.find(({ keep, says: what }) => keep === place && what === says);
    const results = (arm === undefined ? [] : read(arm.taskId)).filter(
      (result) => result.cycle <= tries === isFirst && !hasDeparted(result),
    );
    return { right: results.filter(({ correct }) => correct === true).length, tries: results.length };
  };
  const tallies = recorded.messages.map(
    ({ place }): MessageTallies => ({
      kept: tally(place, 'kept', true),
      replaced: Object.fromEntries(
        REPLACEMENTS.map((says) => [says, tally(place, says, true)] as const).filter(
          ([, { tries: tried }]) => tried > 0,
        ),
      ),
    }),
  );
  const confirmations = recorded.messages.flatMap(({ place }, index): Confirmation[] => {
    const [kept, before] = [tally(place, 'kept', false), tally(place - 1, 'kept', false)];
    return kept.tries > 0 && before.tries > 0 ? [{ index, kept, before }] : [];
  });
  const outset = tally(0, 'kept', true);
  return { outset, tallies, messages: judge(outset, tallies, confirmations, { margin }) };
}

export function blameFile(plan: BlamePlan, arms: readonly Arm[], read: Read, end: BatchEnd): BlameFile {
  const { question, recorded, answer, team, archive, tries, margin } = plan;
  const { outset, messages } = judgeBranches(plan, arms, read);
  const results = arms.flatMap(({ taskId }) => read(taskId));
  const departed = results.filter(hasDeparted);
  const shown = messages.map((message, index) => describeMessage(message, recorded.messages[index]));
  const facts = {
    correct: answer.isRight,
    tries,
    outset: { chance: computeChance(outset), tries: outset.tries },
    messages: shown,
    blamed: findCulprits(shown).map(({ place }) => place),
  };
  return {
    schema_version: 1,
    complete: end.kind === 'finished',
    ended_by: end.kind === 'finished' ? undefined : end.reason,
    task_id: question.taskId,
    question: question.question,
    truth: question.truths[0] ?? '',
    answer: answer.text,
    team: team.team.name,
    engine: team.team.engine,
    model: team.team.model ?? null,
    archive,
    margin,
    branches: {
      asked: results.length,
      right: results.filter(({ correct }) => correct === true).length,
      departed: departed.length,
      failed: results.filter((result) => result.status !== 'answered' && !hasDeparted(result)).length,
      // The sums are null if one of the values is unknown.
      tokens: results.reduce<number | null>((sum, one) => sumOfKnown(sum, getUse(one).tokens), 0),
      cost: results.reduce<number | null>((sum, one) => sumOfKnown(sum, getUse(one).cost), 0),
    },
    departed: departed[0]?.reason,
    ...facts,
    headline: formatHeadline(facts),
  };
}

function describeMessage(
  { chance, tries, again, replaced, verdict }: JudgedMessage,
  message: Message | undefined,
): BlameFile['messages'][number] {
  const { place = 0, id = '', from = '', to = null, type = '', payload = {} } = message ?? {};
  const inFile = ({ adjustedP, ...effect }: JudgedMessage['again']) => ({ ...effect, adjusted_p: adjustedP });
  return {
    place,
    id,
    from,
    to,
    type,
    chance,
    tries,
    verdict,
    says: toOneLine(JSON.stringify(payload), SHOWN_CHARACTERS),
    again: inFile(again),
    replaced: Object.fromEntries(Object.entries(replaced).map(([name, effect]) => [name, inFile(effect)])),
  };
}
