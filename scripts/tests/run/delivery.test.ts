import path from 'node:path';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { attemptSchema } from '@gaia-mesh/evaluation/attempts/attempt.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { taskFile } from '../../testing/team-file.ts';

const AGENTS = ['search', 'extract', 'triple', 'reason'];

/** Runs the default team on `count` tasks with acknowledged delivery; what it answered, and how often. */
async function acknowledgedBatch(count: number, args: readonly string[]) {
  const out = temporaryFolder();
  const tasks = taskFile(
    Array.from({ length: count }, (_, i) => ({
      task_id: `race-${i}`,
      question: 'When was the race in Tromsø?',
      document: `Zoë Müller won the race in Tromsø in ${1900 + i}. Tokyo was second. It rained. The prize was a bell.`,
      answer: String(1900 + i),
    })),
  );
  const { code, stdout, stderr } = await callCli([
    ...['bench', '--tasks', tasks, '--delivery', 'acknowledged', '--timeout', '40'],
    ...['--port-base', 'auto', '--out', out, ...args],
  ]);
  const metrics = readMetrics(out);
  expect(metrics.ledger).toMatchObject({ balanced: true, differences: [] });
  const { written, read, faults } = metrics.ledger;
  expect(written.packets + written.session + written.acks - (faults?.unsent_bytes ?? 0)).toBe(
    written.sockets,
  );
  expect(read.packets + read.session + read.acks + read.refused + read.repeated + read.torn).toBe(
    read.sockets,
  );
  const results = jsonLines(path.join(out, 'results.jsonl')).map((line) => attemptSchema.parse(line));
  const log = jsonLines(path.join(out, 'workspaces', 'hub.log'));
  const finals = log.filter(({ event, tag }) => event === 'packet' && tag === 'final_answer');
  return {
    code,
    stdout,
    stderr,
    metrics,
    /** Of each task its answer. */
    answers: Object.fromEntries(results.map(({ task_id, answer }) => [task_id, answer])),
    /** Of each task the number of final answers that came. */
    finals: finals.map(({ task_id }) => task_id).sort(),
    sent: log.filter(({ event }) => event === 'packet').map(({ type, task_id }) => `${type} ${task_id}`),
  };
}

const COUNT = 50;
const rightAnswers = Object.fromEntries(
  Array.from({ length: COUNT }, (_, i) => [`race-${i}`, String(1900 + i)]),
);
const taskIds = Object.keys(rightAnswers).sort();

describe('acknowledged delivery', () => {
  test.each([1])(
    'every task is answered once, and right, though each agent is killed at random: seed %i',
    async (seed) => {
      const random = new Random(seed);
      const kills = AGENTS.map((agent) => `kill=${agent}@${Math.round(20 + 600 * random.uniform())}ms`);
      const { code, metrics, answers, finals, sent, stdout } = await acknowledgedBatch(COUNT, [
        ...['--faults', kills.join(','), '--fault-seed', String(seed), '--restart', 'on-failure'],
      ]);

      expect(answers).toEqual(rightAnswers);
      expect(finals).toEqual(taskIds);
      // No finished result of any agent comes twice.
      expect(new Set(sent).size).toBe(sent.length);
      expect(code).toBe(0);
      expect(metrics.faults?.injected.kill).toBeGreaterThan(0);
      const { noted = 0, acknowledged = 0, undeliverable = -1, waiting = -1 } = metrics.delivery ?? {};
      expect([undeliverable, acknowledged + waiting]).toEqual([0, noted]);
      expect(stdout).toMatch(/Delivery {2}[\d,]+ noted: /);
      expect(stdout).toMatch(/acknowledgements took [\d,]+ B/);
    },
  );

  test('duplicates are dropped by their ids, what is dropped is delivered again', async () => {
    const faults = ['--faults', 'dup=5%,drop=5%', '--fault-seed', '4'];
    const { metrics, answers, finals, sent } = await acknowledgedBatch(COUNT, [
      ...faults,
      '--concurrency',
      '16',
    ]);

    expect(answers).toEqual(rightAnswers);
    expect(finals).toEqual(taskIds);
    expect(new Set(sent).size).toBe(sent.length);
    const { drop = 0, dup = 0 } = metrics.faults?.injected ?? {};
    expect([drop > 10, dup > 10]).toEqual([true, true]);
    expect(metrics.delivery?.redelivered).toBeGreaterThanOrEqual(drop / 2);
  });

  test('is off unless asked for, and then nothing of it is written', async () => {
    const out = temporaryFolder();
    expect(await callCli(['bench', '--team', 'single', '--port-base', 'auto', '--out', out])).toMatchObject({
      code: 0,
    });
    const metrics = readMetrics(out);
    expect(metrics.ack_bytes).toBe(0);
    expect(metrics).not.toHaveProperty('delivery');
  });

  test('of a kind that is not there is refused before anything starts', async () => {
    expect(await callCli(['bench', '--delivery', 'certain'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Allowed choices are at-most-once, acknowledged'),
    });
  });
});
