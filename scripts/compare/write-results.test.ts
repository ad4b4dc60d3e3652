import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { create } from 'tar';
import { expect, test } from 'vitest';
import { RECORDING_FILE, recordingLines } from '../../core/recording/recording.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { temporaryFolder } from '../testing/cli.ts';
import { sampleRecording } from './testing/sample-recording.ts';
import { sampleReport } from './testing/sample-report.ts';
import { tableBelow } from './testing/table-below.ts';
import { commandOf, writeResults } from './write-results.ts';

test('the results page is written with what was measured for it', async () => {
  const folder = temporaryFolder();
  const [archive, file] = [path.join(folder, 'run.tar.gz'), path.join(folder, 'page.md')];
  writeFileSync(path.join(folder, RECORDING_FILE), recordingLines(sampleRecording).join(''));
  await create({ file: archive, cwd: folder, gzip: true }, [RECORDING_FILE]);
  const adapters = await Promise.all(['json', 'mcp'].map((name) => adapterNamed(name)));
  const args = ['compare', '--write', '--recording', archive];
  const report = await sampleReport(['json', 'mcp']);
  await writeResults(file, report, { archive, adapters, args, signal: new AbortController().signal });
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('`npm run compare -- --write --recording run.tar.gz`');
  expect(tableBelow(text, 'What HTTP and TLS add')[2]?.[0]).toBe('mcp');
});

test.each([
  [['compare', '--write'], 'npm run compare -- --write'],
  [['compare', '--fail-if', 'a2a.bytes > 2x json'], "npm run compare -- --fail-if 'a2a.bytes > 2x json'"],
  [['compare', "--team=it's"], "npm run compare -- '--team=it'\\''s'"],
  [
    ['compare', '--out=/home/me/x', '--adapters', 'json,/home/me/own.ts+zstd,./y.ts'],
    'npm run compare -- --out=x --adapters json,own.ts+zstd,./y.ts',
  ],
])('the command %j is shown as one can type it, without folders of this machine', (args, shown) => {
  expect(commandOf(args)).toBe(shown);
});
