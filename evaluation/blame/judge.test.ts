import { BLAME_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { expect, test } from 'vitest';
import { type Confirmation, findCulprits, findSuspects, judge, type MessageTallies } from './judge.ts';

type Tally = Pick<MessageTallies['kept'], 'right' | 'tries'>;

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
      { index: 0, kept: { right: 40, tries: 100, same: 60 }, before: { right: 70, tries: 100, same: 0 } },
      { index: 1, kept: { right: 0, tries: 100, same: 60 }, before: { right: 40, tries: 100, same: 60 } },
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
  const verdicts = (messages: MessageTallies[]) =>
    judge({ right: 1, tries: 10 }, messages, [], { margin: MARGIN }).map(({ verdict }) => verdict);
  const better = { right: 6, tries: 10 };
  expect(verdicts([message(better)])).toEqual(['passed it on']);
  expect(verdicts([message(better), message(better)])).toEqual(['cannot tell', 'cannot tell']);
  expect(verdicts([{ kept: { right: 1, tries: 10 }, replaced: {} }])[0]).not.toBe('passed it on');
});

test('what changed the wrong answer is named by how much it changed it', () => {
  const wrong = (same: number) => ({ right: 0, tries: 100, same });
  const judged = judge(
    wrong(30),
    [60, 100].map((same) => ({ kept: wrong(same), replaced: {} })),
    [
      { index: 0, kept: wrong(60), before: wrong(30) },
      { index: 1, kept: wrong(100), before: wrong(60) },
    ],
    { margin: MARGIN },
  );

  const named = findCulprits(judged, 'changed the wrong answer');
  expect(named.map(({ own }) => own.difference)).toEqual([0.4, expect.closeTo(0.3, 10)]);
  expect(findCulprits(judged)).toEqual([]);
});

test('a message from which on the recorded wrong answer comes is a suspect, although none was right before', () => {
  const kept = (same: number) => ({ right: 0, tries: 5, same });
  expect(findSuspects(kept(0), [{ kept: kept(5), replaced: {} }])).toEqual([0]);
  expect(findSuspects(kept(5), [{ kept: kept(0), replaced: {} }])).toEqual([]);
});

test('a loss of one in four makes a suspect where both places have as many tries as clear a message', () => {
  const { clearTries } = BLAME_LIMITS;
  const isSuspect = (before: Tally, tries: number) =>
    findSuspects(before, [{ kept: { right: 0, tries }, replaced: {} }]).length === 1;
  expect(isSuspect({ right: clearTries / 4, tries: clearTries }, clearTries)).toBe(true);
  expect(isSuspect({ right: clearTries / 4, tries: clearTries }, clearTries - 1)).toBe(false);
  expect(isSuspect({ right: clearTries / 4, tries: clearTries - 1 }, clearTries)).toBe(false);
});

test('a place without tries is passed over: its neighbours are compared', () => {
  const at = (tries: number): MessageTallies => ({ kept: { right: 0, tries }, replaced: {} });
  const outset = { right: 5, tries: 5 };
  const [first, second, last] = judge(outset, [at(0), at(5), at(0)], [], { margin: MARGIN });

  expect(first).toMatchObject({ chance: 0, tries: 5, again: { difference: 1 } });
  expect(second).toMatchObject({ chance: 0, tries: 5, again: { difference: 1 } });
  expect(last).toMatchObject({ chance: 0, tries: 0, again: { difference: 0 }, verdict: 'cannot tell' });
});

test('each look at the fresh tries has its part of the error rate, and the fall that can be found is that of a look', () => {
  const tallies = { kept: { right: 1, tries: 10 }, before: { right: 6, tries: 10 } };
  const look = (looks: number) =>
    judge(tallies.before, [{ kept: tallies.kept, replaced: {} }], [{ index: 0, ...tallies }], {
      margin: MARGIN,
      looks,
    })[0];

  // Fisher's exact test gives 0.029.
  expect(look(1)?.verdict).toBe('made the answer wrong');
  expect(look(2)?.verdict).toBe('cannot tell');
  expect(look(2)?.detectable).toBeGreaterThan(look(1)?.detectable ?? 1);
});

test('an interval that holds 0 convicts no message', () => {
  // Fisher's exact test gives 0.045 here, and Newcombe's interval begins at −0.0006.
  const [before, kept] = [
    { right: 11, tries: 11 },
    { right: 25, tries: 35 },
  ];
  expect(convict(before, kept)).not.toContain('made the answer wrong');
});

test('an interval that reaches the margin is not within it, be it the whole range', () => {
  const [none, all] = [
    { right: 0, tries: 5 },
    { right: 5, tries: 5 },
  ];
  const verdict = (before: Tally, kept: Tally) =>
    judge(before, [{ kept, replaced: {} }], [], { margin: 1 })[0]?.verdict;
  expect(verdict(none, all)).toBe('cannot tell');
  expect(verdict(all, none)).toBe('cannot tell');
});

test('who passes on a mistake repeats it at least every other time, and only where the truth would mend it', () => {
  const verdict = (same: number) =>
    judge(
      { right: 0, tries: 10, same },
      [{ kept: { right: 0, tries: 10, same: 10 }, replaced: { truth: { right: 10, tries: 10 } } }],
      [],
      { margin: MARGIN },
    )[0]?.verdict;
  expect(verdict(5)).toBe('passed it on');
  expect(verdict(4)).toBe('cannot tell');
});

test('a message that changes which wrong answer comes has an effect, whatever it does to the right ones', () => {
  const half = (same: number) => ({ right: 50, tries: 100, same });
  const verdict = (before: number) =>
    judge(half(before), [{ kept: half(50), replaced: {} }], [], { margin: MARGIN })[0]?.verdict;
  expect(verdict(0)).toBe('cannot tell');
  expect(verdict(50)).toBe('no effect');
});

test('a message has the effects of what was put in its place, and of nothing else', () => {
  const all = { right: 5, tries: 5 };
  const judged = judge(
    all,
    [
      { kept: all, replaced: { truth: all } },
      { kept: all, replaced: {} },
    ],
    [],
    { margin: MARGIN },
  );
  expect(judged.map(({ replaced }) => Object.keys(replaced))).toEqual([['truth'], []]);
});

test('Fisher’s lady: all eight cups told right have a chance of 1 in 70, six of 17 in 70', () => {
  const fisher = (before: Tally, kept: Tally) =>
    judge(before, [{ kept, replaced: {} }], [{ index: 0, before, kept }], { margin: MARGIN })[0]?.again
      .adjustedP;
  expect(fisher({ right: 4, tries: 4 }, { right: 0, tries: 4 })).toBeCloseTo(1 / 70, 12);
  expect(fisher({ right: 3, tries: 4 }, { right: 1, tries: 4 })).toBeCloseTo(17 / 70, 12);
  expect(fisher({ right: 0, tries: 5 }, { right: 5, tries: 5 })).toBeCloseTo(1, 12);
  expect(fisher({ right: 0, tries: 0 }, { right: 0, tries: 5 })).toBe(1);
});

test('the smallest fall that is found in four of five analyses follows from the number of tries', () => {
  const detectable = (before: number, kept: number, looks: number) =>
    judge({ right: 0, tries: before }, [{ kept: { right: 0, tries: kept }, replaced: {} }], [], {
      margin: MARGIN,
      looks,
    })[0]?.detectable;
  // Five against none of five are called from four right on: at 0.85 their chance is 0.835, at 0.8 it is 0.737.
  expect(detectable(5, 5, 2)).toBe(0.84);
  expect(detectable(40, 40, 1)).toBeLessThan(0.2);
  expect(detectable(2, 2, 1)).toBeNull();
  expect(detectable(0, 5, 1)).toBeNull();
});

test('intervals of differences are those of Newcombe’s table II, method 10', () => {
  const compare = (before: Tally, kept: Tally) =>
    judge(before, [{ kept, replaced: {} }], [], { margin: MARGIN })[0]?.again;
  const one = compare({ right: 56, tries: 70 }, { right: 48, tries: 80 });
  expect([one?.difference, one?.low, one?.high].map((value) => value?.toFixed(4))).toEqual([
    '0.2000',
    '0.0524',
    '0.3339',
  ]);
  const other = compare({ right: 10, tries: 10 }, { right: 0, tries: 20 });
  expect([other?.low, other?.high].map((value) => value?.toFixed(4))).toEqual(['0.6791', '1.0000']);
  const [none, single] = [
    { right: 0, tries: 0 },
    { right: 1, tries: 1 },
  ];
  for (const [before, kept] of [
    [none, single],
    [single, none],
  ] as const)
    expect(compare(before, kept)).toMatchObject({ difference: 0, low: -1, high: 1 });
});
