import { Random } from '@gaia-mesh/core/system/random.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Attempt } from '../attempts/attempt.ts';
import { attemptOf, questionOf } from '../batch/testing/results.ts';
import type { Question } from '../questions/question.ts';
import { computeWilson } from '../statistics/inference/confidence.ts';
import { nameChange } from './cycles.ts';
import { summarize } from './summary.ts';
import { formatBatchTable } from './tables/batch-table.ts';

/** A summary of these results; a question without one was not asked. */
function summaryOf(questions: readonly Question[], results: readonly Attempt[], repeat = 1) {
  return summarize(questions, repeat, ({ taskId }, cycle) =>
    results.find((result) => result.task_id === taskId && result.cycle === cycle),
  ).team;
}

/** Summarizes two cycles of questions in `categories` kinds, and returns the changes of the kinds. */
function changesOf(
  categories: number,
  was: readonly boolean[],
  is: readonly boolean[],
): readonly Parameters<typeof nameChange>[0][] {
  const questions = was.map((_, at) => questionOf(`${at}`, { category: `c${at % categories}` }));
  const { cycles } = summarize(questions, 2, ({ taskId }, cycle) =>
    attemptOf(taskId, { cycle, correct: (cycle === 1 ? was : is)[Number(taskId)] ?? false }),
  ).team;
  return cycles?.[1]?.categories ?? [];
}

const wrong = { correct: false, correct_lenient: false } as const;
const failed = { ...wrong, status: 'failed', reason: 'why' } as const;

describe('the summary of a team', () => {
  test('has accuracy over all questions with a known answer, whatever became of them (OV-44)', () => {
    const questions = ['a', 'b', 'c', 'd', 'e'].map((id) => questionOf(id));
    const results = [
      attemptOf('a'),
      attemptOf('b', { ...wrong, correct_lenient: true }),
      attemptOf('c', failed),
      attemptOf('d', { ...wrong, status: 'timeout' }),
    ];

    const summary = summaryOf(
      [...questions, questionOf('f', { truths: [] })],
      [...results, attemptOf('f', { correct: null, correct_lenient: null })],
    );

    expect(summary).toMatchObject({
      ...{
        questions: 6,
        scored: 5,
        answered: 3,
        failed: 1,
        timeout: 1,
        not_asked: 1,
        correct: 1,
        correct_lenient: 2,
      },
      accuracy: 0.2,
      ...computeWilson(1, 5),
    });
  });

  test('has no accuracy where no answer is known', () => {
    const summary = summaryOf(
      [questionOf('a', { truths: [] })],
      [attemptOf('a', { correct: null, correct_lenient: null })],
    );

    expect(summary).toMatchObject({ accuracy: null, low: null, high: null, answered: 1 });
  });

  test('shows what answers from the cache took when they were asked, marked, and keeps it out of what this run took', () => {
    const cached = { cached: true, tokens: 0, cost: 0, packets: 0, bytes: 0, seconds: 0.001, model_calls: 0 };
    const took = { tokens: 300, cost: 0.03, packets: 6, bytes: 900, seconds: 4.5 };
    const questions = ['a', 'b', 'c'].map((id) => questionOf(id));
    const hit = (id: string) => attemptOf(id, { ...cached, took });

    const all = summaryOf(questions.slice(0, 2), [hit('a'), hit('b')]);
    expect(all).toMatchObject({ cached: 2, tokens: 0, cost: 0, packets: 0, bytes: 0, seconds: 0 });
    expect(all.cached_use).toEqual({ tokens: 600, cost: 0.06, packets: 12, bytes: 1800, seconds: 9 });
    const table = formatBatchTable({ single: all });
    expect(table).toMatch(/in total \* +600 +0\.0600 +12 +1,800 +9\.00\n/);
    expect(table).toMatch(/per right answer \* +300 +0\.0300 +6\.0 +900 +4\.50\n/);
    expect(table).toContain(
      '* 2 of 2 answers are from the cache; their share is what they took when they were asked',
    );
    expect(table).toContain('this run itself took 0 tokens, 0.0000 $, 0 packets and 0.00 s');

    const fresh = { tokens: 100, cost: 0.01, packets: 2, bytes: 100, seconds: 1 };
    const mixed = summaryOf(questions, [hit('a'), hit('b'), attemptOf('c', fresh)]);
    expect(mixed).toMatchObject({ cached: 2, ...fresh, per_correct: fresh });
    expect(formatBatchTable({ single: mixed })).toMatch(/in total \* +700 +0\.0700 +14 +1,900 +10\.00\n/);

    // One answer with unknown figures makes the sum unknown.
    const old = summaryOf(questions, [hit('a'), attemptOf('b', cached), attemptOf('c', fresh)]);
    expect(old.cached_use).toMatchObject({ tokens: null, packets: null });
    expect(formatBatchTable({ single: old })).toMatch(/in total \* +100 [\s\S]*not known and left out/);
    expect(summaryOf(questions, []).cached_use).toBeUndefined();
  });

  test('adds up what answers took, and per correct one; the cached are marked and left out of both (C-11)', () => {
    const took = { tokens: 30, cost: 0.06, packets: 6, bytes: 600, seconds: 3 };
    const cached = { cached: true, tokens: 0, cost: 0, packets: 0, bytes: 0, seconds: 0.001, model_calls: 0 };

    const summary = summaryOf(
      ['a', 'b', 'c', 'd'].map((id) => questionOf(id)),
      [
        attemptOf('a', took),
        attemptOf('b', took),
        attemptOf('c', { ...took, ...wrong }),
        attemptOf('d', cached),
      ],
    );

    expect(summary).toMatchObject({
      cached: 1,
      correct: 3,
      tokens: 90,
      packets: 18,
      bytes: 1800,
      seconds: 9,
    });
    expect(summary.cost).toBeCloseTo(0.18, 12);
    expect(summary.per_correct).toMatchObject({ tokens: 45, packets: 9, bytes: 900, seconds: 4.5 });
    expect(summary.metrics.seconds_per_cached).toBe(0.001);
  });

  test('says nothing per correct answer where there is none, and nothing of a cost that is not known', () => {
    const nothing = { tokens: null, cost: null, packets: null, bytes: null, seconds: null };
    expect(summaryOf([questionOf('a')], [attemptOf('a', failed)]).per_correct).toEqual(nothing);

    const unpriced = summaryOf(
      [questionOf('a'), questionOf('b')],
      [attemptOf('a', { cost: null }), attemptOf('b')],
    );
    expect([unpriced.cost, unpriced.per_correct.cost, unpriced.tokens]).toEqual([null, null, 20]);
  });

  test('has all levels apart, in their order (C-29, REQ-007, REQ-077)', () => {
    const questions = [
      questionOf('a', { level: '2' }),
      questionOf('b', { level: '1' }),
      questionOf('c', { level: '10' }),
      questionOf('d', { level: '1' }),
      questionOf('e'),
    ];

    const { levels, accuracy } = summaryOf(questions, [
      attemptOf('b'),
      attemptOf('c', wrong),
      attemptOf('e'),
    ]);

    expect(Object.keys(levels)).toEqual(['1', '2', '10']);
    expect(levels['1']).toMatchObject({ questions: 2, correct: 1, accuracy: 0.5, not_asked: 1, tokens: 10 });
    expect([levels['2']?.accuracy, levels['10']?.accuracy, accuracy]).toEqual([0, 0, 0.4]);
  });

  test('has the six figures of how it worked (RA-57, RA-58)', () => {
    const use = (count: number, failures: number) => [{ tool: 'web_search', count, failed: failures }];
    const { metrics } = summaryOf(
      ['a', 'b', 'c', 'd'].map((id) => questionOf(id)),
      [
        attemptOf('a', { model_calls: 3, tool_calls: use(2, 1) }),
        attemptOf('b', {
          model_calls: 4,
          seconds: 2.5,
          tool_calls: [...use(1, 0), { tool: 'read_file', count: 1, failed: 0 }],
        }),
        attemptOf('c', { cached: true, model_calls: 0, seconds: 0 }),
        attemptOf('d', { ...failed, model_calls: 2, seconds: 0 }),
      ],
    );

    expect(metrics).toEqual({
      questions_processed: 4,
      cache_hit_rate: 0.25,
      tool_usage: { web_search: { count: 3, failed: 1 }, read_file: { count: 1, failed: 0 } },
      model_calls_per_question: 3,
      seconds_per_question: 1,
      seconds_per_cached: 0,
      error_rate: 0.25,
    });
  });

  test('has failures by role and by known gap, and tokens by role (OV-47, REQ-069e)', () => {
    const usage = (role: string, cost: number | null) => [
      { role, model: 'm', calls: 2, prompt_tokens: 5, completion_tokens: 1, cost_usd: cost },
    ];
    const { failures, roles } = summaryOf(
      ['a', 'b', 'c'].map((id) => questionOf(id)),
      [
        attemptOf('a', { ...failed, failed_role: 'planner', gap: 'image_only', usage: usage('plan', 0.1) }),
        attemptOf('b', { ...failed, failed_role: 'planner', gap: 'other', usage: usage('plan', 0.2) }),
        attemptOf('c', { ...wrong, gap: 'image_only', usage: usage('expert', null) }),
      ],
    );

    expect(failures).toEqual({
      by_role: { planner: 2 },
      by_gap: { image_only: 2, other: 1 },
      first: { task_id: 'a', reason: 'why' },
    });
    expect(roles['plan m']).toMatchObject({ calls: 4, prompt_tokens: 10, completion_tokens: 2 });
    expect(roles['expert m']).toMatchObject({ cost: null });
  });
});

describe('a repeated batch', () => {
  const questions = [
    questionOf('a', { category: 'table' }),
    questionOf('b', { category: 'table' }),
    questionOf('c', { category: 'text' }),
    questionOf('d', { category: 'text' }),
  ];
  const results = [
    ...[attemptOf('a'), attemptOf('b'), attemptOf('c', wrong), attemptOf('d', wrong)],
    ...[attemptOf('a', { cycle: 2, ...wrong }), attemptOf('b', { cycle: 2 })],
    ...[attemptOf('c', { cycle: 2 }), attemptOf('d', { cycle: 2 })],
  ];
  const summary = summaryOf(questions, results, 2);

  test('has first attempts apart from repeats (C-12)', () => {
    expect(summary).toMatchObject({ questions: 4, correct: 2, accuracy: 0.5, tokens: 40 });
    expect(summary.repeats).toMatchObject({ questions: 4, correct: 3, accuracy: 0.75, tokens: 40 });
  });

  test('has its score by cycle, what changed, and a loss in one category beside a gain in another (OV-44, OV-45)', () => {
    expect(summary.cycles).toMatchObject([
      { cycle: 1, accuracy: 0.5, delta: null, newly_right: 0, newly_wrong: 0, categories: [] },
      {
        cycle: 2,
        accuracy: 0.75,
        delta: 0.25,
        newly_right: 2,
        newly_wrong: 1,
        categories: [
          { category: 'table', questions: 2, correct_before: 2, correct: 1, delta: -0.5, regressed: true },
          { category: 'text', questions: 2, correct_before: 0, correct: 2, delta: 1, regressed: false },
        ],
      },
    ]);
    expect(formatBatchTable({ overseer: summary })).toMatch(
      // With two questions of each kind, both changes may be chance.
      /table: cannot tell, 2 → 1 of 2 \(.*\)\n +text: cannot tell, 0 → 2 of 2/,
    );
  });

  test('calls a category worse or better only where the interval of its change excludes 0', () => {
    const change = (was: number, is: number) => {
      const rights = (most: number) => Array.from({ length: 20 }, (_, at) => at < most);
      const [found] = changesOf(1, rights(was), rights(is));
      return found === undefined ? 'none' : nameChange(found);
    };
    expect(change(16, 4)).toBe('got worse');
    expect(change(4, 16)).toBe('got better');
    expect([change(10, 8), change(8, 10), change(9, 4)]).toEqual(Array(3).fill('cannot tell'));
    expect(change(8, 8)).toBe('none');
  });

  test('is not called worse or better in one of twenty cycles of a team that draws at random', () => {
    const random = new Random(44);
    const draw = () => Array.from({ length: 60 }, () => random.uniform() < 0.5);
    const called = Array.from({ length: 200 }, () =>
      changesOf(3, draw(), draw()).some((change) => nameChange(change) !== 'cannot tell'),
    );
    expect(called.filter(Boolean).length / 200).toBeLessThanOrEqual(0.05);
  });

  test('has pass@k and pass^k', () => {
    expect(summary.pass_at).toEqual({ 1: 0.625, 2: 1 });
    expect(summary.pass_hat).toEqual({ 1: 0.625, 2: 0.25 });
  });

  test('has an interval of repeats by question', () => {
    const questions = ['a', 'b', 'c', 'd'].map((id) => questionOf(id));
    const thrice = [1, 2, 3].flatMap((cycle) =>
      ['a', 'b', 'c', 'd'].map((id) => attemptOf(id, { cycle, correct: id !== 'd' })),
    );
    const { pass_hat, repeats } = summaryOf(questions, thrice, 3);
    expect(pass_hat).toEqual({ 1: 0.75, 2: 0.75, 3: 0.75 });
    // Six of eight attempts are right, but the interval counts only four questions.
    expect(repeats?.low).toBeLessThan(0.3);
  });
});

test('pass@k and pass^k are what drawing k of the attempts gives', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 2, maxLength: 8 }), fc.nat(), (attempts, draw) => {
      const k = 1 + (draw % attempts.length);
      let draws = 0;
      let any = 0;
      let all = 0;
      for (let set = 0; set < 2 ** attempts.length; set++) {
        const drawn = attempts.filter((_, i) => (set >> i) % 2 === 1);
        if (drawn.length !== k) continue;
        draws += 1;
        if (drawn.some(Boolean)) any += 1;
        if (drawn.every(Boolean)) all += 1;
      }
      const { any: anyOfK, all: allOfK } = passesOf(attempts, k);
      expect(anyOfK).toBeCloseTo(any / draws, 12);
      expect(allOfK).toBeCloseTo(all / draws, 12);
    }),
  );
  // The binomials themselves would overflow here.
  const often = Array.from({ length: 2000 }, (_, at) => at % 2 === 0);
  expect(passesOf(often, 1000).any).toBeCloseTo(1, 12);
});

/** The estimates of pass@k and pass^k from attempts at one question. */
function passesOf(attempts: readonly boolean[], k: number) {
  const { pass_at, pass_hat } = summarize([questionOf('a')], attempts.length, ({ taskId }, cycle) =>
    attemptOf(taskId, { cycle, correct: attempts[cycle - 1] ?? false }),
  ).team;
  return { any: pass_at?.[k], all: pass_hat?.[k] };
}

describe('the table', () => {
  const large = {
    tokens: 123_456_789,
    bytes: 123_456_789_012,
    packets: 1_234_567,
    seconds: 123_456.7,
    cost: 12_345.6,
  };
  const questions = ['1', '2', '3'].map((level) => questionOf(`q${level}`, { level }));
  const summary = summaryOf(
    questions,
    questions.map(({ taskId }) =>
      attemptOf(taskId, { ...large, tool_calls: [{ tool: 'x'.repeat(200), count: 1, failed: 1 }] }),
    ),
  );

  test('has score with interval per level, and what was taken in total and per right answer, in 100 columns', () => {
    const text = formatBatchTable({ single: summary, [`a-team-with-a-${'long-'.repeat(20)}name`]: summary });

    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    expect(text).toMatch(/single +all +3 +3 +3 +100\.0 % +43\.8–100\.0 % +3/);
    expect(text).toMatch(/\n +2 +1 +1 +1 +100\.0 %/);
    expect(text).toMatch(
      /single +in total +370,370,367 +37036\.8000 +3,703,701 +370,370,367,036 +370370\.10/,
    );
    expect(text).toMatch(/\n +per right answer +123,456,789 +12345\.6000 +1,234,567/);
    expect(text).toContain('level 1: 100.0 %, at or above the floor of 30 %');
  });

  test('lets nothing that agents or users wrote drive the terminal', () => {
    const odd = summaryOf(
      [questionOf('a', { level: '\u001b[2J' }), questionOf('b', { level: '1' })],
      [attemptOf('a', { ...failed, failed_role: '\u001b[31mred' })],
    );

    expect(formatBatchTable({ single: odd })).not.toContain('\u001b');
  });
});
