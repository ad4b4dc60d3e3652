import { BLAME_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { expect, test } from 'vitest';
import type { Attempt } from '../attempts/attempt.ts';
import { attemptOf } from '../batch/testing/results.ts';
import { examine } from './blame.ts';
import { judgeBranches } from './blame-results.ts';
import type { Message } from './recorded-question.ts';
import { type Arm, Trials } from './trials.ts';

/** The chances of a branch once the messages up to a place are as recorded. */
interface Chances {
  /** Of a right answer. */
  readonly right: number;
  /** Of the recorded one, where it is not right. */
  readonly same: number;
}

const TOKENS = 100;
const TRUTH = 'Ida Lund';
const RECORDED = 'Bo Ek';

/**
 * Analyses a question of a simulated team, which sends a message after each reply of its model.
 *
 * @param chances those at the outset and after each message
 * @param turns how many times the recorded tokens a live branch takes
 */
async function analyse(chances: readonly Chances[], seed: number, { truth = 0, turns = 1 } = {}) {
  const random = new Random(seed);
  const messages = chances.slice(1).map((_, index): Message => {
    const place = index + 1;
    return { place, id: `m${place}`, from: 'a', to: 'b', type: 't', payload: { answer: RECORDED } };
  });
  const reply = {
    key: 'k',
    role: 'r',
    model: 'm',
    reply: { content: '', tool_calls: [], finish: 'stop' as const },
  };
  const recorded = {
    messages,
    replies: {
      a: messages.map(({ place }) => ({
        ...{ ...reply, prompt_tokens: TOKENS - 10, completion_tokens: 10, leads_to: place },
      })),
    },
    team: 'single',
  };
  const made = new Map<string, Attempt[]>();
  const plan = {
    question: { truths: truth > 0 ? [TRUTH] : [] },
    recorded,
    answer: { text: RECORDED, isRight: false },
    tries: 5,
    margin: 0.25,
  };
  const trials = new Trials(plan, (taskId) => made.get(taskId) ?? []);
  const tryArm = ({ taskId, keep, says }: Arm): void => {
    const { right = 0, same = 1 } = chances[keep] ?? {};
    const isRight = random.uniform() < (says === 'truth' ? truth : right);
    const answer = isRight ? TRUTH : random.uniform() < same ? RECORDED : `someone ${random.bits() % 1000}`;
    const done = made.get(taskId) ?? [];
    const tokens = turns * TOKENS * (messages.length - keep);
    const one = { correct: isRight, final_answer: answer, cycle: done.length + 1, tokens };
    made.set(taskId, [...done, attemptOf(taskId, one)]);
  };
  await examine(plan, trials, async (chosen, tries) => {
    for (const arm of chosen) {
      trials.setCount(arm, Math.max(tries, trials.count(arm)));
      while ((made.get(arm.taskId)?.length ?? 0) < tries) tryArm(arm);
    }
    return { kind: 'finished' };
  });
  const spent = [...made.values()].flat().reduce((sum, { token_sum }) => sum + token_sum, 0);
  const verdicts = judgeBranches(plan, trials).messages.map(({ verdict }) => verdict);
  return { verdicts, cost: spent / (TOKENS * messages.length) };
}

/** Chances that change at places: `fall(11, 4, …)` has those of an honest team up to the third message. */
const fall = (messages: number, at: number, to: Chances, from: Chances = { right: 1, same: 0 }): Chances[] =>
  Array.from({ length: messages + 1 }, (_, place) => (place < at ? from : to));

const WRONG = { right: 0, same: 1 };
const analyses = (count: number, chances: (seed: number) => Chances[], more = {}) =>
  Promise.all(Array.from({ length: count }, (_, seed) => analyse(chances(seed), seed, more)));

test.each([3, 4, 11, 51])(
  'of %i messages, one lie is found, wherever it is, and no other message is named',
  async (messages) => {
    const found = await analyses(60, (seed) => fall(messages, 1 + (seed % messages), WRONG));
    const isFound = found.filter(({ verdicts }, seed) => {
      const named = verdicts.flatMap((verdict, index) => (/wrong/.test(verdict) ? [index] : []));
      return named.length === 1 && named[0] === seed % messages;
    });

    expect(isFound.length).toBeGreaterThanOrEqual(57);
  },
);

test('of two liars that do not depend on each other both are named, and neither is said to pass a lie on', async () => {
  const found = await analyses(60, () =>
    [1, 1, 1, 0, 0, 0, 0, 0].map((right, place) => ({ right, same: place < 6 ? 0 : 1 })),
  );
  const both = found.filter(
    ({ verdicts }) => verdicts[2] === 'made the answer wrong' && verdicts[5] === 'changed the wrong answer',
  );

  expect(both.length).toBeGreaterThanOrEqual(57);
  expect(found.flatMap(({ verdicts }) => verdicts).filter((verdict) => verdict === 'passed it on')).toEqual(
    [],
  );
});

test('who says again what it was told passed the lie on', async () => {
  const [{ verdicts } = { verdicts: [] }] = await analyses(1, () => fall(4, 2, WRONG), { truth: 1 });

  expect(verdicts.slice(1, 3)).toEqual(['made the answer wrong', 'passed it on']);
});

test.each([
  ['whose wrong answers differ', 0, 95],
  ['between two answers', 1, 55],
])(
  'an agent that guesses %s is not cleared: it is named, or the tries cannot tell',
  async (_, same, least) => {
    // The last of three messages is a guess, right in three of ten tries.
    const found = await analyses(100, () => fall(3, 3, WRONG, { right: 0.3, same }));
    const last = found.map(({ verdicts }) => verdicts[2]);

    expect(last.filter((verdict) => verdict === 'no effect').length).toBeLessThanOrEqual(5);
    expect(last.filter((verdict) => /wrong/.test(verdict ?? '')).length).toBeGreaterThanOrEqual(least);
  },
);

test('of honest teams that vary at most one in twenty has a message named as the one that made the answer wrong', async () => {
  const random = new Random(7);
  const found = await analyses(200, () => {
    const right = random.uniform();
    return Array.from({ length: 12 }, () => ({ right, same: 0.5 }));
  });
  const named = found.filter(({ verdicts }) => verdicts.includes('made the answer wrong'));

  expect(named.length).toBeLessThanOrEqual(10);
});

test('an analysis costs less than thirty times the question, however long it is and however much longer a live team takes', async () => {
  const costs: number[] = [];
  for (const messages of [1, 3, 4, 11, 51, 200])
    for (const at of [1, Math.ceil(messages / 2), messages])
      for (const turns of [1, 2, 5])
        costs.push((await analyse(fall(messages, at, WRONG), at, { truth: 1, turns })).cost);

  expect(Math.max(...costs)).toBeLessThan(BLAME_LIMITS.cost);
});
