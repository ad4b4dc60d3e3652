import { Random } from '@gaia-mesh/core/system/random.ts';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../open-store.ts';
import type { Store } from '../store.ts';
import { attemptsContract } from './attempts-contract.ts';
import { gapRecordsContract } from './gap-records-contract.ts';
import { sampleKey } from './samples.ts';
import type { ContractPlace, StoreUnderTest } from './store-under-test.ts';
import { Writer } from './writer.ts';

const SEED = 20_260_401;

/** The contract of every back end of the store. */
export function storeContract(name: string, place: ContractPlace): void {
  describe(`store contract: ${name} (OV-38)`, () => {
    const opened: Store[] = [];
    const warnings: string[] = [];
    let store: Store | undefined;
    const at: StoreUnderTest = {
      url: '',
      get store() {
        if (store === undefined) throw new Error('each test begins with a store');
        return store;
      },
      async open(options = {}) {
        const warn = (text: string) => warnings.push(text);
        const another = await openStore(at.url, { warn, connections: 1, ...options });
        opened.push(another);
        return another;
      },
    };

    beforeEach(async () => {
      await Promise.all(opened.splice(0).map((other) => other.close()));
      warnings.length = 0;
      at.url = await place.fresh();
      store = await at.open();
    });
    afterAll(() => Promise.all(opened.splice(0).map((other) => other.close())));

    attemptsContract(at, place);
    gapRecordsContract(at, place);

    describe('answer cache', () => {
      test('an answer is found by all parts of its key, and by no other key (C-11)', async () => {
        await at.store.cacheAnswer(sampleKey(), '42');
        expect(await at.store.cachedAnswer(sampleKey())).toEqual({
          answer: '42',
          created_at: expect.any(String),
          took: null,
        });
        for (const change of [
          { question: 'How old? ' },
          { fileHash: 'ab12' },
          { fileHash: '' },
          { team: 'panel' },
          { model: 'n' },
          { promptVersion: '2' },
          // Parts do not run into each other.
          { team: 'reactm', model: '' },
          { team: 'reac', model: 'tm' },
          { team: 'react","m' },
        ]) {
          expect(await at.store.cachedAnswer(sampleKey(change))).toBeUndefined();
        }
      });

      test('an answer is found among 1,000 (RA-08)', async () => {
        const answers = new Map(Array.from({ length: 1000 }, (_, i) => [`question ${i}`, `answer ${i}`]));
        await at.store.importCache(answers, (question) => sampleKey({ question }));
        expect(await at.store.cachedAnswer(sampleKey({ question: 'question 840' }))).toMatchObject({
          answer: 'answer 840',
        });
      });

      test('a newer answer takes the place of the older', async () => {
        await at.store.cacheAnswer(sampleKey(), '41');
        await at.store.cacheAnswer(sampleKey(), '42');
        expect(await at.store.cachedAnswer(sampleKey())).toMatchObject({ answer: '42' });
        expect(await at.store.exportCache()).toEqual(new Map([['How old?', '42']]));
      });

      test('an empty answer is refused', async () => {
        for (const answer of ['', ' \n'])
          await expect(at.store.cacheAnswer(sampleKey(), answer)).rejects.toMatchObject({ code: 'store' });
        expect(await at.store.cachedAnswer(sampleKey())).toBeUndefined();
      });

      test('the export is {question: answer} with the newest answer of each, of all or of one team (RA-07, C-11)', async () => {
        let hour = 10;
        const clocked = await at.open({ now: () => new Date(Date.UTC(2026, 3, 1, hour++)) });
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
        await at.store.cacheAnswer(sampleKey({ question: 'a' }), 'own');
        const answers = new Map([
          ['a', 'imported'],
          ['b', 'imported'],
        ]);
        expect(await at.store.importCache(answers, (question) => sampleKey({ question }))).toBe(1);
        expect(await at.store.importCache(answers, (question) => sampleKey({ question }))).toBe(0);
        expect(await at.store.exportCache()).toEqual(
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
        await expect(
          at.store.importCache(answers, (question) => sampleKey({ question })),
        ).rejects.toMatchObject({ code: 'store' });
        expect(await at.store.exportCache()).toEqual(new Map());
      });
    });

    describe('what a cached answer took', () => {
      const TOOK = { tokens: 1200, cost: 0.0125, packets: 7, bytes: 9_000_000_000, seconds: 1.25 };

      test('is kept beside it, and replaced with it', async () => {
        await at.store.cacheAnswer(sampleKey(), '41', TOOK);
        expect(await at.store.cachedAnswer(sampleKey())).toMatchObject({ answer: '41', took: TOOK });
        const unknown = { ...TOOK, tokens: null, cost: null };
        await at.store.cacheAnswer(sampleKey(), '42', unknown);
        expect(await at.store.cachedAnswer(sampleKey())).toMatchObject({ answer: '42', took: unknown });
        await at.store.cacheAnswer(sampleKey(), '43');
        expect(await at.store.cachedAnswer(sampleKey())).toMatchObject({ answer: '43', took: null });
      });

      test('is not part of an export, and not known of an import', async () => {
        await at.store.cacheAnswer(sampleKey({ question: 'a' }), '41', TOOK);
        expect(await at.store.exportCache()).toEqual(new Map([['a', '41']]));
        await at.store.importCache(new Map([['b', '42']]), (question) => sampleKey({ question }));
        expect(await at.store.cachedAnswer(sampleKey({ question: 'b' }))).toMatchObject({ took: null });
      });

      test('is refused as what it cannot be', async () => {
        for (const odd of [{ tokens: -1 }, { packets: 0.5 }, { seconds: Number.NaN }])
          await expect(at.store.cacheAnswer(sampleKey(), '42', { ...TOOK, ...odd })).rejects.toMatchObject({
            code: 'store',
          });
        expect(await at.store.cachedAnswer(sampleKey())).toBeUndefined();
      });
    });

    describe('processes', () => {
      test('several processes that write at once lose nothing (RA-10)', async () => {
        const writers = ['a', 'b', 'c'].map((name) => new Writer(at.url, name, 50));
        await Promise.all(writers.map((writer) => writer.done()));
        const answers = await at.store.exportCache();
        expect(answers.size).toBe(150);
        for (const writer of writers) {
          expect(writer.acknowledged).toHaveLength(50);
          for (const question of writer.acknowledged)
            expect(answers.get(question)).toBe(`answer to ${question}`);
        }
        const numbers = (await at.store.attempts()).map(({ attempt_number }) => attempt_number);
        expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => i + 1));
      });

      test(`what was acknowledged is there after kill -9 in the middle of writing, seed ${SEED} (RA-07)`, async () => {
        const random = new Random(SEED);
        const acknowledged: string[] = [];
        for (let round = 0; round < 2; round++) {
          const writers = [0, 1].map((half) => new Writer(at.url, `${round}-${half}`, 1_000_000));
          await Promise.all(writers.map((writer) => writer.killAfter(1 + random.integer(60))));
          acknowledged.push(...writers.flatMap((writer) => writer.acknowledged));
        }
        const answers = await (await at.open()).exportCache();
        expect(acknowledged.length).toBeGreaterThanOrEqual(4);
        expect(acknowledged.filter((question) => answers.get(question) !== `answer to ${question}`)).toEqual(
          [],
        );
        // Each of the four writers may have stored one more answer that it had not acknowledged.
        expect(answers.size).toBeLessThanOrEqual(acknowledged.length + 4);
        expect(warnings).toEqual([]);
      });
    });

    describe('schema', () => {
      test.each([
        ['a newer', 1, /newer Gaia Mesh \(schema version \d+, this one knows \d+\): update/],
        ['an older', -1, /older Gaia Mesh \(schema version \d+, this one knows \d+\).*name another store/],
      ])('a store of %s version is refused, and left as it is', async (_, change, message) => {
        await at.store.cacheAnswer(sampleKey(), '42');
        await place.execute(at.url, `UPDATE store_schema SET version = version + (${change})`);
        await expect(at.open()).rejects.toMatchObject({
          code: 'store',
          message: expect.stringMatching(message),
        });
        await place.execute(at.url, `UPDATE store_schema SET version = version - (${change})`);
        expect(await (await at.open()).cachedAnswer(sampleKey())).toMatchObject({ answer: '42' });
      });

      test('processes that open an empty store at once make it once', async () => {
        at.url = await place.fresh();
        const writers = ['a', 'b'].map((name) => new Writer(at.url, name, 1));
        await Promise.all(writers.map((writer) => writer.done()));
        expect((await (await at.open()).exportCache()).size).toBe(2);
      });
    });
  });
}
