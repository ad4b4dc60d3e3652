import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { attemptSchema } from '@gaia-mesh/evaluation/attempts/attempt.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { isRunning, jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { taskFile } from '../../testing/team-file.ts';

const DOCUMENT =
  'Zoë Müller won the race in Tromsø in 1921. Tokyo was second. It rained. The prize was a bell.';

/** Runs the default team on `count` tasks, one after the other, with what is asked for. */
async function benchOf(count: number, args: readonly string[], out = temporaryFolder()) {
  const tasks = taskFile(
    Array.from({ length: count }, (_, i) => ({
      task_id: `race-${i}`,
      question: 'When was the race in Tromsø?',
      document: DOCUMENT,
      answer: '1921',
    })),
  );
  const { code, stdout, stderr } = await callCli([
    ...['bench', '--tasks', tasks, '--concurrency', '1', '--port-base', 'auto', '--out', out, ...args],
  ]);
  const metrics = readMetrics(out);
  expect(metrics.ledger).toMatchObject({ balanced: true, differences: [] });
  const { written, faults } = metrics.ledger;
  expect(written.packets + written.session - (faults?.unsent_bytes ?? 0)).toBe(written.sockets);
  expect(metrics.bytes_tx).toBe((faults?.delivered.bytes ?? 0) + (faults?.duplicated.bytes ?? 0));
  const results = jsonLines(path.join(out, 'results.jsonl')).map((line) => attemptSchema.parse(line));
  const log = jsonLines(path.join(out, 'workspaces', 'hub.log'));
  return { code, stdout, stderr, out, metrics, results, log };
}

const statuses = (results: readonly { status: string }[]) => results.map(({ status }) => status);

describe('a run with faults', () => {
  test('in which one way carries nothing ends by its deadline, and says what was lost', async () => {
    const { code, stdout, stderr, metrics, results, log } = await benchOf(1, [
      ...['--faults', 'drop=100%:search>extract', '--fault-seed', '5', '--timeout', '2'],
    ]);

    expect(code).toBe(3);
    expect(statuses(results)).toEqual(['timeout']);
    expect(results[0]?.reason).toBe(
      'no final answer within 2 s; deliveries of it that were lost, corrupted or false: 1',
    );
    expect(metrics.faults).toMatchObject({
      spec: 'drop=100%:search>extract',
      seed: 5,
      restart: 'never',
      injected: { drop: 1, dup: 0 },
      lost: [{ id: '1', tool: 'extract', dropped: 1, undeliverable: 0 }],
      harmed: { tasks: 1, answered: 0, right: 0 },
    });
    expect(log).toContainEqual(
      expect.objectContaining({
        event: 'fault',
        kind: 'drop',
        from: '0',
        to: '1',
        number: 1,
        type: 'search_docs',
        task_id: 'race-0',
      }),
    );
    expect(stdout).toMatch(
      /Lost +1 delivery \(1 dropped, 0 to agents that were gone\), by agent: 1 extract 1\n/,
    );
    expect(stdout).toContain('Answers   0 of 1 reached the hub, 0 right');
    expect(stderr).not.toContain('faults drawn with seed');
  });

  test('scores an answer once though every packet comes twice', async () => {
    const { code, metrics, results } = await benchOf(3, ['--faults', 'dup=100%']);

    expect(code).toBe(0);
    expect(statuses(results)).toEqual(['answered', 'answered', 'answered']);
    expect(metrics).toMatchObject({ tasks: 3, answered: 3, normalized_em: 1 });
    expect(metrics.faults?.injected.dup).toBe(metrics.faults?.deliveries.delivered.packets);
    expect(metrics.faults?.answers).toEqual({ tasks: 3, answered: 3, right: 3 });
  });

  test('has an agent lie in packets of a type: they arrive whole, are counted as lies, and the answer is wrong', async () => {
    const { code, metrics, results, log } = await benchOf(2, [
      '--faults',
      'lie=triple@triples',
      '--fault-seed',
      '7',
    ]);

    expect(code).toBe(0);
    expect(statuses(results)).toEqual(['answered', 'answered']);
    expect(metrics).toMatchObject({ tasks: 2, answered: 2, normalized_em: 0, ledger: { balanced: true } });
    const { lied, dropped, offered } = metrics.faults?.deliveries ?? {};
    expect(lied).toEqual({ packets: 6, bytes: expect.any(Number) });
    expect(lied?.bytes).toBeLessThan(offered?.bytes ?? 0);
    expect(dropped?.packets).toBe(0);
    expect(metrics.faults).toMatchObject({
      injected: { lie: 6 },
      harmed: { tasks: 2, answered: 2, right: 0 },
    });
    expect(log).toContainEqual(
      expect.objectContaining({ event: 'fault', kind: 'lie', from: '2', type: 'triples' }),
    );
  });

  test('has corrupted packets refused and counted by those who get them, and goes on', async () => {
    const { code, stdout, metrics } = await benchOf(3, [
      ...['--adapter', 'json+crc32c', '--faults', 'corrupt=100%:hub>triple,corrupt=100%:search>reason'],
    ]);

    expect(code).toBe(0);
    expect(metrics.faults?.injected.corrupt).toBe(6);
    expect(metrics).toMatchObject({ answered: 3, refused_packets: 6 });
    expect(metrics.agents.map(({ status, refused }) => [status, refused])).toEqual([
      ['up', 0],
      ['up', 0],
      ['up', 3],
      ['up', 3],
    ]);
    expect(stdout).toContain('Refused   6 packets by those who got them');
  });

  test('makes the same decisions again with the same seed', async () => {
    // What is dropped depends on what is sent: a task has the time to send all that it can, even on a busy machine.
    const faults = ['--faults', 'drop=12%,corrupt=12%,delay=3ms±3,dup=50%:3>0', '--timeout', '3'];
    const adapter = ['--adapter', 'json+crc32c'];
    const first = await benchOf(4, [...faults, ...adapter]);
    const seed = /faults drawn with seed (\d+); --fault-seed \1 repeats them/.exec(first.stderr)?.[1] ?? '';
    const again = await benchOf(4, [...faults, ...adapter, '--fault-seed', seed]);

    expect(again.metrics.faults?.seed).toBe(Number(seed));
    expect(again.metrics.faults?.injected, `seed ${seed}`).toEqual(first.metrics.faults?.injected);
    expect(again.metrics.faults?.lost, `seed ${seed}`).toEqual(first.metrics.faults?.lost);
    expect(statuses(again.results), `seed ${seed}`).toEqual(statuses(first.results));
    expect(again.stderr).not.toContain('drawn');
  });

  test('without a fault that happened says so; a run without --faults says nothing of them', async () => {
    const late = await benchOf(1, ['--faults', 'kill=extract@1000s', '--fault-seed', '1']);
    expect(late.code).toBe(0);
    expect(late.stdout).toContain('nothing (16 deliveries); the run was over before kill=extract@1000s');
    expect(late.metrics.faults?.timed).toEqual([{ fault: 'kill=extract@1000s', kind: 'kill', at_ms: null }]);

    const out = temporaryFolder();
    expect(await callCli(['bench', '--team', 'single', '--port-base', 'auto', '--out', out])).toMatchObject({
      code: 0,
    });
    const metrics = readMetrics(out);
    expect(metrics).not.toHaveProperty('faults');
    expect(metrics.ledger).not.toHaveProperty('faults');
  });
});

describe('an agent that a fault kills', () => {
  test('is deregistered and named; every task ends at once', async () => {
    const { code, stderr, metrics, results } = await benchOf(4, ['--faults', 'kill=search@0s']);

    expect(code).toBe(1);
    expect(stderr).toContain('fault: kill=search@0s');
    expect(stderr).toMatch(/agent 0 \(search\) is gone: it was ended by SIGKILL/);
    expect(statuses(results).slice(1)).toEqual(['failed', 'failed', 'failed']);
    expect(results[3]?.reason).toMatch(/^agent 0 \(search\) is gone, so no answer can come/);
    expect(metrics.agents[0]).toMatchObject({ id: '0', status: 'lost' });
    expect(metrics.faults).toMatchObject({ injected: { kill: 1 }, recoveries: [] });
    // Documents that it was not there for.
    expect(metrics.faults?.lost[0]?.undeliverable).toBeGreaterThanOrEqual(3);
  });

  test('is started again in its workspace; what it missed is counted, and later tasks are answered', async () => {
    // The agent takes seconds to start, so that the second task begins before it is back.
    const slow = path.join(temporaryFolder(), 'slow.ts');
    const shipped = pathToFileURL(path.join(codeFolder, 'tools', 'pipeline', 'extract.ts')).href;
    writeFileSync(
      slow,
      `import { setTimeout as sleep } from 'node:timers/promises';
       import { extract } from '${shipped}';
       export const slow = { ...extract, prepare: async () => await sleep(2_000) };`,
    );
    // The delay keeps the first task waiting, so that it is still on when the agent dies, its work done: two steps, which have 3 s
    // on a busy machine. It ends when the death is known.
    const { code, stdout, stderr, out, metrics, results, log } = await benchOf(2, [
      ...['--faults', 'delay=3.2s:extract>triple,kill=extract@3s', '--restart', 'on-failure'],
      ...['--tool', `extract=${slow}`],
    ]);

    expect(code).toBe(0);
    expect(statuses(results)).toEqual(['answered', 'answered']);
    expect(stderr).toMatch(/agent 1 \(extract\) is gone: it was ended by SIGKILL/);
    expect(stderr).toMatch(/agent 1 \(extract\) is back after \d/);
    expect(stdout).toMatch(/Recovery {2}1 extract back after \d/);
    expect(metrics.faults?.lost).toEqual([{ id: '1', tool: 'extract', dropped: 0, undeliverable: 2 }]);
    expect(metrics.agents[1]).toMatchObject({ id: '1', status: 'up' });
    expect(metrics.faults).toMatchObject({
      restart: 'on-failure',
      injected: { kill: 1, delay: 2 },
      recoveries: [{ agent: '1', tool: 'extract', attempts: 1 }],
    });
    const [{ lost_at_ms = 0, back_at_ms = 0, took_ms = 0 } = {}] = metrics.faults?.recoveries ?? [];
    expect((back_at_ms ?? 0) - lost_at_ms).toBe(took_ms);
    expect(took_ms).toBeGreaterThanOrEqual(100);

    const workspace = path.join(out, 'workspaces', '1');
    expect(JSON.parse(readFileSync(path.join(workspace, 'memory.json'), 'utf8'))).toMatchObject({
      node_id: '1',
      restarts: 1,
    });
    const began = jsonLines(path.join(workspace, 'agent.log')).filter((line) => 'began' in line);
    expect(began).toHaveLength(2);
    expect(new Set(began.map((line) => line.began)).size).toBe(1);
    // Ids of packets stay unique in the run.
    const ids = log.filter((line) => line.event === 'packet').map((line) => line.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain('1+1-1');
    const pids = log.filter((line) => line.event === 'agent_up').map((line) => Number(line.pid));
    expect(pids).toHaveLength(5);
    for (const pid of pids) expect(isRunning(pid)).toBe(false);
  });
});

describe('what is asked for and cannot be', () => {
  test.each([
    [['--faults', 'drop=1'], '"drop=1": "1": expected 0% to 100%; e.g. drop=1%'],
    [['--faults', 'kill=nobody@1s'], 'there are 0 (search), 1 (extract), 2 (triple), 3 (reason)'],
    [['--faults', 'kill=2@1s', '--external', '2'], 'a run can control only agents that it has started'],
    [['--fault-seed', '1'], '--fault-seed has no effect alone: it goes with --faults'],
    [['--restart', 'always'], 'Allowed choices are on-failure'],
    [['--restart', 'on-failure', '--adapter', 'anp'], '--restart does not go with anp'],
    [['--restart', 'on-failure', '--adapter', 'json+ed25519'], '--restart does not go with json+ed25519'],
  ])('is refused before anything starts: %j', async (args, message) => {
    const out = temporaryFolder();
    const { code, stderr } = await callCli(['bench', '--out', out, ...args]);

    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(path.join(out, 'workspaces'))).toBe(false);
  });
});
