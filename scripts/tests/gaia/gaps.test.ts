import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openStore } from '@gaia-mesh/evaluation/store/open-store.ts';
import { sampleAttempt, sampleGapRecord } from '@gaia-mesh/evaluation/store/testing/samples.ts';
import { formatHint } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';

/** A hint, which is 1, and two records that wait; the second of these is hostile. */
async function placeStore(file = path.join(temporaryFolder(), 'kept.sqlite')): Promise<string> {
  const store = await openStore(file, { warn: (text) => expect(text).toBe('') });
  const origin = { attempt_id: null, question: '', answers: [] };
  await store.addGapRecord(sampleGapRecord({ kind: 'planning_hint' }), origin);
  await store.addGapRecord(sampleGapRecord({ kind: 'prompt_change', advice: 'ask for the unit' }), origin);
  const hostile = 'all is well\u001b[2J\n3  prompt_change  approved';
  await store.addGapRecord(sampleGapRecord({ kind: 'instruction_change', pattern: hostile }), origin);
  await store.close();
  return file;
}

const statuses = async (store: string) => {
  const { stdout } = await callCli(['gaia', 'gaps', '--store', store, '--json']);
  const { records } = JSON.parse(stdout);
  return records.map((record: Record<string, unknown>) => [record.id, record.status, record.informs_plans]);
};

describe('gaia gaps', () => {
  test('shows each record, whole, and nothing of it drives the terminal (OV-19)', async () => {
    const store = await placeStore();

    const { code, stdout, stderr } = await callCli(['gaia', 'gaps', '--store', store]);

    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('2  prompt_change  waits for you\n');
    expect(stdout).toContain('advice   ask for the unit\n');
    expect(stdout).toContain('1  planning_hint  in use\n');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('pattern  all is well [2J 3 prompt_change approved\n');
  });

  test('takes decisions, and second thoughts; an approved record informs plans, a rejected hint does not (OV-19)', async () => {
    const store = await placeStore();

    const decided = await callCli(['gaia', 'gaps', '--store', store, '--approve', '2', '--reject', '1', '3']);
    expect(decided).toMatchObject({ code: 0, stderr: '' });
    expect(decided.stdout.match(/^\d+ .*/gm)).toEqual([
      '2  prompt_change  approved',
      '1  planning_hint  rejected',
      '3  instruction_change  rejected',
    ]);
    expect(await statuses(store)).toEqual([
      [1, 'rejected', false],
      [2, 'approved', true],
      [3, 'rejected', false],
    ]);
    await callCli(['gaia', 'gaps', '--store', store, '--approve', '1']);
    expect((await statuses(store))[0]).toEqual([1, 'approved', true]);
  });

  test('finds the store beside the answers', async () => {
    const folder = temporaryFolder();
    await placeStore(path.join(folder, 'a.runs', 'store', 'attempts.sqlite'));

    const { stdout } = await callCli(['gaia', 'gaps', '--out', 'a.jsonl', '--json'], { cwd: folder });

    const { schema_version, records } = JSON.parse(stdout);
    expect([schema_version, records.length]).toEqual([1, 3]);
    expect(records[1]).toMatchObject({
      id: 2,
      kind: 'prompt_change',
      status: 'proposed',
      advice: 'ask for the unit',
    });
  });

  test.each([
    [
      'a record that is not there, and then decides nothing',
      ['--approve', '2', '9'],
      'there is no gap record 9',
    ],
    [
      'both at once',
      ['--approve', '2', '--reject', '2'],
      'gap record 2 cannot be both approved and rejected',
    ],
    ['what is no number', ['--approve', 'all'], 'expected a whole number from 1'],
  ])('refuses %s', async (_what, args, message) => {
    const store = await placeStore();

    const { code, stderr } = await callCli(['gaia', 'gaps', '--store', store, ...args]);

    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect((await statuses(store))[1]).toEqual([2, 'proposed', false]);
  });

  test('makes no store where there is none, and takes no other file for one', async () => {
    const folder = temporaryFolder();
    const none = await callCli(['gaia', 'gaps', '--store', 'none.sqlite'], { cwd: folder });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('there is no store at')]);
    expect(existsSync(path.join(folder, 'none.sqlite'))).toBe(false);

    writeFileSync(path.join(folder, 'letter.txt'), 'Dear Zoë,');
    const letter = await callCli(['gaia', 'gaps', '--store', 'letter.txt'], { cwd: folder });
    expect([letter.code, letter.stderr]).toEqual([1, expect.stringContaining('is not a store of Gaia Mesh')]);
  });
});

describe('the effect of a record', () => {
  const HINT = sampleGapRecord({ pattern: 'a hint' });

  /** Returns the effect of the hint by the store of these attempts, in their order; the record may come from one of them. */
  async function effectOf(
    attempts: readonly (readonly [taskId: string, correct: boolean, isWithHint: boolean])[],
    from: string | null = null,
  ) {
    const file = path.join(temporaryFolder(), 'kept.sqlite');
    const store = await openStore(file, { warn: (text) => expect(text).toBe('') });
    for (const [index, [task_id, correct, isWithHint]] of attempts.entries()) {
      const pm_brief = isWithHint ? `Hint 1\n${formatHint(HINT)}` : '';
      const resolution_type = correct ? 'correct' : 'retrieval_failure';
      await store.recordAttempt(
        sampleAttempt({
          ...{ attempt_id: `a${index}`, task_id, question: `What is ${task_id}?` },
          ...{ correct, resolution_type, pm_brief },
        }),
      );
    }
    await store.addGapRecord(HINT, { attempt_id: from, question: '', answers: [] });
    await store.close();
    const { stdout, stderr } = await callCli(['gaia', 'gaps', '--store', file, '--json']);
    expect(stderr).toBe('');
    return JSON.parse(stdout).records[0].effect;
  }

  test('that mended ten questions is shown, with its interval', async () => {
    const mended = Array.from({ length: 10 }, (_, i) => `q${i}`);
    const effect = await effectOf(
      mended.flatMap((id) => [[id, false, false] as const, [id, true, true] as const]),
    );

    expect(effect).toMatchObject({ questions: 10, right_without: 0, right_with: 10, verdict: 'better' });
    expect(effect.low).toBeGreaterThan(0);
  });

  test('that mended two cannot be told, and the question that it was made from does not count', async () => {
    const own = [['own', false, false] as const, ['own', true, true] as const];
    const others = ['x', 'y'].flatMap((id) => [[id, false, false] as const, [id, true, true] as const]);

    expect(await effectOf([...own, ...others], 'a0')).toMatchObject({
      questions: 2,
      difference: 1,
      verdict: 'cannot tell',
    });
    expect(await effectOf(own, 'a0')).toBeNull();
    expect(await effectOf([['x', true, true]])).toBeNull();
  });
});
