import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { type CliResult, runCli, temporaryFolder } from '../../testing/cli.ts';

/** A run of a team of one agent: a comparison starts the recorded agents again for each invocation of each adapter. */
const recorded = temporaryFolder();
const RECORDING = ['--recording', path.join(recorded, 'run_artifacts.tar.gz')];

beforeAll(async () => {
  const run = await callCli(['bench', '--team', 'single', '--port-base', 'auto', '--out', recorded]);
  expect(run.code, run.stderr).toBe(0);
});

describe('a comparison', () => {
  const out = temporaryFolder();
  let run: CliResult;

  beforeAll(async () => {
    // The budget is not used up: it only decides how often the recording is played, whatever the machine does.
    const bounds = [
      '--invocations',
      '2',
      '--rounds',
      '2',
      '--seed',
      '7',
      '--budget',
      '600',
      '--network',
      'lan',
    ];
    const limits = ['--fail-if', 'msgpack.bytes > 1x json', '--fail-if', 'msgpack.time < 0.0001x json'];
    const kept = [
      '--save-baseline',
      path.join(out, 'kept', 'base.json'),
      '--summary',
      path.join(out, 'pr.md'),
      '--junit',
      path.join(out, 'reports', 'budget.xml'),
    ];
    run = await runCli([
      'compare',
      ...RECORDING,
      '--adapters',
      'json,msgpack',
      ...bounds,
      ...limits,
      ...kept,
      '--out',
      out,
      '--json',
    ]);
  });

  test('says of every adapter what its packets cost against the baseline', () => {
    expect(run.code, run.stderr).toBe(0);
    const report = JSON.parse(run.stdout);
    expect(report).toMatchObject({
      kind: 'adapters',
      schema_version: 3,
      baseline: 'json',
      team: 'single',
      tasks: 1,
      packets: 2,
      seed: 7,
      network: { rttMs: 0.5, bitsPerS: 1e9 },
    });
    // The document goes to the agent and its answer comes back, through the network.
    for (const { latency_us } of report.arms) expect(latency_us.p50).toBeGreaterThan(500);
    const { invocations, rounds } = report;
    expect(report.null_test.time).toMatchObject({ invocations, rounds });
    expect(report.null_test.samples_us.time).toHaveLength(invocations);
    expect(report.machine).toHaveLength(invocations * rounds);
    expect(report.arms.map((row: { name: string }) => row.name)).toEqual(['json', 'msgpack']);
    const [json, msgpack] = report.arms;
    expect(json.vs_baseline).toBeNull();
    // Many tasks a sample, and the first use is a figure of its own.
    expect(report.passes * report.packets).toBeGreaterThanOrEqual(100);
    expect(json.samples_us.first).toHaveLength(invocations);
    expect(json.first_us).toBeGreaterThan(0);
    if (process.platform === 'linux') expect(json.cpu_us).toBeGreaterThan(0);
    expect(msgpack.ledger.total.payload).toBe(json.ledger.total.payload);
    const { bytes, time } = msgpack.vs_baseline;
    expect(bytes).toMatchObject({
      verdict: 'smaller',
      ratio: msgpack.ledger.total.wire / json.ledger.total.wire,
    });
    // Two invocations are below what a verdict takes.
    expect(time).toMatchObject({ verdict: 'cannot tell', low: 0, high: null, detectable: null, needed: 5 });
    expect(report.sentence).toMatch(/^Cannot tell whether msgpack is faster or slower than json/);
  });

  test('writes JSON, CSV and Markdown', () => {
    expect(JSON.parse(readFileSync(path.join(out, 'comparison.json'), 'utf8'))).toEqual(
      JSON.parse(run.stdout),
    );
    const [head, ...lines] = readFileSync(path.join(out, 'comparison.csv'), 'utf8').trim().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line.split(',')).toHaveLength(head?.split(',').length ?? 0);
    const markdown = readFileSync(path.join(out, 'comparison.md'), 'utf8');
    expect(markdown).toMatch(/^\| adapter \|/m);
    expect(markdown).toContain('The network is a relay');
  });

  test('draws a page of itself', () => {
    const html = readFileSync(path.join(out, 'comparison.html'), 'utf8');
    const { comparison } = JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? '');
    expect(comparison).toEqual(JSON.parse(run.stdout));
  });

  test('holds thresholds, with an exit code for CI', async () => {
    expect(run.stderr).toContain('passed: msgpack.bytes > 1x json');
    // Of so few invocations there is no interval, so nothing fails.
    expect(run.stderr).toContain('cannot tell: msgpack.time < 0.0001x json');
    const misread = await callCli(['compare', '--fail-if', 'msgpack.size > 1']);
    expect(misread).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no metric size') });
  });

  test('is kept as a baseline, and summed up for a pull request', async () => {
    const base = path.join(out, 'kept', 'base.json');
    expect(JSON.parse(readFileSync(base, 'utf8'))).toEqual(JSON.parse(run.stdout));
    expect(readFileSync(path.join(out, 'pr.md'), 'utf8')).toContain(
      '| msgpack.bytes > 1x json | ✅ passed |',
    );
    expect(readFileSync(path.join(out, 'reports', 'budget.xml'), 'utf8')).toContain(
      '<testsuite name="gaia-mesh compare" tests="2" failures="0"',
    );
    const unnamed = await callCli(['compare', '--fail-if', 'json.bytes > 1x saved']);
    expect(unnamed).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--baseline <file>'),
    });
    const missing = await callCli(['compare', '--baseline', path.join(out, 'nowhere.json')]);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no such file') });
  });
});

describe('an adapter of one’s own', () => {
  const errors = path.join(codeFolder, 'core', 'contracts', 'errors.ts');
  const packets = path.join(codeFolder, 'core', 'contracts', 'packet.ts');
  const texts = path.join(codeFolder, 'core', 'system', 'parse-json.ts');

  function adapterFile(name: string, decoded: string): string {
    const file = path.join(temporaryFolder(), `${name}.ts`);
    const text = `
      import { MeshError } from ${JSON.stringify(errors)};
      import { parsePacket } from ${JSON.stringify(packets)};
      import { parseJsonText } from ${JSON.stringify(texts)};
      const write = (value: unknown) => new TextEncoder().encode('!' + JSON.stringify(value));
      const fatal = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      export const mine = {
        name: '${name}',
        open: () => ({
          encode: write,
          decode(blob: Uint8Array) {
            try {
              const text = fatal.decode(blob);
              if (!text.startsWith('!')) throw new Error('no mark');
              return ${decoded};
            } catch (error) {
              throw new MeshError('packet', String(error));
            }
          },
          headerSize: (packet: object) => 4 + write({ ...packet, payload: {} }).length - write({}).length,
        }),
      };`;
    writeFileSync(file, text);
    return file;
  }

  test('is compared from its file, alone and in layers', async () => {
    const out = temporaryFolder();
    const file = adapterFile('marked', 'parsePacket(parseJsonText(text.slice(1)))');
    const adapters = `json,${file},${file}+zstd`;
    const bounds = [...RECORDING, '--invocations', '1', '--rounds', '1', '--budget', '20'];
    const run = await runCli(['compare', '--adapters', adapters, ...bounds, '--out', out, '--json']);
    expect(run.code, run.stderr).toBe(0);
    const [json, marked, packed] = JSON.parse(run.stdout).arms;
    expect(marked).toMatchObject({ name: 'marked' });
    // One byte more a packet, two packets.
    expect(marked.ledger.total.wire).toBe(json.ledger.total.wire + 2);
    expect(packed.name).toBe('marked+zstd');
    expect(packed.ledger.total.wire).toBeLessThan(json.ledger.total.wire);
  });

  test('that does not conform is not compared', async () => {
    const file = adapterFile('careless', 'JSON.parse(text.slice(1))');
    const run = await callCli(['compare', '--adapters', `json,${file}`]);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('does not conform') });
  });

  test('needs a name of its own', async () => {
    const file = adapterFile('json', 'parsePacket(parseJsonText(text.slice(1)))');
    const run = await callCli(['compare', '--adapters', `msgpack,${file}`]);
    expect(run).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is an adapter json already'),
    });
  });
});
