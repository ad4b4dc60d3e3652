import { describe, expect, test } from 'vitest';
import { buildReportHtml } from '../report-html.ts';
import { sampleSource } from '../testing/sample-batch.ts';
import { buildGaiaView } from './gaia-view.ts';

const wrong = { correct: false, correct_lenient: false } as const;
const failed = { ...wrong, status: 'failed', reason: 'no key' } as const;

/** A text without the blanks that no line break parts. */
const plain = (text: string | null) => text?.replaceAll('\u00a0', ' ');

describe('what teams made of the same questions', () => {
  test('is set against single on the questions that both were asked, and said first', () => {
    // supervisor: right on 20 where single is not, wrong on 2 where it is right; react: 3 more and 3 fewer; panel: asked ten only.
    const view = buildGaiaView(
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

    expect(plain(view.finding)).toBe('supervisor is right on 28 of 40 questions, single alone on 10');
    expect(view.score.finding).toBe(
      'Against single on the same questions: supervisor is better; react, panel are not detectably different',
    );
    const rows = view.score.table.rows.map((row) => [row[0], ...row.slice(5)]);
    expect(rows[0]).toEqual(['single (baseline)', '–', '–', '–', '–', '–', 'baseline']);
    expect(rows[1]).toEqual([
      'supervisor',
      '+45.0',
      expect.stringMatching(/^\+\d.* to \+\d/),
      '20 : 2',
      '<0.001',
      expect.stringMatching(/^\d+\.\d$/),
      'better',
    ]);
    expect(rows[2]).toEqual([
      'react',
      '0.0',
      expect.stringMatching(/^−.* to \+/),
      '3 : 3',
      '1.000',
      expect.stringMatching(/^\d+\.\d$/),
      'no detectable difference',
    ]);
    expect(rows[3]?.slice(1)).toEqual([
      '−30.0',
      expect.any(String),
      '0 : 3',
      expect.any(String),
      expect.any(String),
      'no detectable difference',
    ]);
    // What was not asked is wrong in the score, and named.
    expect(view.score.table.rows[3]?.slice(0, 3)).toEqual(['panel', '7', '17.5 %']);
    expect(plain(view.alarm)).toContain('Not asked yet: panel 30 of 40.');
  });

  test('says that no difference is detected where there is none to see', () => {
    const view = buildGaiaView(
      sampleSource({
        questions: 20,
        result: ({ team, index }) => (index < (team === 'single' ? 9 : 11) ? {} : wrong),
      }),
    );

    expect(plain(view.finding)).toBe(
      'No difference to single was detected: right on 9 to 11 of 20 questions; so many questions show one of 35.0 points',
    );
    expect(view.alarm).toBeNull();
  });

  test('names all that share the first place, and says so where nobody beats single', () => {
    const teams = ['single', 'react', 'panel'];
    const tied = sampleSource({
      teams,
      questions: 9,
      result: ({ team }) => (team === 'single' ? wrong : {}),
    });
    const equal = sampleSource({ teams, questions: 9, result: () => ({}) });

    expect(plain(buildGaiaView(tied).finding)).toBe(
      'react, panel are right on 9 of 9 questions, single alone on 0',
    );
    expect(plain(buildGaiaView(equal).finding)).toMatch(
      /^No difference to single was detected: right on 9 of 9 questions; so many/,
    );
  });

  test('with --pairs all sets every pair of teams side by side, and a team that is asked again against itself', () => {
    const view = buildGaiaView(
      sampleSource({
        teams: ['single', 'react', 'panel'],
        questions: 40,
        repeat: 2,
        pairs: 'all',
        // panel gets in its second attempts what it did not in its first.
        result: ({ team, index, cycle }) => {
          const most = team === 'single' ? 5 : team === 'react' ? 30 : cycle === 1 ? 6 : 40;
          return index < most ? {} : wrong;
        },
      }),
    );

    expect(view.pairs?.table.rows.map((row) => [row[0], row[1], row.at(-1)])).toEqual([
      ['react', 'single', 'better'],
      ['panel', 'single', 'better'],
      ['panel', 'react', 'worse'],
      ['single, second attempts', 'its first', 'no detectable difference'],
      ['react, second attempts', 'its first', 'no detectable difference'],
      ['panel, second attempts', 'its first', 'better'],
    ]);
    expect(plain(view.pairs?.finding ?? '')).toBe(
      'Of 3 pairs of teams 3 differ detectably; asked again, panel differs from itself: it has learned, or it is luck',
    );
    expect(buildGaiaView(sampleSource({ questions: 4, result: () => ({}) })).pairs).toBeNull();
  });

  test('judges by default each team against the baseline alone, and the first where single was not asked', () => {
    const view = (teams: string[], pairs?: 'all') =>
      buildGaiaView(
        sampleSource({
          teams,
          questions: 40,
          result: ({ team, index }) => (index < (team === 'panel' ? 18 : 10) ? {} : wrong),
          ...(pairs === undefined ? {} : { pairs }),
        }),
      );
    const six = ['single', 'react', 'panel', 'a', 'b', 'c'];

    expect(view(six).pairs).toBeNull();
    // Eight questions are enough among five comparisons, and not among fifteen.
    expect(view(six).score.table.rows[2]?.at(-1)).toBe('better');
    expect(view(six, 'all').score.table.rows[2]?.at(-1)).toBe('no detectable difference');
    expect(view(six, 'all').pairs?.table.rows).toHaveLength(15);
    const others = view(['react', 'panel']);
    expect(others.score.table.rows.map(([name]) => name)).toEqual(['react (baseline)', 'panel']);
    expect(others.score.finding).toBe('Against react on the same questions: panel is better');
  });

  test('without other teams has no differences, and says how to get them', () => {
    const view = buildGaiaView(sampleSource({ teams: ['supervisor'], result: () => ({}) }));

    expect(view.score.table.columns.map(({ title }) => title)).toEqual([
      ...['team', 'right', 'accuracy', '95 % interval', 'lenient'],
    ]);
    expect(view.score.note).toContain('--team single,…');
  });

  test('where no answer is known has no accuracy and no chart', () => {
    const source = sampleSource({ result: () => ({ correct: null, correct_lenient: null }) });
    const questions = source.batch.questions.map((question) => ({ ...question, truths: [] }));
    const view = buildGaiaView({
      batch: { ...source.batch, questions },
      summaries: Object.fromEntries(
        Object.entries(source.summaries).map(([name, summary]) => [
          name,
          { ...summary, scored: 0, accuracy: null, low: null, high: null, levels: {}, categories: {} },
        ]),
      ),
    });

    expect(view.finding).toContain('no true answer is known');
    expect(view.cost).toBeNull();
    expect(view.questions.questions[0]).toMatchObject({ truth: null, marks: ['uu'] });
  });

  test('leaves out of a chart who has no place on its scale', () => {
    const view = buildGaiaView(
      sampleSource({
        teams: ['single', 'react', 'panel'],
        result: ({ team }) => (team === 'panel' ? wrong : { cost: team === 'react' ? 0.5 : 0 }),
      }),
    );

    const measures = view.cost?.measures.map(({ name, points, left }) => [
      name,
      points.map(({ team }) => team),
      left,
    ]);
    expect(measures).toEqual([
      ['bytes', ['single', 'react'], ['panel']],
      ['seconds', ['single', 'react'], ['panel']],
      ['cost', ['react'], ['single', 'panel']],
      ['tokens', ['single', 'react'], ['panel']],
    ]);
  });

  test('counts what went wrong by role and kind, and the tools', () => {
    const view = buildGaiaView(
      sampleSource({
        questions: 6,
        result: ({ team, index }) =>
          team === 'single'
            ? {}
            : index === 0
              ? { ...failed, failed_role: 'planner', gap: 'proprietary_api' }
              : index === 1
                ? { ...wrong, status: 'timeout', gap: 'image_only' }
                : { ...wrong, gap: 'other' },
      }),
    );

    const [went, tools] = view.work;
    expect(went?.table.rows).toEqual([
      ['answered, but wrong', '–', '4'],
      ['failed', '–', '1'],
      ['out of time', '–', '1'],
      ['role: planner', '–', '1'],
      ['kind: needs a key', '–', '1'],
      ['kind: image or video', '–', '1'],
      ['kind: other', '–', '4'],
    ]);
    expect(tools?.table.rows).toEqual([['calculator', '6 (2 failed)', '6 (2 failed)']]);
  });

  test('has accuracy by level and by kind, with intervals', () => {
    const view = buildGaiaView(
      sampleSource({ questions: 8, result: ({ index }) => (index % 2 === 0 ? {} : wrong) }),
    );

    expect(view.groups.map(({ name, rows }) => [name, rows.map(({ label }) => label)])).toEqual([
      ['levels', ['level 1', 'level 2']],
      ['kinds', ['table', 'text']],
    ]);
    expect(view.groups[0]?.rows[0]?.cells[0]).toEqual({ text: '4 of 4', note: '51–100 %', tenths: 10 });
    expect(plain(view.groups[0]?.finding ?? '')).toContain('is weakest at level 2: 0 of 4 (0.0 %)');
  });
});

describe('cycles', () => {
  const source = sampleSource({
    questions: 4,
    repeat: 3,
    // Cycle 2 gains both kinds of text and loses one of table.
    result: ({ index, cycle }) => ([1, 3].includes(index) === (cycle === 1) ? {} : wrong),
  });

  test('have first attempts apart from repeats, and what got worse first (OV-45)', () => {
    const cycles = buildGaiaView(source).cycles;

    expect(cycles?.lines[0]?.points.map(({ cycle, text }) => [cycle, text])).toEqual([
      [1, 'first attempts: 2 of 4 (50.0 %)'],
      [2, 'cycle 2, repeats: 2 of 4 (50.0 %)'],
      [3, 'cycle 3, repeats: 2 of 4 (50.0 %)'],
    ]);
    expect(cycles?.table.rows.slice(0, 2)).toEqual([
      ['single', '1', 'first attempts', '2 of 4', '50.0 %', '–', '–', '–'],
      ['single', '2', 'repeats', '2 of 4', '50.0 %', '+0.0 %', '2', '2'],
    ]);
    // Of two questions of each kind, all of this may be chance.
    expect(cycles?.changes?.table.rows.map((row) => [row[2], row[7]])).toEqual([
      ['table', 'no detectable change'],
      ['text', 'no detectable change'],
      ['table', 'no detectable change'],
      ['text', 'no detectable change'],
    ]);
    expect(cycles?.changes?.finding).toBe(
      'No kind of question changed detectably from one cycle to the next',
    );
    const many = buildGaiaView(
      sampleSource({
        questions: 40,
        repeat: 2,
        result: ({ index, cycle }) => ((index % 2 === 1) === (cycle === 1) ? {} : wrong),
      }),
    ).cycles;
    expect(many?.changes?.table.rows.map((row) => [row[2], row[7]])).toEqual([
      ['table', 'REGRESSED'],
      ['table', 'REGRESSED'],
      ['text', 'gained'],
      ['text', 'gained'],
    ]);
    expect(cycles?.passes.rows[2]).toEqual(['single', '3', '100.0 %', '0.0 %', '0.0 %', '4']);
  });

  test('are not there where every question was asked once', () => {
    expect(buildGaiaView(sampleSource({ result: () => ({}) })).cycles).toBeNull();
  });

  test('leave the score of first attempts as it is', () => {
    expect(buildGaiaView(source).score.table.rows[0]?.slice(1, 3)).toEqual(['2', '50.0 %']);
  });
});

describe('the questions of a page', () => {
  test('have a mark for every attempt, and its texts', () => {
    const { questions } = buildGaiaView(
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

    expect(questions.questions.map(({ marks }) => marks)).toEqual([
      ['ftr', 'ftr'],
      ['WWW', '---'],
    ]);
    expect(questions.questions[0]?.attempts[0]?.[0]).toEqual({
      answer: '0',
      reason: 'no key',
      took: expect.stringContaining('100\u00a0B'),
      tools: 'calculator 1 (1 failed)',
      steps: [
        { isTool: false, text: '1. single: looks at it' },
        { isTool: true, text: '2. single: calculator({"expression":"0"}) → 0' },
      ],
    });
    expect(questions.questions[1]?.attempts[0]?.[0]?.took).toMatch(/^from the cache in 0\.500/);
    expect(questions.questions[1]?.attempts[1]).toEqual([null, null, null]);
    expect(questions.notes).toEqual([]);
  });

  test('have traces with what is in the middle cut, and say so', () => {
    const trace = `1. single: begins\n${'2. single: goes on\n'.repeat(1000)}3. single: ends`;
    const { questions } = buildGaiaView(
      sampleSource({ teams: ['single'], questions: 1, result: () => ({ reasoning_trace: trace }) }),
    );

    const steps = questions.questions[0]?.attempts[0]?.[0]?.steps ?? [];
    const texts = steps.map(({ text }) => text).join('\n');
    expect(texts.length).toBeLessThan(8100);
    expect(texts).toMatch(/^1\. single: begins\n[\s\S]*\[cut: [\d,]+ characters\][\s\S]*3\. single: ends$/);
    expect(plain(questions.notes[0] ?? '')).toBe(
      'Traces are cut to 8,000 characters; the answers file has the whole.',
    );
  });

  test('of a large batch are as many as a page can hold: 6 teams, 2,500 questions, 8 cycles', async () => {
    const trace = 'x'.repeat(20_000);
    const source = sampleSource({
      teams: ['single', 'pipeline', 'supervisor', 'react', 'overseer', 'panel'],
      questions: 2500,
      repeat: 8,
      result: ({ index }) => ({ reasoning_trace: trace, ...(index % 2 === 0 ? wrong : {}) }),
    });

    const html = await buildReportHtml({ runs: [], gaia: source });

    expect(Buffer.byteLength(html)).toBeLessThan(25_000_000);
    const { notes, questions } = buildGaiaView(source).questions;
    expect(questions).toHaveLength(2000);
    expect(notes.map(plain)).toEqual([
      'The page holds the first 2,000 questions of 2,500; the figures above are of all.',
      'Answers and traces are those of the first 2 cycles of 8.',
      'Traces are cut to 349 characters; the answers file has the whole.',
    ]);
  }, 60_000);
});
