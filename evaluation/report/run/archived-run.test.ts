import { describe, expect, test } from 'vitest';
import { sampleArchive, sampleRun } from '../testing/sample-archive.ts';
import { readArchivedRun } from './archived-run.ts';

describe('a run in an archive', () => {
  test('is its metrics, its recording and its logs', async () => {
    const { metrics, recording, log, endings } = await sampleRun({ tasks: 2 });

    expect(metrics).toMatchObject({ adapter: 'json', tasks: 2, answered: 2 });
    expect(recording.packets).toHaveLength(6);
    expect([log.openings.size, log.sent.size, log.relays.size]).toEqual([2, 4, 4]);
    expect(endings.get('t-1')).toEqual({ answer: 'hello', status: 'answered', elapsed_ms: 2 });
  });

  test('that was too long to be recorded has metrics alone', async () => {
    const header = (await sampleRun()).recording.header;
    const line = JSON.stringify({ kind: 'gaia-mesh-recording', schema_version: 1, ...header });

    const run = await readArchivedRun(
      await sampleArchive({ files: { 'recording.jsonl': `${line}\n`, 'hub.log': null } }),
    );

    expect(run.recording).toBeNull();
    expect(run.metrics.run_id).toBe('sample');
  });

  test.each([
    ['no metrics', { 'metrics.json': null }, 'holds no metrics.json'],
    ['metrics that are none', { 'metrics.json': '{"run_id": 1}' }, 'metrics.json: run_id'],
    ['a recording that is none', { 'recording.jsonl': '{}\n{}' }, 'recording.jsonl:1: not a recording'],
    [
      'a log with what is no packet',
      {
        '0/agent.log':
          '{"dir":"sent","cause":"x","bytes":1,"received_us":1,"sent_us":1,"decode_us":1,"tool_us":1,"engine_us":1,"encode_us":1}',
      },
      'its logs: not a packet',
    ],
  ])('with %s is refused with the reason', async (_what, files, reason) => {
    const archive = await sampleArchive({ files });

    await expect(readArchivedRun(archive)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(reason),
    });
  });

  test('reads no log but those of hub and agents', async () => {
    const line = (await sampleRun()).log.sent.get('0-0-0');
    const forged = JSON.stringify({ dir: 'sent', bytes: 1, cause: 'hub-0', ...line?.packet });
    const { log } = await sampleRun({
      files: { '../agent.log': null, 'a/b/agent.log': forged, '.x/agent.log': forged, 'agent.log': forged },
    });

    expect(log.sent.size).toBe(2);
  });
});
