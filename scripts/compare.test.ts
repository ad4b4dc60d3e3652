import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { codeFolder } from '../config/package-root.ts';
import { type CliResult, runCli, temporaryFolder } from './testing/cli.ts';

describe('a comparison', () => {
  const out = temporaryFolder();
  let run: CliResult;

  beforeAll(async () => {
    const bounds = ['--rounds', '12', '--budget', '60', '--seed', '7'];
    const limits = ['--fail-if', 'msgpack.bytes > 1x json', '--fail-if', 'cbor.bytes < 100'];
    run = await runCli([
      'compare',
      '--adapters',
      'json,msgpack,cbor',
      ...bounds,
      ...limits,
      '--out',
      out,
      '--json',
    ]);
  });

  test('records a run, and says of every adapter what its packets cost against the baseline', () => {
    expect(run.code, run.stderr).toBe(0);
    const report = JSON.parse(run.stdout);
    expect(report).toMatchObject({
      schema_version: 1,
      baseline: 'json',
      team: 'pipeline',
      tasks: 1,
      packets: 5,
      seed: 7,
    });
    expect(report.null_test).toMatchObject({ n: report.rounds });
    expect(report.adapters.map((row: { adapter: string }) => row.adapter)).toEqual([
      'json',
      'msgpack',
      'cbor',
    ]);
    const [json, msgpack] = report.adapters;
    expect(json).toMatchObject({ vs_baseline: null, rounds: report.rounds });
    expect(json.prompt_tokens).toBeGreaterThan(1000);
    expect(msgpack.prompt_tokens).toBeNull();
    expect(msgpack.ledger.total.payload).toBe(json.ledger.total.payload);
    const { bytes, time } = msgpack.vs_baseline;
    expect(bytes).toMatchObject({
      verdict: 'smaller',
      ratio: msgpack.ledger.total.wire / json.ledger.total.wire,
    });
    expect(['faster', 'slower', 'no detectable difference']).toContain(time.verdict);
    expect(time.low).toBeLessThanOrEqual(time.ratio);
    expect(time.high).toBeGreaterThanOrEqual(time.ratio);
    expect(report.sentence).toMatch(/^(Adapter choice is|No adapter differs)/);
  });

  test('writes JSON, CSV and Markdown', () => {
    expect(JSON.parse(readFileSync(path.join(out, 'comparison.json'), 'utf8'))).toEqual(
      JSON.parse(run.stdout),
    );
    const [head, ...lines] = readFileSync(path.join(out, 'comparison.csv'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line.split(',')).toHaveLength(head?.split(',').length ?? 0);
    expect(readFileSync(path.join(out, 'comparison.md'), 'utf8')).toMatch(/^\| adapter \|/);
  });

  test('holds thresholds, with an exit code for CI', async () => {
    expect(run.stderr).toContain('held: msgpack.bytes > 1x json');
    expect(run.stderr).toContain('held: cbor.bytes < 100');
    const misread = await runCli(['compare', '--fail-if', 'msgpack.size > 1']);
    expect(misread).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no metric size') });
  });

  test('needs two adapters', async () => {
    const one = await runCli(['compare', '--adapters', 'json']);
    expect(one).toMatchObject({ code: 2, stderr: expect.stringContaining('at least two') });
  });
});

describe('conformance', () => {
  test('of an adapter that ships with the project is whole', async () => {
    const run = await runCli(['conformance', 'msgpack', '--json']);
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ adapter: 'msgpack', conforms: true, failed: [] });
  });

  test('names what is wrong with somebody’s own', async () => {
    const file = path.join(temporaryFolder(), 'careless.ts');
    const codec = `{
      encode: (packet) => new TextEncoder().encode(JSON.stringify(packet)),
      decode: (blob) => JSON.parse(new TextDecoder().decode(blob)),
      headerSize: () => 4,
    }`;
    writeFileSync(file, `export const careless = { name: 'careless', open: () => (${codec}) };\n`);
    const run = await runCli(['conformance', file, '--json']);
    expect(run.code).toBe(1);
    const { conforms, failed } = JSON.parse(run.stdout);
    expect(conforms).toBe(false);
    const names = failed.map(({ name }: { name: string }) => name);
    expect(names).toContain('headerSize is the ledger definition');
    expect(names).not.toContain('round trip of an empty payload');
  });

  test('of a file that is none says what is expected', async () => {
    const missing = await runCli(['conformance', './nothing.ts']);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no such file') });
    const other = await runCli(['conformance', path.join(codeFolder, 'core', 'limits.ts')]);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('exports no adapter') });
  });
});
