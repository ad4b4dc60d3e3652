import { describe, expect, test } from 'vitest';
import { sampleArchive, sampleRun } from '../testing/sample-archive.ts';
import { readArchivedRun } from './archived-run.ts';

describe('a run in an archive', () => {
  test('is its metrics, its recording and how its tasks ended', async () => {
    const { metrics, recording, endings } = await sampleRun({ tasks: 2 });

    expect(metrics).toMatchObject({ adapter: 'json', tasks: 2, answered: 2 });
    expect(recording.packets).toHaveLength(6);
    expect(recording.packets.every(({ relayed }) => (relayed?.bytes ?? 0) > 0)).toBe(true);
    expect(endings.get('t-1')).toMatchObject({ answer: 'hello', status: 'answered', elapsed_ms: 2 });
  });

  test('that was too long to be recorded has metrics alone', async () => {
    const header = (await sampleRun()).recording.header;
    const line = JSON.stringify({ kind: 'gaia-mesh-recording', schema_version: 2, ...header });

    const run = await readArchivedRun(
      await sampleArchive({ files: { 'recording.jsonl': `${line}\n`, 'hub.log': null } }),
    );

    expect(run.recording).toBeNull();
    expect(run.metrics).toMatchObject({ run_id: header.run_id, f1: null });
  });

  test('of a later version is read without the keys that this one does not know', async () => {
    const { metrics } = await sampleRun();
    const later = { ...metrics, later: 1, ledger: { ...metrics.ledger, later: 1 } };

    const run = await readArchivedRun(
      await sampleArchive({ files: { 'metrics.json': JSON.stringify(later) } }),
    );

    expect(run.metrics).toEqual(metrics);
  });

  test.each([
    ['no metrics', { 'metrics.json': null }, 'holds no metrics.json'],
    ['metrics that are none', { 'metrics.json': '{"run_id": 1}' }, 'metrics.json: schema_version'],
    ['a recording that is none', { 'recording.jsonl': '{}\n{}' }, 'recording.jsonl:1: not a recording'],
  ])('with %s is refused with the reason', async (_what, files, reason) => {
    const archive = await sampleArchive({ files });

    await expect(readArchivedRun(archive)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(reason),
    });
  });
});
