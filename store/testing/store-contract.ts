import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonValue } from '../../core/packet.ts';
import { Random } from '../../core/statistics/random.ts';
import { type Attempt, RESOLUTION_TYPES } from '../attempt.ts';
import { GAP_RECORD_KINDS, informsPlans, waitsForReview } from '../gap-record.ts';
import { MAX_ATTEMPTS_PER_PAGE, MAX_GAP_TEXT_CHARACTERS, MAX_JSON_CHARACTERS } from '../limits.ts';
import { openStore, type StoreOptions } from '../open-store.ts';
import type { Store } from '../store.ts';
import { sampleAttempt, sampleGapRecord, sampleKey } from './samples.ts';
import { Writer } from './writer.ts';

/** Where a back end keeps the stores of its tests. */
export interface ContractPlace {
  /** The URL of a store that is empty. */
  fresh(): Promise<string>;
  /** Runs SQL on the store at `url` beside the store's code, as another program would. */
  execute(url: string, sql: string): Promise<void>;
  /** Characters of the largest trace, where the test's server is too slow for the true bound. */
  readonly largestTrace?: number;
  /** The schema's versions, as SQL. */
  readonly steps: readonly string[];
}

const SEED = 20_260_401;
const ORIGIN = { attempt_id: null, question: '', answers: [] };

/** What every back end of the store must do, whatever is below it. */
export function storeContract(name: string, place: ContractPlace): void {
  describe(`store contract: ${name} (OV-38)`, () => {
    let url: string;
    let store: Store;
    const opened: Store[] = [];
    const warnings: string[] = [];

    async function open(options: Partial<StoreOptions> = {}): Promise<Store> {
      const another = await openStore(url, {
        warn: (text) => warnings.push(text),
        connections: 1,
        ...options,
      });
      opened.push(another);
      return another;
    }

    beforeEach(async () => {
      await Promise.all(opened.splice(0).map((other) => other.close()));
      warnings.length = 0;
      url = await place.fresh();
      store = await open();
    });
    afterAll(() => Promise.all(opened.splice(0).map((other) => other.close())));

    describe('attempts', () => {
      test('a wrong attempt is kept as it was given, with all its fields (OV-30, OV-31, OV-32, OV-33, OV-35, OV-37, OV-06)', async () => {
        const dated = await open({ now: () => new Date('2026-04-01T10:00:00.123Z') });
        const attempt = sampleAttempt();
        expect(await dated.recordAttempt(attempt)).toBe(1);
        expect(await dated.attempts({})).toEqual([
          { ...attempt, id: 1, attempt_number: 1, gap_record: null, created_at: '2026-04-01T10:00:00.123Z' },
        ]);
      });

      test('a correct attempt is kept too (OV-20)', async () => {
        await store.recordAttempt(
          sampleAttempt({ correct: true, resolution_type: 'correct', overseer_diagnosis: null }),
        );
        expect(await store.attempts({})).toMatchObject([{ correct: true, resolution_type: 'correct' }]);
      });

      test('an attempt without plan, diagnosis, cost, level and true answer is kept (OV-37)', async () => {
        const bare = {
          pm_plan: null,
          overseer_diagnosis: null,
          cost: null,
          level: null,
          correct: null,
          resolution_type: null,
        };
        await store.recordAttempt(
          sampleAttempt({ ...bare, raw_answer: '', final_answer: '', trace: [], tool_calls: [] }),
        );
        expect(await store.attempts({})).toMatchObject([bare]);
      });

      test('what was recorded raw is read again as it was: order of keys, NUL, lone surrogates, numbers at the edges (OV-32)', async () => {
        const raw: JsonValue[] = [
          {
            z: 1,
            a: 2,
            nul: 'a\0b',
            lone: '\ud800',
            emoji: '👩‍🚀',
            quote: `'"\\$1; DROP TABLE gaia_attempts; --`,
          },
          [1e308, 5e-324, 2 ** 53, -0.1, true, null, 'null', ''],
        ];
        await store.recordAttempt(sampleAttempt({ tool_calls: raw, trace: [...raw, 'end'] }));
        const [read] = await store.attempts({});
        expect(JSON.stringify(read?.tool_calls)).toBe(JSON.stringify(raw));
        expect(JSON.stringify(read?.trace)).toBe(JSON.stringify([...raw, 'end']));
      });

      test('a text keeps every character but those that no database can hold, which become U+FFFD', async () => {
        const text = `'"\\ \u2028 \ufffe ${'👩‍🚀'} \r\n\t`;
        await store.recordAttempt(sampleAttempt({ raw_answer: `${text}\0\ud800`, overseer_diagnosis: text }));
        expect(await store.attempts({})).toMatchObject([
          { raw_answer: `${text}\ufffd\ufffd`, overseer_diagnosis: text },
        ]);
      });

      test.each(RESOLUTION_TYPES)('resolution type %s is kept (OV-34)', async (resolution_type) => {
        await store.recordAttempt(sampleAttempt({ resolution_type, correct: resolution_type === 'correct' }));
        expect(await store.attempts({})).toMatchObject([{ resolution_type }]);
      });

      test.each([
        ['another value', { resolution_type: 'lost' }],
        ['an empty one', { resolution_type: '' }],
        ['none where the answer was wrong', { resolution_type: null }],
        ['`correct` where the answer was wrong', { resolution_type: 'correct' }],
        ['a failure where the answer was right', { correct: true }],
        ['one where no true answer is known', { correct: null }],
      ])('resolution type: %s is refused (OV-34)', async (_, change) => {
        const wrong: Attempt = JSON.parse(JSON.stringify({ ...sampleAttempt(), ...change }));
        await expect(store.recordAttempt(wrong)).rejects.toMatchObject({
          code: 'store',
          message: expect.stringContaining('resolution_type'),
        });
        expect(await store.attempts({})).toEqual([]);
      });

      test('the database itself refuses another resolution type (OV-34)', async () => {
        await store.recordAttempt(sampleAttempt());
        await expect(place.execute(url, "UPDATE gaia_attempts SET resolution_type = 'lost'")).rejects.toThrow(
          /constraint/i,
        );
      });

      test('a team has its attempts at a question counted, over all runs (C-12, OV-45)', async () => {
        const numbers = [];
        for (const [attempt_id, change] of Object.entries({
          a: {},
          b: { cycle: 2 },
          c: { run_id: 'run-2' },
          d: { team: 'react' },
          e: { task_id: 't2' },
          f: { question: 'Another question with the same id?' },
          g: {},
        })) {
          numbers.push(await store.recordAttempt(sampleAttempt({ attempt_id, ...change })));
        }
        expect(numbers).toEqual([1, 2, 3, 1, 1, 1, 4]);
      });

      test('attempts at one question that are recorded at once get a number each', async () => {
        const numbers = await Promise.all(
          Array.from({ length: 20 }, (_, i) => store.recordAttempt(sampleAttempt({ attempt_id: `a${i}` }))),
        );
        expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
      });

      test('an attempt that was recorded already is refused, and says so', async () => {
        await store.recordAttempt(sampleAttempt());
        await expect(store.recordAttempt(sampleAttempt({ raw_answer: 'other' }))).rejects.toMatchObject({
          code: 'store',
          message: expect.stringContaining('attempt run-1/t1/1 was recorded already'),
        });
        expect(await store.attempts({})).toMatchObject([{ raw_answer: 'about 145 moons' }]);
      });

      test('attempts come by run, team, task and page, in the order of recording', async () => {
        for (let i = 0; i < 6; i++) {
          await store.recordAttempt(
            sampleAttempt({
              attempt_id: `a${i}`,
              run_id: `run-${i % 2}`,
              team: i < 3 ? 'react' : 'panel',
              task_id: `t${i % 3}`,
            }),
          );
        }
        const ids = async (filter: Parameters<Store['attempts']>[0]) =>
          (await store.attempts(filter)).map(({ attempt_id }) => attempt_id);
        expect(await ids({ run_id: 'run-1' })).toEqual(['a1', 'a3', 'a5']);
        expect(await ids({ run_id: 'run-1', team: 'react' })).toEqual(['a1']);
        expect(await ids({ task_id: 't2' })).toEqual(['a2', 'a5']);
        expect(await ids({ attempt_id: 'a4' })).toEqual(['a4']);
        expect(await ids({ team: "' OR 1 = 1 --" })).toEqual([]);
        expect(await ids({ team: 'react\0' })).toEqual([]);
        // As it would come from a packet.
        expect(await ids(JSON.parse('{"run_id": "run-1", "1 = 1 OR team": "x"}'))).toEqual([
          'a1',
          'a3',
          'a5',
        ]);
        const first = await store.attempts({ limit: 4 });
        expect(first.map(({ attempt_id }) => attempt_id)).toEqual(['a0', 'a1', 'a2', 'a3']);
        expect(await ids({ limit: 4, after: first.at(-1)?.id ?? 0 })).toEqual(['a4', 'a5']);
      });

      test('a page has at most 50 attempts', async () => {
        expect(await store.attempts({ limit: MAX_ATTEMPTS_PER_PAGE })).toEqual([]);
        for (const limit of [0, MAX_ATTEMPTS_PER_PAGE + 1, 1.5, Number.NaN]) {
          await expect(store.attempts({ limit })).rejects.toMatchObject({ code: 'store' });
        }
      });

      test('outcomes have what a report needs of every attempt, beyond a page', async () => {
        for (let i = 0; i < MAX_ATTEMPTS_PER_PAGE + 1; i++) {
          await store.recordAttempt(sampleAttempt({ attempt_id: `a${i}`, cycle: i + 1 }));
        }
        const outcomes = await store.outcomes({ run_id: 'run-1' });
        expect(outcomes).toHaveLength(MAX_ATTEMPTS_PER_PAGE + 1);
        expect(outcomes.at(-1)).toEqual({
          run_id: 'run-1',
          cycle: MAX_ATTEMPTS_PER_PAGE + 1,
          attempt_number: MAX_ATTEMPTS_PER_PAGE + 1,
          task_id: 't1',
          question_type: 'lookup',
          level: '1',
          correct: false,
          resolution_type: 'retrieval_failure',
          tokens: 1234,
          cost: 0.0125,
          seconds: 3.5,
        });
        expect(await store.outcomes({ run_id: 'run-2' })).toEqual([]);
      });

      test('a trace of the largest size is kept, one character more is refused with its length', async () => {
        const trace = (characters: number) => ['x'.repeat(characters - '[""]'.length)];
        const largest = trace(place.largestTrace ?? MAX_JSON_CHARACTERS);
        await store.recordAttempt(sampleAttempt({ trace: largest }));
        expect((await store.attempts({}))[0]?.trace).toEqual(largest);
        await expect(
          store.recordAttempt(sampleAttempt({ attempt_id: 'b', trace: trace(MAX_JSON_CHARACTERS + 1) })),
        ).rejects.toMatchObject({
          code: 'store',
          message: expect.stringContaining(`${MAX_JSON_CHARACTERS + 1}`),
        });
      });

      test('a row that another program has spoilt is reported with its table, not returned', async () => {
        await store.recordAttempt(sampleAttempt());
        await place.execute(url, "UPDATE gaia_attempts SET trace = '{}'");
        await expect(store.attempts({})).rejects.toMatchObject({
          code: 'store',
          message: expect.stringMatching(/a row of gaia_attempts is not as Gaia Mesh writes it: .*trace/),
        });
      });
    });

    describe('gap records', () => {
      const query = { questionType: 'lookup', question: 'How many ships were there in 1900?', limit: 5 };

      test('a record is there for the very next plan, for another question too, and in the row of its attempt (OV-15, OV-16, OV-17, OV-36)', async () => {
        const attempt = sampleAttempt();
        await store.recordAttempt(attempt);
        const record = sampleGapRecord();
        const origin = { attempt_id: attempt.attempt_id, question: attempt.question, answers: ['17'] };
        expect(await store.addGapRecord(record, origin)).toEqual({ stored: true, id: 1 });
        const other = await open();
        expect(await other.gapRecords(query)).toEqual([
          {
            ...record,
            id: 1,
            attempt_id: attempt.attempt_id,
            status: 'proposed',
            created_at: expect.any(String),
          },
        ]);
        expect(await other.attempts({})).toMatchObject([{ gap_record: record }]);
      });

      test('a record of an attempt that is not recorded is refused', async () => {
        await expect(
          store.addGapRecord(sampleGapRecord(), { ...ORIGIN, attempt_id: 'nowhere' }),
        ).rejects.toMatchObject({ code: 'store', message: expect.stringContaining('nowhere') });
        expect(await store.gapRecords(query)).toEqual([]);
      });

      test('a record that tells the answer or what the question names is not stored, and says what it tells (OV-12, C-12)', async () => {
        const attempt = sampleAttempt();
        await store.recordAttempt(attempt);
        const origin = { attempt_id: attempt.attempt_id, question: attempt.question, answers: ['1,217'] };
        const told = await store.addGapRecord(
          sampleGapRecord({ cause: 'it found 1217 in place of the moons of Saturn', advice: 'look at 1980' }),
          origin,
        );
        expect(told).toEqual({
          stored: false,
          leaks: [
            { what: 'answer', text: '1,217' },
            { what: 'name', text: '1980' },
            { what: 'name', text: 'saturn' },
          ],
        });
        expect(await store.gapRecords(query)).toEqual([]);
        expect(await store.attempts({})).toMatchObject([{ gap_record: null }]);
      });

      test('only planning hints are proposed to the planner at once; the rest waits for a person (OV-19)', async () => {
        for (const kind of GAP_RECORD_KINDS) {
          await store.addGapRecord(sampleGapRecord({ kind, pattern: `about ${kind}` }), ORIGIN);
        }
        const kinds = async () => (await store.gapRecords(query)).map(({ kind }) => kind).sort();
        expect(await kinds()).toEqual(['planning_hint']);
        const waiting = (await store.gapRecordPage({})).filter(waitsForReview);
        expect(waiting.map(({ kind }) => kind)).toEqual([
          'prompt_change',
          'pipeline_change',
          'instruction_change',
        ]);
        const approved = await store.reviewGapRecord(waiting[0]?.id ?? 0, 'approved');
        expect(approved).toEqual({ ...waiting[0], status: 'approved' });
        await store.reviewGapRecord(waiting[1]?.id ?? 0, 'rejected');
        expect(await kinds()).toEqual(['planning_hint', 'prompt_change']);
        const left = (await store.gapRecordPage({})).filter(waitsForReview);
        expect(left).toMatchObject([{ kind: 'instruction_change' }]);
        // A person's second thought counts.
        await store.reviewGapRecord(waiting[0]?.id ?? 0, 'rejected');
        expect(await kinds()).toEqual(['planning_hint']);
        const used = (await store.gapRecordPage({})).filter(informsPlans);
        expect(used.map(({ kind }) => kind)).toEqual(['planning_hint']);
      });

      test('records come page by page in the order of storing, whatever became of them', async () => {
        for (let n = 1; n <= 53; n++)
          await store.addGapRecord(sampleGapRecord({ pattern: `no. ${n}` }), ORIGIN);
        await store.reviewGapRecord(1, 'rejected');
        const first = await store.gapRecordPage({});
        const second = await store.gapRecordPage({ after: first.at(-1)?.id ?? 0 });
        expect([first.length, second.length]).toEqual([50, 3]);
        expect(first[0]).toMatchObject({ pattern: 'no. 1', status: 'rejected' });
        expect(second[2]).toMatchObject({ pattern: 'no. 53', status: 'proposed' });
        await expect(store.gapRecordPage({ limit: 51 })).rejects.toMatchObject({ code: 'store' });
      });

      test('a planning hint that a person rejected is not proposed any more (OV-19)', async () => {
        await store.addGapRecord(sampleGapRecord(), ORIGIN);
        await store.reviewGapRecord(1, 'rejected');
        expect(await store.gapRecords(query)).toEqual([]);
      });

      test('a review of a record that does not exist is refused', async () => {
        await expect(store.reviewGapRecord(7, 'approved')).rejects.toMatchObject({
          code: 'store',
          message: expect.stringContaining('no gap record 7'),
        });
      });

      test('type and words rank together: both, then type or words, then the newer (OV-16)', async () => {
        const records = {
          neither: { question_type: 'chess', pattern: 'positions on a board', advice: 'list the moves' },
          typeOnly: { question_type: 'table', pattern: 'sums over columns', advice: 'read the header' },
          wordsOnly: {
            question_type: 'lookup',
            pattern: 'albums that an artist released',
            advice: 'see a discography',
          },
          both: {
            question_type: 'table',
            pattern: 'albums in a sheet by artist',
            advice: 'released in a year is a filter',
          },
          fewWords: { question_type: 'lookup', pattern: 'an artist of a painting', advice: 'see the museum' },
        };
        for (const record of Object.values(records)) {
          await store.addGapRecord(sampleGapRecord({ cause: 'it was overlooked', ...record }), ORIGIN);
        }
        const ranked = await store.gapRecords({
          questionType: 'table',
          question: 'How many albums has the artist released according to the sheet?',
          limit: 10,
        });
        expect(ranked.map(({ pattern }) => pattern)).toEqual(
          [records.both, records.typeOnly, records.wordsOnly, records.fewWords].map(({ pattern }) => pattern),
        );
        const two = await store.gapRecords({
          questionType: 'table',
          question: 'albums of an artist',
          limit: 2,
        });
        expect(two).toHaveLength(2);
      });

      test('of two records that fit equally well the newer is first, and the same text comes once (OV-16)', async () => {
        for (const pattern of ['ships of a fleet', 'ships in a harbour', 'ships of a fleet']) {
          await store.addGapRecord(sampleGapRecord({ pattern, cause: 'c', advice: 'a' }), ORIGIN);
        }
        const ranked = await store.gapRecords({ questionType: 'lookup', question: 'ships', limit: 10 });
        expect(ranked.map(({ id }) => id)).toEqual([3, 2]);
      });

      test('a record is also found by the words of the question that it came from, which it does not show (OV-16)', async () => {
        const question = 'How many lighthouses stand on the coast?';
        await store.addGapRecord(sampleGapRecord(), { attempt_id: null, question, answers: [] });
        const [found] = await store.gapRecords({
          questionType: 'other',
          question: 'Name the oldest lighthouse.',
          limit: 5,
        });
        expect(found).toMatchObject(sampleGapRecord());
        expect(JSON.stringify(found)).not.toContain('lighthouse');
      });

      test('accents, case and plurals make no difference to the search (OV-16)', async () => {
        await store.addGapRecord(sampleGapRecord({ pattern: 'Éléphants near Cafés' }), ORIGIN);
        expect(await store.gapRecords({ questionType: 'x', question: 'an elephant', limit: 5 })).toHaveLength(
          1,
        );
        expect(await store.gapRecords({ questionType: 'x', question: 'CAFE', limit: 5 })).toHaveLength(1);
      });

      test.each(
        Object.entries({
          nothing: '',
          marks: '?!',
          'words without meaning': 'the of and',
          'a quote': '"',
          SQL: `' OR 1=1; DROP TABLE gap_records; --`,
          'operators of FTS5': 'NEAR(a b) AND NOT col:x* ^y',
          'operators of Postgres': 'a & b | !c <-> d:*',
          'backslashes and placeholders': '\\ \\\\ $1 ?1 :x',
          'NUL and a lone surrogate': '\0 \ud800',
          'other scripts': '👩‍🚀 数独 Ωμέγα',
          'numbers and addresses': '1e5 3.14 2026-04-01 a_b a-b user@example.org http://x.example/y?z',
          'very much': `${'word'.repeat(1000)} ${Array.from({ length: 5000 }, (_, i) => `w${i}`).join(' ')}`,
        }),
      )('a question is words to find, never a command of the search: %s', async (_, question) => {
        await store.addGapRecord(sampleGapRecord(), { attempt_id: null, question, answers: [] });
        expect(await store.gapRecords({ ...query, question })).toHaveLength(1);
        const ofType = sampleGapRecord({
          pattern: 'another',
          question_type: `type ${question}`.slice(0, 128),
        });
        await store.addGapRecord(ofType, ORIGIN);
        const [first] = await store.gapRecords({
          questionType: ofType.question_type,
          question: '',
          limit: 1,
        });
        expect(first).toMatchObject({ pattern: 'another' });
      });

      test('odd words find the record that was made from a question with them', async () => {
        for (const word of ['1e5', '数独', 'ωμεγα', 'x2y', '007', 'naive']) {
          await store.addGapRecord(sampleGapRecord({ pattern: `number ${word.length}, ${word}` }), ORIGIN);
          const found = await store.gapRecords({ questionType: 'other', question: `${word}?`, limit: 5 });
          expect(found.map(({ pattern }) => pattern)).toEqual([`number ${word.length}, ${word}`]);
        }
      });

      test('a text of 4,000 characters is kept, of 4,001 refused', async () => {
        await store.addGapRecord(sampleGapRecord({ advice: 'x'.repeat(MAX_GAP_TEXT_CHARACTERS) }), ORIGIN);
        await expect(
          store.addGapRecord(sampleGapRecord({ advice: 'x'.repeat(MAX_GAP_TEXT_CHARACTERS + 1) }), ORIGIN),
        ).rejects.toMatchObject({ code: 'store', message: expect.stringContaining('advice') });
      });
    });

    describe('answer cache', () => {
      test('an answer is found by all parts of its key, and by no other key (C-11)', async () => {
        await store.cacheAnswer(sampleKey(), '42');
        expect(await store.cachedAnswer(sampleKey())).toEqual({
          answer: '42',
          created_at: expect.any(String),
        });
        for (const change of [
          { question: 'How old? ' },
          { fileHash: 'ab12' },
          { team: 'panel' },
          { model: 'n' },
          { promptVersion: '2' },
        ]) {
          expect(await store.cachedAnswer(sampleKey(change))).toBeUndefined();
        }
      });

      test('a hit among 1,000 answers takes less than 0.1 s (RA-08)', async () => {
        const answers = new Map(Array.from({ length: 1000 }, (_, i) => [`question ${i}`, `answer ${i}`]));
        await store.importCache(answers, (question) => sampleKey({ question }));
        const times: number[] = [];
        for (let i = 0; i < 21; i++) {
          const start = performance.now();
          expect(await store.cachedAnswer(sampleKey({ question: `question ${i * 40}` }))).toMatchObject({
            answer: `answer ${i * 40}`,
          });
          times.push(performance.now() - start);
        }
        expect(times.sort((a, b) => a - b)[10]).toBeLessThan(100);
      });

      test('a newer answer takes the place of the older', async () => {
        await store.cacheAnswer(sampleKey(), '41');
        await store.cacheAnswer(sampleKey(), '42');
        expect(await store.cachedAnswer(sampleKey())).toMatchObject({ answer: '42' });
        expect(await store.exportCache()).toEqual(new Map([['How old?', '42']]));
      });

      test.each(['', ' \n'])('an empty answer is refused: %j', async (answer) => {
        await expect(store.cacheAnswer(sampleKey(), answer)).rejects.toMatchObject({ code: 'store' });
        expect(await store.cachedAnswer(sampleKey())).toBeUndefined();
      });

      test('the export is {question: answer} with the newest answer of each, of all or of one team (RA-07, C-11)', async () => {
        let hour = 10;
        const clocked = await open({ now: () => new Date(Date.UTC(2026, 3, 1, hour++)) });
        await clocked.cacheAnswer(sampleKey({ question: '__proto__' }), 'odd');
        await clocked.cacheAnswer(sampleKey({ team: 'panel' }), 'old');
        await clocked.cacheAnswer(sampleKey({ team: 'react' }), 'new');
        expect(await clocked.exportCache()).toEqual(
          new Map([
            ['__proto__', 'odd'],
            ['How old?', 'new'],
          ]),
        );
        expect(await clocked.exportCache({ team: 'panel' })).toEqual(new Map([['How old?', 'old']]));
        expect(await clocked.exportCache({ model: 'm', promptVersion: '2' })).toEqual(new Map());
      });

      test('an import keeps what is there, and says how many are new (RA-07)', async () => {
        await store.cacheAnswer(sampleKey({ question: 'a' }), 'own');
        const answers = new Map([
          ['a', 'imported'],
          ['b', 'imported'],
        ]);
        expect(await store.importCache(answers, (question) => sampleKey({ question }))).toBe(1);
        expect(await store.importCache(answers, (question) => sampleKey({ question }))).toBe(0);
        expect(await store.exportCache()).toEqual(
          new Map([
            ['a', 'own'],
            ['b', 'imported'],
          ]),
        );
      });

      test('an import with an answer that cannot be kept imports nothing', async () => {
        const answers = new Map([
          ['a', 'good'],
          ['b', ''],
        ]);
        await expect(store.importCache(answers, (question) => sampleKey({ question }))).rejects.toMatchObject(
          { code: 'store' },
        );
        expect(await store.exportCache()).toEqual(new Map());
      });
    });

    describe('processes', () => {
      test('several processes that write at once lose nothing (RA-10)', async () => {
        const writers = ['a', 'b', 'c', 'd'].map((name) => new Writer(url, name, 50));
        await Promise.all(writers.map((writer) => writer.done()));
        const answers = await store.exportCache();
        expect(answers.size).toBe(200);
        for (const writer of writers) {
          expect(writer.acknowledged).toHaveLength(50);
          for (const question of writer.acknowledged)
            expect(answers.get(question)).toBe(`answer to ${question}`);
        }
        const numbers = (await store.outcomes({})).map(({ attempt_number }) => attempt_number);
        expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
      });

      test(`what was acknowledged is there after kill -9 in the middle of writing, seed ${SEED} (RA-07)`, async () => {
        const random = new Random(SEED);
        const acknowledged: string[] = [];
        for (let round = 0; round < 3; round++) {
          const writers = [0, 1].map((half) => new Writer(url, `${round}-${half}`, 1_000_000));
          await Promise.all(writers.map((writer) => writer.killAfter(1 + random.integer(60))));
          acknowledged.push(...writers.flatMap((writer) => writer.acknowledged));
        }
        const answers = await (await open()).exportCache();
        expect(acknowledged.length).toBeGreaterThanOrEqual(6);
        expect(acknowledged.filter((question) => answers.get(question) !== `answer to ${question}`)).toEqual(
          [],
        );
        // At most the one that each writer was at can be there too.
        expect(answers.size).toBeLessThanOrEqual(acknowledged.length + 6);
        expect(warnings).toEqual([]);
      });
    });

    describe('schema', () => {
      test('a store of an older version is brought up to date, and keeps its rows', async () => {
        url = await place.fresh();
        const [first = ''] = place.steps;
        const version = place.steps.length > 1 ? 1 : 0;
        await place.execute(
          url,
          `CREATE TABLE store_schema (version bigint NOT NULL); INSERT INTO store_schema VALUES (${version}); ${first};
           INSERT INTO gap_records (kind, question_type, failure_type, pattern, cause, advice, status, terms, created_at)
           VALUES ('planning_hint', 'lookup', 'tool_limit', 'p', 'c', 'a', 'proposed', 'p', '2026-04-01T10:00:00Z')`,
        );
        const newer = await open();
        expect(await newer.gapRecords({ questionType: 'lookup', question: 'x', limit: 5 })).toMatchObject([
          { pattern: 'p' },
        ]);
        await newer.cacheAnswer(sampleKey(), '42');
        expect(await (await open()).cachedAnswer(sampleKey())).toMatchObject({ answer: '42' });
      });

      test('a store of a newer version is refused, and left as it is', async () => {
        await store.cacheAnswer(sampleKey(), '42');
        await place.execute(url, 'UPDATE store_schema SET version = version + 1');
        await expect(open()).rejects.toMatchObject({
          code: 'store',
          message: expect.stringMatching(
            /newer Gaia Mesh \(schema version \d+, this one knows \d+\): update/,
          ),
        });
        await place.execute(url, 'UPDATE store_schema SET version = version - 1');
        expect(await (await open()).cachedAnswer(sampleKey())).toMatchObject({ answer: '42' });
      });

      test('processes that open an empty store at once make it once', async () => {
        url = await place.fresh();
        const writers = ['a', 'b', 'c'].map((name) => new Writer(url, name, 1));
        await Promise.all(writers.map((writer) => writer.done()));
        expect((await (await open()).exportCache()).size).toBe(3);
      });
    });
  });
}
