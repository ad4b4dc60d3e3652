import { Random } from '@gaia-mesh/core/system/random.ts';
import { expect, test } from 'vitest';
import type { Tally } from '../statistics/answers/independent-answers.ts';
import {
  type Confirmation,
  computeChance,
  findCulprits,
  findSuspects,
  judge,
  type MessageTallies,
} from './judge.ts';

const TRIES = 5;
const MARGIN = 0.5;

/** Branches of a question by the true chances of a right answer, at the outset and after each message. */
function tried(chances: readonly number[], random: Random, truths: readonly (number | undefined)[] = []) {
  const draw = (chance: number, tries: number): Tally => ({
    right: Array.from({ length: tries }, () => random.uniform()).filter((value) => value < chance).length,
    tries,
  });
  const [outset = 0, ...after] = chances;
  const first = draw(outset, TRIES);
  const messages = after.map((chance, index): MessageTallies => {
    const truth = truths[index];
    return { kept: draw(chance, TRIES), replaced: truth === undefined ? {} : { truth: draw(truth, TRIES) } };
  });
  const confirmations = findSuspects(first, messages).map(
    (index): Confirmation => ({
      index,
      kept: draw(chances[index + 1] ?? 0, 2 * TRIES),
      before: draw(chances[index] ?? 0, 2 * TRIES),
    }),
  );
  return judge(first, messages, confirmations, { margin: MARGIN });
}

test('the message at which the chance falls made the answer wrong; those after it passed it on, or did nothing', () => {
  const judged = tried([1, 1, 0, 0, 0], new Random(1), [undefined, 1, 1, undefined]);

  expect(judged.map(({ verdict }) => verdict)).toEqual([
    'no effect',
    'made the answer wrong',
    'passed it on',
    'no effect',
  ]);
  expect(judged[1]).toMatchObject({ chance: 0, tries: 10, again: { chance: 1, difference: 1 } });
  expect(judged[1]?.again.low).toBeGreaterThan(0.5);
});

test('who was always going to be wrong is not to blame, and the first with whom the truth mends it is seen', () => {
  const judged = tried([0, 0, 0, 0], new Random(2), [1, 1, undefined]);

  expect(findCulprits(judged)).toEqual([]);
  expect(judged.map(({ verdict }) => verdict)).toEqual(['passed it on', 'passed it on', 'no effect']);
});

test('two that each made it worse are both named, the larger effect first', () => {
  const judged = judge(
    { right: 5, tries: 5 },
    [
      { kept: { right: 3, tries: 5 }, replaced: {} },
      { kept: { right: 0, tries: 5 }, replaced: {} },
    ],
    [
      { index: 0, kept: { right: 40, tries: 100 }, before: { right: 70, tries: 100 } },
      { index: 1, kept: { right: 0, tries: 100 }, before: { right: 40, tries: 100 } },
    ],
    { margin: MARGIN },
  );

  expect(findCulprits(judged).map(({ again }) => again.difference)).toEqual([0.4, expect.closeTo(0.3, 10)]);
});

test('a suspect is convicted by fresh tries alone, with those of the others corrected for', () => {
  const messages: MessageTallies[] = [{ kept: { right: 0, tries: 5 }, replaced: {} }];
  const outset = { right: 5, tries: 5 };
  expect(findSuspects(outset, messages)).toEqual([0]);
  const fresh = (kept: number) =>
    judge(
      outset,
      messages,
      [{ index: 0, kept: { right: kept, tries: 10 }, before: { right: 5, tries: 10 } }],
      {
        margin: MARGIN,
      },
    )[0]?.verdict;

  expect(fresh(5)).toBe('no effect');
  expect(fresh(3)).toBe('cannot tell');
  expect(fresh(0)).toBe('made the answer wrong');
  expect(judge(outset, messages, [], { margin: MARGIN })[0]?.verdict).toBe('cannot tell');
});

test('of honest questions with chance in every step at most one in twenty blames anybody; of lies four in five are found', () => {
  const random = new Random(20_261_124);
  const count = 1000;
  const honest = Array.from({ length: count }, () => {
    const chance = random.uniform();
    return (
      findCulprits(
        tried(
          Array.from({ length: 13 }, () => chance),
          random,
        ),
      ).length > 0
    );
  });
  const lies = Array.from({ length: count }, () => {
    const at = 1 + (random.bits() % 11);
    const judged = tried(
      Array.from({ length: 13 }, (_, place) => (place <= at ? 0.85 : 0)),
      random,
    );
    const [first] = findCulprits(judged);
    return first !== undefined && judged.indexOf(first) === at;
  });

  expect(honest.filter(Boolean).length / count).toBeLessThanOrEqual(0.05);
  expect(lies.filter(Boolean).length / count).toBeGreaterThanOrEqual(0.8);
});

/** Judges one suspect by fresh tries; no message has replacements. */
function convict(before: Tally, kept: Tally, suspects = 1) {
  const messages = Array.from(
    { length: suspects },
    (): MessageTallies => ({ kept: { right: 0, tries: 5 }, replaced: {} }),
  );
  const confirmations = messages.map((_, index): Confirmation => ({ index, before, kept }));
  return judge({ right: 5, tries: 5 }, messages, confirmations, { margin: MARGIN }).map(
    ({ verdict }) => verdict,
  );
}

test('a conviction is corrected for the number of suspects', () => {
  // Fisher's exact test of 6 of 10 against 1 of 10 gives 0.029: enough for one suspect, and not for each of two.
  const [before, kept] = [
    { right: 6, tries: 10 },
    { right: 1, tries: 10 },
  ];
  expect(convict(before, kept)).toEqual(['made the answer wrong']);
  expect(convict(before, kept, 2)).toEqual(['cannot tell', 'cannot tell']);
});

test('a conviction takes a test below its level and an interval above 0, however few the tries are', () => {
  const found = new Set<string>();
  for (let tries = 2; tries <= 24; tries++)
    for (let before = 0; before <= tries; before++)
      for (const kept of [0, 1, Math.floor(tries / 3)]) {
        if (kept > tries) continue;
        const own = { index: 0, before: { right: before, tries }, kept: { right: kept, tries } };
        const [judged] = judge(
          { right: 5, tries: 5 },
          [{ kept: { right: 0, tries: 5 }, replaced: {} }],
          [own],
          { margin: MARGIN },
        );
        const { adjustedP, low, difference } = judged?.again ?? { adjustedP: null, low: -1, difference: 0 };
        const isGuilty = judged?.verdict === 'made the answer wrong';
        expect(isGuilty).toBe((adjustedP ?? 1) < 0.05 && low > 0);
        expect(difference).toBeCloseTo((before - kept) / tries, 12);
        found.add(String(isGuilty));
      }
  expect([...found].sort()).toEqual(['false', 'true']);
});

test('a change is none only if the whole interval is within the margin, at the message and for the truth in its place', () => {
  const verdict = (again: Tally, kept: Tally, truth?: Tally, margin = 0.5) =>
    judge(again, [{ kept, replaced: truth === undefined ? {} : { truth } }], [], { margin })[0]?.verdict;
  const many = (right: number) => ({ right, tries: 100 });
  expect(verdict(many(50), many(50))).toBe('no effect');
  expect(verdict(many(50), many(50), many(52))).toBe('no effect');
  // The truth in its place makes it worse by more than the margin.
  expect(verdict(many(95), many(95), many(5))).toBe('cannot tell');
  // More are right with the message as recorded, by more than the margin.
  expect(verdict(many(5), many(95))).toBe('cannot tell');
  // A gain that was not confirmed by fresh tries convicts nobody.
  expect(verdict(many(95), many(5))).toBe('cannot tell');
  expect(verdict(many(50), many(50), undefined, 0.05)).toBe('cannot tell');
});

test('suspects are the messages with the largest losses, at most three, of two in five or more', () => {
  const at = (right: number): MessageTallies => ({ kept: { right, tries: 5 }, replaced: {} });
  expect(findSuspects({ right: 5, tries: 5 }, [at(5), at(3), at(3), at(0)])).toEqual([3, 1]);
  expect(findSuspects({ right: 5, tries: 5 }, [at(4), at(3), at(2), at(1)])).toEqual([]);
  expect(findSuspects({ right: 5, tries: 5 }, [at(0), at(5), at(1), at(5), at(2), at(5), at(3)])).toEqual([
    0, 2, 4,
  ]);
  expect(findSuspects({ right: 0, tries: 0 }, [at(0)])).toEqual([]);
  expect(findSuspects({ right: 0, tries: 5 }, [at(5)])).toEqual([]);
});

test('what is shown of a suspect are its fresh tries, and of others their first', () => {
  const [first, second] = judge(
    { right: 5, tries: 5 },
    [
      {
        kept: { right: 4, tries: 5 },
        replaced: { truth: { right: 5, tries: 5 }, neutral: { right: 2, tries: 5 } },
      },
      { kept: { right: 0, tries: 5 }, replaced: {} },
    ],
    [{ index: 1, kept: { right: 1, tries: 10 }, before: { right: 9, tries: 10 } }],
    { margin: MARGIN },
  );
  expect(first).toMatchObject({
    chance: 0.8,
    tries: 5,
    again: { chance: 1, difference: expect.closeTo(0.2, 12), adjustedP: null },
    replaced: { truth: { chance: 1, difference: expect.closeTo(0.2, 12) }, neutral: { chance: 0.4 } },
  });
  expect(Object.keys(first?.replaced ?? {}).sort()).toEqual(['neutral', 'truth']);
  expect(Object.keys(second?.replaced ?? {})).toEqual([]);
  expect(second).toMatchObject({ chance: 0.1, tries: 10, again: { chance: 0.9 }, replaced: {} });
  expect(second?.again.adjustedP).toBeCloseTo(0.000_5, 3);
});

test('the truth in its place counts only for `passed it on`, after correction for the messages at which it was tried', () => {
  const message = (truth: Tally): MessageTallies => ({ kept: { right: 1, tries: 10 }, replaced: { truth } });
  const other: MessageTallies = {
    kept: { right: 1, tries: 10 },
    replaced: { other: { right: 10, tries: 10 }, neutral: { right: 10, tries: 10 } },
  };
  const verdicts = (messages: MessageTallies[]) =>
    judge({ right: 1, tries: 10 }, messages, [], { margin: MARGIN }).map(({ verdict }) => verdict);
  const better = { right: 6, tries: 10 };
  expect(verdicts([message(better)])).toEqual(['passed it on']);
  expect(verdicts([message(better), message(better)])).toEqual(['cannot tell', 'cannot tell']);
  expect(verdicts([other])[0]).not.toBe('passed it on');
});

test('at a milder level the interval still has to exclude no change', () => {
  const own = { index: 0, before: { right: 2, tries: 4 }, kept: { right: 0, tries: 4 } };
  const [judged] = judge({ right: 5, tries: 5 }, [{ kept: { right: 0, tries: 5 }, replaced: {} }], [own], {
    alpha: 0.3,
    margin: MARGIN,
  });
  expect(judged?.again.adjustedP).toBeLessThan(0.3);
  expect(judged?.again.low).toBeLessThanOrEqual(0);
  expect(judged?.verdict).toBe('cannot tell');
});

test('a chance without tries is none', () => {
  expect([computeChance({ right: 0, tries: 0 }), computeChance({ right: 3, tries: 4 })]).toEqual([0, 0.75]);
});
