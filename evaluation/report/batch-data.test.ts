import { describe, expect, test } from 'vitest';
import { formatVerdict } from '../compare/comparison-text.ts';
import { buildFurtherPairs } from '../compare/teams/team-columns.ts';
import { describeFinding } from '../viewer/teams/finding.ts';
import { readBatchData } from './batch-data.ts';
import type { BatchData } from './page-data.ts';
import { fillPage } from './page-html.ts';
import { sampleSource } from './testing/sample-batch.ts';

const wrong = { correct: false, correct_lenient: false } as const;
const failed = { ...wrong, status: 'failed', reason: 'no key' } as const;

/** Replaces the no-break spaces of a text. */
const plain = (text: string | null) => text?.replaceAll('\u00a0', ' ');

/** Lists the verdicts on right answers against the baseline. */
function listVerdicts({ comparison }: BatchData): [string, string][] {
  return comparison.arms.flatMap(({ name, vs_baseline: vs }): [string, string][] =>
    vs?.right ? [[name, formatVerdict(vs.right)]] : [],
  );
}

describe('what teams made of the same questions', () => {
  test('is set against single on the questions that both were asked, and said first', () => {
    // supervisor: right on 20 where single is not, wrong on 2 where it is right; react: 3 more and 3 fewer; panel: asked ten only.
    const view = readBatchData(
      sampleSource({
        teams: ['single', 'supervisor', 'react', 'panel'],
        questions: 40,
        result: ({ team, index }) => {
          const isRight =
            team === 'single'
              ? index < 10
              : team === 'supervisor'
                ? index >= 2 && index < 30
                : index >= 3 && index < 13;
          if (team === 'panel' && index >= 10) return undefined;
          return isRight ? {} : wrong;
        },
      }),
    );

    expect(plain(describeFinding(view.comparison))).toBe(
      'supervisor is right on 28 of 40 questions, single on 10',
    );
    const judged = view.comparison.arms.flatMap(({ name, vs_baseline: vs }) => {
      if (!vs?.right) return [];
      const { difference, won, lost } = vs.right;
      return [[name, Math.round(difference * 1000) / 10, [won, lost], formatVerdict(vs.right)]];
    });
    expect(judged).toEqual([
      ['supervisor', 45, [20, 2], 'better'],
      ['react', 0, [3, 3], 'cannot tell'],
      ['panel', -30, [0, 3], 'cannot tell'],
    ]);
    // Questions that were not asked count as wrong, and a warning names them.
    expect(view.teams[3]?.summary).toMatchObject({ correct: 7, accuracy: 0.175 });
    // A page that is passed on names no folder of the machine.
    expect(view.comparison.questions.source).toBe('questions.jsonl');
    expect(view.comparison.warnings.join()).toContain('Not asked yet: panel 30 of 40.');
  });

  test('has the time at which the last attempt ended, also of a batch that was interrupted', () => {
    const end = (result: Parameters<typeof sampleSource>[0]['result']) =>
      readBatchData(sampleSource({ repeat: 3, result })).comparison.measured_at;
    expect(end(({ cycle, index }) => ({ ended_at: 1000 * cycle + index }))).toBe('1970-01-01T00:00:03.003Z');
    expect(
      end(({ cycle, index }) => (cycle === 1 && index < 3 ? { ended_at: 1000 + index } : undefined)),
    ).toBe('1970-01-01T00:00:01.002Z');
    expect(end(() => undefined)).toBeNull();
  });

  test('says that no difference is detected where there is none to see', () => {
    const view = readBatchData(
      sampleSource({
        questions: 20,
        result: ({ team, index }) => (index < (team === 'single' ? 9 : 11) ? {} : wrong),
      }),
    );

    expect(plain(describeFinding(view.comparison))).toBe(
      'No difference to single was detected: right on 9 to 11; 20 questions can detect only differences of 35.0 points or more',
    );
    expect(view.comparison.warnings).toEqual([]);
  });

  test('names all that share the first place, and says so where nobody beats single', () => {
    const teams = ['single', 'react', 'panel'];
    const tied = sampleSource({
      teams,
      questions: 9,
      result: ({ team }) => (team === 'single' ? wrong : {}),
    });
    const equal = sampleSource({ teams, questions: 9, result: () => ({}) });

    expect(plain(describeFinding(readBatchData(tied).comparison))).toBe(
      'react, panel are right on 9 of 9 questions, single on 0',
    );
    expect(plain(describeFinding(readBatchData(equal).comparison))).toMatch(
      /^No difference to single was detected: right on 9; 9 questions can detect only/,
    );
  });

  test('with --pairs all sets every pair of teams side by side, and a team that is asked again against itself', () => {
    const view = readBatchData(
      sampleSource({
        teams: ['single', 'react', 'panel'],
        questions: 40,
        repeat: 2,
        pairs: 'all',
        // panel is right on all questions in its second attempts, but not in its first ones.
        result: ({ team, index, cycle }) => {
          const most = team === 'single' ? 5 : team === 'react' ? 30 : cycle === 1 ? 6 : 40;
          return index < most ? {} : wrong;
        },
      }),
    );

    expect(listVerdicts(view)).toEqual([
      ['react', 'better'],
      ['panel', 'better'],
    ]);
    const further = buildFurtherPairs(view.comparison).rows.map(({ team, against, right }) => [
      team,
      against,
      right && formatVerdict(right),
    ]);
    expect(further).toEqual([
      ['panel', 'react', 'worse'],
      ['single, second attempts', 'its first', 'cannot tell'],
      ['react, second attempts', 'its first', 'cannot tell'],
      ['panel, second attempts', 'its first', 'better'],
    ]);
  });

  test('judges by default each team against the baseline alone, and the first where single was not asked', () => {
    const view = (teams: string[], pairs?: 'all') =>
      readBatchData(
        sampleSource({
          teams,
          questions: 40,
          result: ({ team, index }) => (index < (team === 'panel' ? 18 : 10) ? {} : wrong),
          pairs,
        }),
      );
    const six = ['single', 'react', 'panel', 'a', 'b', 'c'];

    const verdictOf = (found: ReturnType<typeof view>) => new Map(listVerdicts(found)).get('panel');
    expect(listVerdicts(view(six))).toHaveLength(5);
    expect(view(six).comparison.further_pairs).toEqual([]);
    // A lead of eight questions is enough in five comparisons, but not in fifteen.
    expect(verdictOf(view(six))).toBe('better');
    expect(verdictOf(view(six, 'all'))).toBe('cannot tell');
    expect(view(six, 'all').comparison.further_pairs).toHaveLength(10);
    const others = view(['react', 'panel']);
    expect([others.comparison.baseline, listVerdicts(others)]).toEqual(['react', [['panel', 'better']]]);
  });

  test('where no answer is known says so', () => {
    const source = sampleSource({ result: () => ({ correct: null, correct_lenient: null }) });
    const withhold = <Question>(questions: readonly Question[]) =>
      questions.map((question) => ({ ...question, truths: [] }));
    const { head, questions } = source.batch;
    const view = readBatchData({
      batch: {
        ...source.batch,
        head: { ...head, questions: withhold(head.questions) },
        questions: withhold(questions),
      },
      summaries: Object.fromEntries(
        Object.entries(source.summaries).map(([name, summary]) => [
          name,
          { ...summary, scored: 0, accuracy: null, low: null, high: null, levels: {}, categories: {} },
        ]),
      ),
    });

    expect(describeFinding(view.comparison)).toContain('no true answer is known');
    expect(view.questions[0]).toMatchObject({ truths: [] });
  });
});

describe('the questions of a page', () => {
  test('have what came of every attempt, and its texts', () => {
    const view = readBatchData(
      sampleSource({
        teams: ['single', 'react', 'panel'],
        questions: 2,
        repeat: 2,
        result: ({ team, index, cycle }) => {
          if (index === 1) return cycle === 2 ? undefined : { ...wrong, cached: true };
          if (team === 'single') return failed;
          return team === 'react' ? { ...wrong, status: 'timeout' } : {};
        },
      }),
    );

    expect(
      view.attempts.map(({ task_id, cycle, status, correct, cached }) =>
        [task_id, cycle, status, correct, ...(cached ? ['cached'] : [])].join(' '),
      ),
    ).toEqual([
      ...[1, 2].flatMap((cycle) => [
        `q-0 ${cycle} failed false`,
        `q-0 ${cycle} timeout false`,
        `q-0 ${cycle} answered true`,
      ]),
      ...Array(3).fill('q-1 1 answered false cached'),
    ]);
    expect(view.attempts[0]).toMatchObject({
      team: 'single',
      final_answer: '0',
      reason: 'no key',
      use: { bytes: 100 },
      tool_calls: [{ tool: 'calculator', count: 1, failed: 1 }],
      reasoning_trace: '1. single: looks at it\n2. single: calculator({"expression":"0"}) → 0',
    });
    expect(view.notes).toEqual([]);
  });

  test('have traces with what is in the middle cut, and say so', () => {
    const trace = `1. single: begins\n${'2. single: goes on\n'.repeat(1000)}3. single: ends`;
    const view = readBatchData(
      sampleSource({ teams: ['single'], questions: 1, result: () => ({ reasoning_trace: trace }) }),
    );

    const text = view.attempts[0]?.reasoning_trace ?? '';
    expect(text.length).toBeLessThan(8100);
    expect(text).toMatch(/^1\. single: begins\n[\s\S]*\[cut: \d+ characters\][\s\S]*3\. single: ends$/);
    expect(view.notes).toEqual(['Traces are cut to 8,000 characters; the answers file has the whole.']);
  });

  test('of a large batch are as many as a page can hold: 6 teams, 2,100 questions, 3 cycles', () => {
    const trace = 'x'.repeat(20_000);
    const source = sampleSource({
      teams: ['single', 'pipeline', 'supervisor', 'react', 'overseer', 'panel'],
      questions: 2100,
      repeat: 3,
      result: ({ index }) => ({ reasoning_trace: trace, ...(index % 2 === 0 ? wrong : {}) }),
    });

    const view = readBatchData(source);
    const { html } = fillPage({ kind: 'batch', batch: view });

    expect(Buffer.byteLength(html)).toBeLessThan(25_000_000);
    expect(view.questions).toHaveLength(2000);
    expect(view.notes).toEqual([
      'The page holds the first 2,000 questions of 2,100; the figures above are of all.',
      'Answers and traces are those of the first 2 cycles of 3.',
      'Traces are cut to 349 characters; the answers file has the whole.',
    ]);
  });
});
