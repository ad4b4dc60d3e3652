import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { runCli, temporaryFolder } from '../../testing/cli.ts';

const fixture = (name: string) => path.join(codeFolder, 'evaluation', 'traffic', 'import', 'fixtures', name);

describe('what another tool wrote', () => {
  test('is imported and compared, without a final answer', async () => {
    const out = temporaryFolder();
    const recording = path.join(out, 'mine.jsonl');
    const imported = await callCli(['import', fixture('otlp-openinference.jsonl'), '--out', recording]);
    expect(imported.code, imported.stderr).toBe(0);
    expect(imported.stdout).toContain('9 packets of 1 task, read as otlp (by resourceSpans in line 1)');
    expect(imported.stdout).toContain('causes of messages, taken as what their senders had heard last: 4');

    const bounds = ['--adapters', 'json,msgpack', '--rounds', '2', '--budget', '5', '--out', out, '--json'];
    const compared = await runCli(['compare', '--recording', recording, ...bounds]);
    expect(compared.code, compared.stderr).toBe(0);
    expect(compared.stderr).toContain(
      'Guessed: causes of messages, taken as what their senders had heard last: 4',
    );
    const [json, msgpack] = JSON.parse(compared.stdout).arms;
    expect(json.ledger.total.packets).toBe(9);
    expect(msgpack.ledger.total.wire).toBeLessThan(json.ledger.total.wire);
  });

  test('is reported as one JSON value, if asked to', async () => {
    const out = path.join(temporaryFolder(), 'mine.jsonl');
    const run = await callCli(['import', fixture('mcp-stdio.jsonl'), '--json', '--out', out]);

    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ format: 'mcp', packets: 14, recording: out });
  });

  test('that is not there, or of no known kind, ends with 2 and what to do', async () => {
    const file = path.join(temporaryFolder(), 'x.json');
    expect(await callCli(['import', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no such file'),
    });
    writeFileSync(file, '{}');
    expect(await callCli(['import', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name it with import --as'),
    });
    expect(await callCli(['import', file, '--as', 'pcap'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Allowed choices are otlp'),
    });
  });

  test('is read in the format that --format names, as --as does', async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'failure.json');
    // In the shape of the Who&When set, written by hand.
    const history = [{ role: 'human', content: 'Which ferry is late?' }];
    writeFileSync(file, JSON.stringify({ question: '', history, mistake_agent: 'x', mistake_step: '0' }));
    const run = await callCli(['import', '--format', 'who-and-when', file, '--json'], { cwd: folder });
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ format: 'who-and-when', detected_by: null });
  });
});
