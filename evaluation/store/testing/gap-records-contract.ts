import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { gapRecordSchema, isAwaitingReview, isInforming } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { describe, expect, test } from 'vitest';
import { sampleAttempt, sampleGapRecord } from './samples.ts';
import type { ContractPlace, StoreUnderTest } from './store-under-test.ts';

const ORIGIN = { attempt_id: null, question: '', answers: [] };

/** The part of the contract that is about gap records. */
export function gapRecordsContract(at: StoreUnderTest, place: ContractPlace): void {
  describe('gap records', () => {
    const query = { questionType: 'lookup', question: 'How many ships were there in 1900?', limit: 5 };

    test('a record is there for the very next plan, for another question too, and in the row of its attempt (OV-15, OV-16, OV-17, OV-36)', async () => {
      const attempt = sampleAttempt();
      await at.store.recordAttempt(attempt);
      const record = sampleGapRecord();
      const origin = { attempt_id: attempt.attempt_id, question: attempt.question, answers: ['17'] };
      expect(await at.store.addGapRecord(record, origin)).toBe(1);
      const other = await at.open();
      expect(await other.gapRecords(query)).toEqual([
        {
          ...record,
          id: 1,
          attempt_id: attempt.attempt_id,
          status: 'proposed',
          created_at: expect.any(String),
        },
      ]);
      expect(await other.attempts()).toMatchObject([{ gap_record: record }]);
    });

    test('a record and the words that find it are stored together or not at all', async () => {
      await place.execute(at.url, 'DROP TABLE gap_terms');
      await expect(at.store.addGapRecord(sampleGapRecord(), ORIGIN)).rejects.toMatchObject({ code: 'store' });
      expect(await at.store.gapRecordPage()).toEqual([]);
    });

    test('a record that shares a rare word is found among many newer ones that share a common word (OV-16)', async () => {
      const rare = sampleGapRecord({ question_type: 'x', pattern: 'tables of lighthouses' });
      await at.store.addGapRecord(rare, ORIGIN);
      for (let n = 0; n <= STORE_LIMITS.gapCandidates; n++)
        await at.store.addGapRecord(
          sampleGapRecord({ question_type: 'x', pattern: `tables, no. ${n}` }),
          ORIGIN,
        );
      const question = 'Which lighthouses are in the table?';
      const [first] = await at.store.gapRecords({ questionType: 'lookup', question, limit: 1 });
      expect(first).toMatchObject(rare);
    });

    test('a record of an attempt that is not recorded is refused', async () => {
      await expect(
        at.store.addGapRecord(sampleGapRecord(), { ...ORIGIN, attempt_id: 'nowhere' }),
      ).rejects.toMatchObject({ code: 'store', message: expect.stringContaining('nowhere') });
      expect(await at.store.gapRecords(query)).toEqual([]);
    });

    test('a record that tells the answer or what the question names is not stored (OV-12, C-12)', async () => {
      const attempt = sampleAttempt();
      await at.store.recordAttempt(attempt);
      const origin = { attempt_id: attempt.attempt_id, question: attempt.question, answers: ['1,217'] };
      for (const leak of [
        { cause: 'it found 1217' },
        { cause: 'the moons of Saturn' },
        { advice: 'look at 1980' },
      ])
        expect(await at.store.addGapRecord(sampleGapRecord(leak), origin)).toBeUndefined();
      expect(await at.store.gapRecords(query)).toEqual([]);
      expect(await at.store.attempts()).toMatchObject([{ gap_record: null }]);
    });

    test('only planning hints are proposed to the planner at once; the rest waits for a person (OV-19)', async () => {
      for (const kind of gapRecordSchema.shape.kind.options) {
        await at.store.addGapRecord(sampleGapRecord({ kind, pattern: `about ${kind}` }), ORIGIN);
      }
      const kinds = async () => (await at.store.gapRecords(query)).map(({ kind }) => kind).sort();
      expect(await kinds()).toEqual(['planning_hint']);
      const waiting = (await at.store.gapRecordPage()).filter(isAwaitingReview);
      expect(waiting.map(({ kind }) => kind)).toEqual([
        'prompt_change',
        'pipeline_change',
        'instruction_change',
      ]);
      const approved = await at.store.reviewGapRecord(waiting[0]?.id ?? 0, 'approved');
      expect(approved).toEqual({ ...waiting[0], status: 'approved' });
      await at.store.reviewGapRecord(waiting[1]?.id ?? 0, 'rejected');
      expect(await kinds()).toEqual(['planning_hint', 'prompt_change']);
      const left = (await at.store.gapRecordPage()).filter(isAwaitingReview);
      expect(left).toMatchObject([{ kind: 'instruction_change' }]);
      // A person may change a decision.
      await at.store.reviewGapRecord(waiting[0]?.id ?? 0, 'rejected');
      expect(await kinds()).toEqual(['planning_hint']);
      const used = (await at.store.gapRecordPage()).filter(isInforming);
      expect(used.map(({ kind }) => kind)).toEqual(['planning_hint']);
    });

    test('records come page by page in the order of storing, whatever became of them', async () => {
      for (let n = 1; n <= 53; n++)
        await at.store.addGapRecord(sampleGapRecord({ pattern: `no. ${n}` }), ORIGIN);
      await at.store.reviewGapRecord(1, 'rejected');
      const first = await at.store.gapRecordPage();
      const second = await at.store.gapRecordPage(first.at(-1)?.id ?? 0);
      expect([first.length, second.length]).toEqual([50, 3]);
      expect(first[0]).toMatchObject({ pattern: 'no. 1', status: 'rejected' });
      expect(second[2]).toMatchObject({ pattern: 'no. 53', status: 'proposed' });
    });

    test('a planning hint that a person rejected is not proposed any more (OV-19)', async () => {
      await at.store.addGapRecord(sampleGapRecord(), ORIGIN);
      await at.store.reviewGapRecord(1, 'rejected');
      expect(await at.store.gapRecords(query)).toEqual([]);
    });

    test('a review of a record that does not exist is refused', async () => {
      await expect(at.store.reviewGapRecord(7, 'approved')).rejects.toMatchObject({
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
        await at.store.addGapRecord(sampleGapRecord({ cause: 'it was overlooked', ...record }), ORIGIN);
      }
      const ranked = await at.store.gapRecords({
        questionType: 'table',
        question: 'How many albums has the artist released according to the sheet?',
        limit: 10,
      });
      expect(ranked.map(({ pattern }) => pattern)).toEqual(
        [records.both, records.typeOnly, records.wordsOnly, records.fewWords].map(({ pattern }) => pattern),
      );
      const two = await at.store.gapRecords({
        questionType: 'table',
        question: 'albums of an artist',
        limit: 2,
      });
      expect(two).toHaveLength(2);
    });

    test('of two records that fit equally well the newer is first, and the same text comes once (OV-16)', async () => {
      for (const pattern of ['ships of a fleet', 'ships in a harbour', 'ships of a fleet']) {
        await at.store.addGapRecord(sampleGapRecord({ pattern, cause: 'c', advice: 'a' }), ORIGIN);
      }
      const ranked = await at.store.gapRecords({ questionType: 'lookup', question: 'ships', limit: 10 });
      expect(ranked.map(({ id }) => id)).toEqual([3, 2]);
    });

    test('a record is also found by the words of the question that it came from, which it does not show (OV-16)', async () => {
      const question = 'How many lighthouses stand on the coast?';
      await at.store.addGapRecord(sampleGapRecord(), { attempt_id: null, question, answers: [] });
      const [found] = await at.store.gapRecords({
        questionType: 'other',
        question: 'Name the oldest lighthouse.',
        limit: 5,
      });
      expect(found).toMatchObject(sampleGapRecord());
      expect(JSON.stringify(found)).not.toContain('lighthouse');
    });

    test('accents, case and plurals make no difference to the search (OV-16)', async () => {
      await at.store.addGapRecord(sampleGapRecord({ pattern: 'Éléphants near Cafés' }), ORIGIN);
      expect(
        await at.store.gapRecords({ questionType: 'x', question: 'an elephant', limit: 5 }),
      ).toHaveLength(1);
      expect(await at.store.gapRecords({ questionType: 'x', question: 'CAFE', limit: 5 })).toHaveLength(1);
    });

    test('a question is words to find, never a command of the search', async () => {
      const questions = [
        '',
        '?!',
        'the of and',
        '"',
        `' OR 1=1; DROP TABLE gap_records; --`,
        'NEAR(a b) AND NOT col:x* ^y',
        'a & b | !c <-> d:*',
        '\\ \\\\ $1 ?1 :x',
        '\0 \ud800',
        '👩‍🚀 数独 Ωμέγα',
        '1e5 3.14 2026-04-01 a_b a-b user@example.org http://x.example/y?z',
        `${'word'.repeat(1000)} ${Array.from({ length: 5000 }, (_, i) => `w${i}`).join(' ')}`,
      ];
      for (const [index, question] of questions.entries()) {
        await at.store.addGapRecord(sampleGapRecord({ pattern: `no. ${index}` }), { ...ORIGIN, question });
        const found = await at.store.gapRecords({ ...query, question, limit: 20 });
        expect(found.map(({ pattern }) => pattern)).toContain(`no. ${index}`);
        const ofType = sampleGapRecord({
          pattern: `another, ${index}`,
          question_type: `type ${question}`.slice(0, 128),
        });
        await at.store.addGapRecord(ofType, ORIGIN);
        const [first] = await at.store.gapRecords({
          questionType: ofType.question_type,
          question: '',
          limit: 1,
        });
        expect(first).toMatchObject({ pattern: `another, ${index}` });
      }
    });

    test('odd words find the record that was made from a question with them', async () => {
      for (const word of ['1e5', '数独', 'ωμεγα', 'x2y', '007', 'naive']) {
        await at.store.addGapRecord(sampleGapRecord({ pattern: `number ${word.length}, ${word}` }), ORIGIN);
        const found = await at.store.gapRecords({ questionType: 'other', question: `${word}?`, limit: 5 });
        expect(found.map(({ pattern }) => pattern)).toEqual([`number ${word.length}, ${word}`]);
      }
    });

    test('a text of 4,000 characters is kept, of 4,001 refused', async () => {
      await at.store.addGapRecord(sampleGapRecord({ advice: 'x'.repeat(4000) }), ORIGIN);
      await expect(
        at.store.addGapRecord(sampleGapRecord({ advice: 'x'.repeat(4001) }), ORIGIN),
      ).rejects.toMatchObject({ code: 'store', message: expect.stringContaining('advice') });
    });
  });
}
