import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { type Attempt, attemptSchema, MAX_JSON_CHARACTERS } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { describe, expect, test } from 'vitest';
import { sampleAttempt } from './samples.ts';
import type { ContractPlace, StoreUnderTest } from './store-under-test.ts';

/** The part of the contract that is about attempts. */
export function attemptsContract(at: StoreUnderTest, place: ContractPlace): void {
  describe('attempts', () => {
    test('a wrong attempt is kept as it was given, with all its fields (OV-30, OV-31, OV-32, OV-33, OV-35, OV-37, OV-06)', async () => {
      const dated = await at.open({ now: () => new Date('2026-04-01T10:00:00.123Z') });
      const attempt = sampleAttempt();
      expect(await dated.recordAttempt(attempt)).toBe(1);
      expect(await dated.attempts()).toEqual([
        { ...attempt, id: 1, attempt_number: 1, gap_record: null, created_at: '2026-04-01T10:00:00.123Z' },
      ]);
    });

    test('a diagnosis is added to the attempt that it is of, word for word, and to no other (OV-35)', async () => {
      const attempt = sampleAttempt({ overseer_diagnosis: null });
      await at.store.recordAttempt(attempt);
      await at.store.recordAttempt({ ...attempt, attempt_id: 'another' });
      await at.store.addDiagnosis(attempt.attempt_id, ' It read\nthe first line. ');

      const [first, second] = await at.store.attempts();
      expect(first).toMatchObject({ ...attempt, overseer_diagnosis: ' It read\nthe first line. ' });
      expect(second).toMatchObject({ overseer_diagnosis: null });
      await expect(at.store.addDiagnosis('none', 'x')).rejects.toThrow('a diagnosis of attempt none');
    });

    test('a correct attempt is kept too (OV-20)', async () => {
      await at.store.recordAttempt(
        sampleAttempt({ correct: true, resolution_type: 'correct', overseer_diagnosis: null }),
      );
      expect(await at.store.attempts()).toMatchObject([{ correct: true, resolution_type: 'correct' }]);
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
      await at.store.recordAttempt(
        sampleAttempt({ ...bare, raw_answer: '', final_answer: '', trace: [], tool_calls: [] }),
      );
      expect(await at.store.attempts()).toMatchObject([bare]);
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
      await at.store.recordAttempt(sampleAttempt({ tool_calls: raw, trace: [...raw, 'end'] }));
      const [read] = await at.store.attempts();
      expect(JSON.stringify(read?.tool_calls)).toBe(JSON.stringify(raw));
      expect(JSON.stringify(read?.trace)).toBe(JSON.stringify([...raw, 'end']));
    });

    test('a text keeps every character but those that no database can hold, which become U+FFFD', async () => {
      const text = `'"\\ \u2028 \ufffe ${'👩‍🚀'} \r\n\t`;
      await at.store.recordAttempt(
        sampleAttempt({ raw_answer: `${text}\0\ud800`, overseer_diagnosis: text }),
      );
      expect(await at.store.attempts()).toMatchObject([
        { raw_answer: `${text}\ufffd\ufffd`, overseer_diagnosis: text },
      ]);
    });

    test('each resolution type is kept, and what contradicts the answer is refused (OV-34)', async () => {
      for (const change of [
        { resolution_type: 'lost' },
        { resolution_type: '' },
        { resolution_type: null },
        { resolution_type: 'correct' },
        { correct: true },
        { correct: null },
      ]) {
        const wrong: Attempt = JSON.parse(JSON.stringify({ ...sampleAttempt(), ...change }));
        await expect(at.store.recordAttempt(wrong), JSON.stringify(change)).rejects.toMatchObject({
          code: 'store',
          message: expect.stringContaining('resolution_type'),
        });
      }
      expect(await at.store.attempts()).toEqual([]);
      const types = attemptSchema.shape.resolution_type.unwrap().options;
      for (const resolution_type of types)
        await at.store.recordAttempt(
          sampleAttempt({
            attempt_id: resolution_type,
            resolution_type,
            correct: resolution_type === 'correct',
          }),
        );
      const kept = await at.store.attempts();
      expect(kept.map(({ resolution_type }) => resolution_type)).toEqual(types);
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
        numbers.push(await at.store.recordAttempt(sampleAttempt({ attempt_id, ...change })));
      }
      expect(numbers).toEqual([1, 2, 3, 1, 1, 1, 4]);
    });

    test('attempts at one question that are recorded at once get a number each', async () => {
      const numbers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => at.store.recordAttempt(sampleAttempt({ attempt_id: `a${i}` }))),
      );
      expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    });

    test('an attempt that was recorded already is refused, and says so', async () => {
      await at.store.recordAttempt(sampleAttempt());
      await expect(at.store.recordAttempt(sampleAttempt({ raw_answer: 'other' }))).rejects.toMatchObject({
        code: 'store',
        message: expect.stringContaining('attempt run-1/t1/1 was recorded already'),
      });
      expect(await at.store.attempts()).toMatchObject([{ raw_answer: 'about 145 moons' }]);
    });

    test('attempts come in pages of at most 50, in the order of recording', async () => {
      const ids = Array.from({ length: STORE_LIMITS.attemptsPerPage + 2 }, (_, i) => `a${i}`);
      for (const attempt_id of ids) await at.store.recordAttempt(sampleAttempt({ attempt_id }));
      const first = await at.store.attempts();
      const second = await at.store.attempts(first.at(-1)?.id);
      expect(first.map(({ attempt_id }) => attempt_id)).toEqual(ids.slice(0, STORE_LIMITS.attemptsPerPage));
      expect(second.map(({ attempt_id }) => attempt_id)).toEqual(ids.slice(STORE_LIMITS.attemptsPerPage));
    });

    test('a trace of the largest size is kept, one character more is refused with its length', async () => {
      const trace = (characters: number) => ['x'.repeat(characters - '[""]'.length)];
      const largest = trace(place.largestTrace ?? MAX_JSON_CHARACTERS);
      await at.store.recordAttempt(sampleAttempt({ trace: largest }));
      expect((await at.store.attempts())[0]?.trace).toEqual(largest);
      await expect(
        at.store.recordAttempt(sampleAttempt({ attempt_id: 'b', trace: trace(MAX_JSON_CHARACTERS + 1) })),
      ).rejects.toMatchObject({
        code: 'store',
        message: expect.stringContaining(`${MAX_JSON_CHARACTERS + 1}`),
      });
    });

    test.each([
      ['a trace that is no list', { trace: {} }, /trace/],
      ['another resolution type (OV-34)', { resolution_type: 'lost' }, /resolution_type/],
    ])('a row that another program has spoilt is reported, not returned: %s', async (_, change, problem) => {
      await at.store.recordAttempt(sampleAttempt());
      const record = JSON.stringify({ ...sampleAttempt(), ...change });
      await place.execute(at.url, `UPDATE gaia_attempts SET record = '${record}'`);
      await expect(at.store.attempts()).rejects.toMatchObject({
        code: 'store',
        message: expect.stringMatching(/a row of gaia_attempts is not as Gaia Mesh writes it: /),
      });
      await expect(at.store.attempts()).rejects.toThrow(problem);
    });
  });
}
