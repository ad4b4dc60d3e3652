import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { create } from 'tar';
import { describe, expect, test } from 'vitest';
import { MANIFEST_VERSION } from '../../core/recording/read-archive.ts';
import { RECORDING_FILE, recordingLines } from '../../core/recording/recording.ts';
import { listFiles } from '../../core/run/manifest.ts';
import { temporaryFolder } from '../../core/testing/temporary-folder.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import type { HttpCosts } from './http/measure-http.ts';
import { comparisonPart, writeResults } from './results-page.ts';
import { sampleFile } from './testing/sample-comparison.ts';
import { sampleRecording } from './testing/sample-recording.ts';
import { tableBelow } from './testing/table-below.ts';

const report = await sampleFile(['json', 'msgpack+crc32c', 'a2a', 'mcp'], 'pipeline');
const http: HttpCosts = {
  packets: 2,
  rows: [
    {
      adapter: 'a2a',
      client: 'the SDK',
      head: { up: 600, down: 400 },
      body: { up: 1000, down: 300 },
      records: 88,
    },
  ],
  unavailable: [{ adapter: 'a2a-proto', why: 'of gRPC' }],
  tls: { handshake: { up: 1663, down: 2450 }, certificate: 403 },
};
describe('the results page', () => {
  const { facts, limits, body: page } = comparisonPart(report, http);

  test('says of what it was measured', () => {
    expect(facts).toBe(
      'team pipeline, engine extractive, 4 agents; 1 packet of 1 task; 10 invocations of each adapter in fresh processes (as many as were asked for), 3 rounds in each, 20 passes a round; seed 1',
    );
    expect(page).toContain('anp is slower than json.');
  });

  test('has a row an adapter', () => {
    const [head, , ...rows] = tableBelow(page, 'Adapters');
    expect(head).toContain('verdict');
    expect(rows.map(([adapter]) => adapter)).toEqual(['json', 'msgpack+crc32c', 'a2a', 'mcp']);
    for (const row of rows) expect(row).toHaveLength(head?.length ?? 0);
    expect(rows[2]?.slice(-4)).toEqual(['1.40', '1.30–1.50', '1.15', 'slower']);
  });

  test('shows parts of bytes that sum to the wire', () => {
    const [, , ...rows] = tableBelow(page, 'Where the bytes are');
    expect(rows).toHaveLength(4);
    for (const [adapter, ...cells] of rows) {
      const numbers = cells.map((cell) => Number(cell.replaceAll(',', '')));
      const wire = numbers.pop();
      expect(
        numbers.reduce((sum, bytes) => sum + bytes),
        adapter,
      ).toBe(wire);
    }
  });

  test('explains the null test in a sentence, with its numbers', () => {
    expect(page).toContain(
      'json against itself, in processes of its own: 1.010 times (0.97–1.04), as it should',
    );
    const differs = { ...report, null_test: { ...report.null_test, verdict: 'different' as const } };
    expect(comparisonPart(differs, http).body).toContain('believe no verdict that is near it');
  });

  test('sets HTTP and TLS beside, a packet at a time', () => {
    const [, , a2a] = tableBelow(page, 'What HTTP and TLS add');
    const mesh = report.adapters[2]?.ledger.total.wire ?? 0;
    expect(a2a?.slice(0, 8)).toEqual([
      'a2a',
      String(mesh),
      '300',
      '500',
      '200',
      '150',
      '1,150',
      (1150 - mesh).toLocaleString('en-US'),
    ]);
    expect(a2a?.at(-1)).toBe('44');
    expect(page).toContain('1,663 bytes from the client and 2,450 from the server');
    expect(page).toContain('`a2a-proto` was not measured: of gRPC.');
  });

  test('says that TLS was not measured, or HTTP', () => {
    const [row] = http.rows;
    if (row === undefined) throw new Error('no row');
    const plain = comparisonPart(report, { ...http, rows: [{ ...row, records: null }], tls: null }).body;
    expect(plain).toContain('TLS was not measured');
    expect(tableBelow(plain, 'What HTTP and TLS add')[2]?.at(-1)).toBe('–');
    const none = comparisonPart(report, { packets: 2, rows: [], unavailable: [], tls: null }).body;
    expect(none).toContain('None of the compared adapters was measured on HTTP.');
  });

  test('shows the matrix where there is one', () => {
    expect(page).not.toContain('## How the cost grows');
    const matrix = [4, 16].flatMap((agents) =>
      report.adapters.map(({ adapter }) => ({
        ...{
          team: 'pipeline',
          engine: 'extractive',
          agents,
          adapter,
          time_ratio: 1,
          time_verdict: 'baseline',
        },
        ...{ bytes_per_task: 100 * agents, ms_per_task: agents },
      })),
    );
    const grown = tableBelow(comparisonPart({ ...report, matrix }, http).body, 'How the cost grows');
    expect(grown).toHaveLength(2 + 8);
  });

  test('says what the numbers cannot tell', () => {
    for (const limit of [
      'Loopback is not a network',
      'HTTP and TLS',
      'Broadcast',
      'one recorded run',
      'shared 2 cores',
    ])
      expect(limits.join('\n')).toContain(limit);
  });
});

test('the results page is written with what was measured for it', async () => {
  const folder = temporaryFolder();
  const [archive, file] = [path.join(folder, 'run.tar.gz'), path.join(folder, 'page.md')];
  writeFileSync(file, '# Comparison\n<!-- measured: here -->\n<!-- end of what was measured -->\n');
  writeFileSync(path.join(folder, RECORDING_FILE), recordingLines(sampleRecording).join(''));
  const manifest = { schema_version: MANIFEST_VERSION, ...(await listFiles(folder)) };
  writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  await create({ file: archive, cwd: folder, gzip: true }, [
    ...manifest.files.map((entry) => entry.path),
    'manifest.json',
  ]);
  const adapters = await Promise.all(['json', 'mcp'].map((name) => adapterNamed(name)));
  const args = ['compare', '--write', '--recording', archive];
  const small = await sampleFile(['json', 'mcp']);
  await writeResults(file, small, { archive, adapters, args, signal: new AbortController().signal });
  const text = readFileSync(file, 'utf8');
  expect(text).toContain('`npm run compare -- --write --recording run.tar.gz`');
  expect(tableBelow(text, 'What HTTP and TLS add')[2]?.[0]).toBe('mcp');
});
