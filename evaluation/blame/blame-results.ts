import { DEPARTED } from '@gaia-mesh/core/agent/branches.ts';
import { BLAME_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { sumOfKnown } from '@gaia-mesh/core/contracts/usage.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import type { BatchEnd } from '../batch/batch.ts';
import { describeMaking } from '../plan/making.ts';
import { findScorer } from '../scorers/scorer.ts';
import { formatDecimals, formatPercent, toOneLine } from '../terminal/table.ts';
import type { BlameFile } from './blame-file.ts';
import type { BlamePlan } from './blame-plan.ts';
import { type Confirmation, computeChance, findCulprits, judge, type MessageTallies } from './judge.ts';
import type { Message } from './recorded-question.ts';
import type { Arm, Trials } from './trials.ts';

/** Maximum characters of a message in a table or on a page. */
const SHOWN_CHARACTERS = 400;

/** Tells if an attempt departed from the recording before its branch began. What follows then says nothing about the question. */
const hasDeparted = ({ status, reason = '' }: Attempt) => status !== 'answered' && reason.includes(DEPARTED);

/** The parts of a plan by which branches are judged. */
type Examined = Pick<BlamePlan, 'answer' | 'recorded' | 'tries' | 'margin'>;

type Answers = MessageTallies['kept'];
type JudgedMessage = ReturnType<typeof judge>[number];

const gaia = findScorer('gaia');

/** Counts the answers of an arm, without those that departed from the recording. */
function countAnswers({ answer }: Examined, results: readonly Attempt[]): Answers {
  const counted = results.filter((result) => !hasDeparted(result));
  // The scorer compares a wrong answer with the recorded one as with a truth: its form does not matter.
  const isSame = ({ status, correct, final_answer }: Attempt) =>
    status === 'answered' && correct !== true && gaia.score(final_answer, [answer.text]).correct === 1;
  return {
    right: counted.filter(({ correct }) => correct === true).length,
    tries: counted.length,
    same: answer.isRight ? undefined : counted.filter(isSame).length,
  };
}

/** Counts and judges the branches finished so far. */
export function judgeBranches(
  plan: Examined,
  trials: Trials,
): {
  readonly outset: Answers;
  readonly tallies: readonly MessageTallies[];
  readonly messages: readonly JudgedMessage[];
} {
  const tally = (place: number, says: Arm['says']) =>
    countAnswers(plan, trials.read(trials.find(place, says)));
  const outset = tally(0, 'kept');
  const tallies = plan.recorded.messages.map(({ place }): MessageTallies => {
    const truth = tally(place, 'truth');
    return { kept: tally(place, 'kept'), replaced: truth.tries > 0 ? { truth } : {} };
  });
  const confirmations = plan.recorded.messages.flatMap(({ place }, index): Confirmation[] => {
    const [kept, before] = [tally(place, 'fresh'), tally(place - 1, 'fresh')];
    return kept.tries > 0 && before.tries > 0 ? [{ index, kept, before }] : [];
  });
  const messages = judge(outset, tallies, confirmations, {
    looks: BLAME_LIMITS.looks,
    margin: plan.margin,
  });
  return { outset, tallies, messages };
}

export function blameFile(plan: BlamePlan, trials: Trials, end: BatchEnd): BlameFile {
  const { question, recorded, answer, team, archive, tries, margin } = plan;
  const { outset, messages } = judgeBranches(plan, trials);
  const results = trials.arms.flatMap((arm) => trials.read(arm));
  const departed = results.filter(hasDeparted);
  const shown = messages.map((message, index) => describeMessage(message, recorded.messages[index]));
  const facts = {
    correct: answer.isRight,
    tries,
    outset: { chance: computeChance(outset), tries: outset.tries },
    messages: shown,
    blamed: [...findCulprits(shown), ...findCulprits(shown, 'changed the wrong answer')].map(
      ({ place }) => place,
    ),
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
      own_tokens: trials.ownTokens,
      // The sums are null if one of the values is unknown.
      tokens: results.reduce<number | null>((sum, one) => sumOfKnown(sum, getUse(one).tokens), 0),
      cost: results.reduce<number | null>((sum, one) => sumOfKnown(sum, getUse(one).cost), 0),
    },
    departed: departed[0]?.reason,
    ...facts,
    headline: formatHeadline(facts),
    measured_at: new Date().toISOString(),
    ...describeMaking(),
  };
}

function describeMessage(
  { chance, tries, again, own, detectable, replaced, verdict }: JudgedMessage,
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
    own: inFile(own),
    detectable,
    replaced: replaced.truth === undefined ? {} : { truth: inFile(replaced.truth) },
  };
}

/** Names a message: `message 4 (expert → runner, expert.result)`. */
function nameMessage({
  place,
  from,
  to,
  type,
}: Pick<BlameFile['messages'][number], 'place' | 'from' | 'to' | 'type'>): string {
  return `message ${place} (${from} → ${to ?? 'all'}, ${type})`;
}

/** Formats the verdict on the whole question, in a few sentences. */
function formatHeadline({
  correct,
  messages,
  outset,
}: Pick<BlameFile, 'correct' | 'messages' | 'outset'>): string {
  const changed = findCulprits(messages, 'changed the wrong answer').map(
    (message) =>
      ` ${capitalize(nameMessage(message))} is wrong in its own way: the answer is another one in ${formatPercent(message.own.chance)} of the tries where ${message.from} speaks again (difference ${formatDifference(message.own)}), so it did not pass on what it was told.`,
  );
  return `${formatVerdict({ correct, messages, outset })}${changed.join('')}`;
}

function formatVerdict({
  correct,
  messages,
  outset,
}: Pick<BlameFile, 'correct' | 'messages' | 'outset'>): string {
  const [first, ...more] = findCulprits(messages, 'made the answer wrong');
  if (first !== undefined) {
    const { chance, again } = first;
    const others = more.length === 0 ? '' : ` Less so ${more.map(nameMessage).join(', ')}.`;
    return `${capitalize(nameMessage(first))} made the answer wrong: the chance of a right answer is ${formatPercent(chance)} with what it said, and ${formatPercent(again.chance)} where ${first.from} speaks again in its place (difference ${formatDifference(again)}).${others}`;
  }
  const none = correct ? 'The answer was right, and no message' : 'No message';
  const carrier = messages.find(({ verdict }) => verdict === 'passed it on');
  const truth = carrier?.replaced.truth;
  if (carrier !== undefined && truth !== undefined)
    return `${none} was found to have made the answer wrong: asked again from the start, the question has a chance of ${formatPercent(outset.chance)}, and no sender improves it by speaking again. The truth in place of ${nameMessage(carrier)} would: from ${formatPercent(carrier.chance)} to ${formatPercent(truth.chance)} (difference ${formatDifference(truth)}).`;
  return `${none} was found to have made the answer wrong.${formatPower(messages)}`;
}

/** Says what the tries can show at the messages that are undecided; empty if none is. */
function formatPower(messages: BlameFile['messages']): string {
  const unclear = messages.filter(({ verdict }) => verdict === 'cannot tell');
  if (unclear.length === 0) return '';
  const most = Math.max(...unclear.map(({ detectable }) => detectable ?? Number.POSITIVE_INFINITY));
  const shown = Number.isFinite(most)
    ? `they find a fall of the chance to 0 in four of five analyses only where it was ${formatPercent(most)} or more`
    : 'no fall of the chance could be found by so few';
  return ` For ${unclear.length} of ${messages.length} messages the tries cannot tell: ${shown}.`;
}

export function formatDifference({
  difference,
  low,
  high,
}: {
  difference: number;
  low: number;
  high: number;
}): string {
  return `${formatSigned(difference)}, ${formatSigned(low)} to ${formatSigned(high)}`;
}

const formatSigned = (value: number) => `${value < 0 ? '−' : '+'}${formatDecimals(Math.abs(value), 2)}`;
const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
