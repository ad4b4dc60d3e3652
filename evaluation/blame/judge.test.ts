import { Random } from '@gaia-mesh/core/system/random.ts';
import { expect, test } from 'vitest';
import type { Tally } from './judge.ts';
import { type Confirmation, findCulprits, findSuspects, judge, type MessageTallies } from './judge.ts';

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
