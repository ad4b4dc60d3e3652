import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRecording } from '../../../core/recording/read-archive.ts';
import { benchArguments } from '../../../evaluation/traffic/published-scenarios.ts';
import { runCli, temporaryFolder } from '../../testing/cli.ts';
import { readMetrics } from '../../testing/run-files.ts';

/** A run of the scenario: its metrics, what was printed on the way, and how many packets of each kind from whom to whom there were. */
async function played(name: string) {
  const out = temporaryFolder();
  const run = await runCli([
    'bench',
    '--quiet',
    '--port-base',
    'auto',
    '--out',
    out,
    ...benchArguments(name),
  ]);
  expect(run.code, run.stderr).toBe(0);
  const { packets } = await readRecording(path.join(out, 'run_artifacts.tar.gz'));
  const counts = new Map<string, number>();
  for (const { packet } of packets) {
    const key = `${packet.from.replace(/-\d+$/, '')} ${packet.type}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return { metrics: readMetrics(out), stderr: run.stderr, counts: Object.fromEntries(counts), packets };
}

describe('a scenario after published work', () => {
  test('docqa: each step sends what the next one reads', async () => {
    const { counts, metrics } = await played('docqa');

    expect(counts).toEqual({
      ...{ 'hub doc_init': 10, 'finder search_docs': 10, 'reader events': 10 },
      ...{ 'analyst triples': 10, 'judge data_event': 10 },
    });
    expect(metrics).toMatchObject({ status: 'answered', ledger: { balanced: true } });
  });

  test('queue: a star, in which each worker has one question at a time', async () => {
    const { counts, packets } = await played('queue');

    const asked = counts['coordinator queue_worker.call'];
    expect(asked).toBeGreaterThan(80);
    expect(counts['worker queue_worker.result']).toBe(asked);
    expect(new Set(packets.map(({ packet }) => packet.from)).size).toBe(6);
  });

  test('failstorm: every question is answered, although three of eight shards are killed', async () => {
    const { metrics, counts } = await played('failstorm');

    expect(metrics).toMatchObject({ status: 'answered', answered: 10, faults: { injected: { kill: 3 } } });
    expect(counts['shard ring_shard.result']).toBeGreaterThan(20);
  });

  test('safety: no name and no number leaves the reception, and the intruder is refused', async () => {
    const { packets, counts, stderr } = await played('safety');

    const said = JSON.stringify(packets.filter(({ packet }) => packet.from !== 'hub'));
    expect(said).not.toMatch(/Feenan|Vale|Kerrin|Brandt|Osk|\d{3}-\d{2}-\d{4}|555-/);
    expect(counts).toMatchObject({ 'reception clinic_doctor.call': 15, 'intruder probe': 5 });
    expect(stderr.match(/intruder may not call doctor/g)).toHaveLength(5);
    expect(stderr.match(/intruder tagged a final answer/g)).toHaveLength(5);
  });

  test('consensus: all peers end with the same value, in each epoch after as many rounds', async () => {
    const { counts, packets } = await played('consensus');

    expect(counts).toMatchObject({ 'peer snapshot': 25, 'watch data_event': 5 });
    expect(Number(counts['peer finding']) % 25).toBe(0);
    const answers = packets
      .filter(({ packet }) => packet.from === 'watch')
      .map(({ packet }) => packet.payload);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ answer: '0' });
  });

  test('is recorded and compared; what goes with it and what does not is said', async () => {
    const out = temporaryFolder();
    const bounds = ['--adapters', 'json,msgpack', '--rounds', '1', '--invocations', '1', '--budget', '3'];
    const run = await runCli(['compare', '--scenario', 'consensus', ...bounds, '--out', out, '--json']);
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ team: 'consensus', tasks: 5 });

    const unknown = await runCli(['compare', '--scenario', 'chess']);
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('known: docqa, queue, failstorm'),
    });
    const both = await runCli(['compare', '--scenario', 'queue', '--teams', 'panel']);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--scenario has its own team') });
  });
});
