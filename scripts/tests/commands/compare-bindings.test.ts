import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { codeFolder } from '../../../core/system/package-root.ts';
import { parseBindings } from '../../../evaluation/compare/bindings/figures/bindings-file.ts';
import { type CliResult, runCli, temporaryFolder } from '../../testing/cli.ts';

const own = path.join(codeFolder, 'evaluation', 'compare', 'bindings', 'testing', 'framed-tcp.ts');

describe('a comparison of bindings', () => {
  const out = temporaryFolder();
  let run: CliResult;

  beforeAll(async () => {
    run = await runCli([
      ...['compare', '--bindings', `mesh/json,${own}`, '--invocations', '1', '--budget', '1'],
      ...['--factor', 'concurrency=1,4', '--fail-if', 'framed/tcp:bare.bytes > 1x mesh/json:bare'],
      ...['--out', out, '--json'],
    ]);
  });

  test('sets a binding of the user beside ours, and every output says the same', () => {
    expect(run.code, run.stderr).toBe(1);
    const text = readFileSync(path.join(out, 'bindings.json'), 'utf8');
    expect(run.stdout).toBe(text);
    const { arms, baseline, traffic, requests } = parseBindings(text, 'bindings.json');
    expect(baseline).toBe('mesh/json bare');
    expect(arms.map(({ name }) => name)).toEqual(['mesh/json bare', 'framed/tcp bare']);
    expect(traffic.packets).toBeGreaterThan(100);
    expect(requests.map(({ topology, fit }) => `${topology} ${fit}`)).toContain('direct addressed');
    for (const { bytes, cpu_us, saturation } of arms) {
      const { raw, tls, head, envelope, payload } = bytes.sent;
      expect(tls + head + envelope + payload).toBe(raw);
      expect(cpu_us.sum).toBeGreaterThan(0);
      expect(saturation.map(({ concurrency }) => concurrency)).toEqual([1, 4]);
    }
    // Payloads are the traffic's, whoever carries them.
    expect(arms[0]?.bytes.sent.payload).toBe(arms[1]?.bytes.sent.payload);
    expect(readFileSync(path.join(out, 'bindings.md'), 'utf8')).toContain(
      '## What these numbers cannot tell',
    );
    const html = readFileSync(path.join(out, 'bindings.html'), 'utf8');
    expect(html).toContain('"command":"npm run compare -- --bindings ');
    expect(readFileSync(path.join(out, 'bindings.csv'), 'utf8').trim().split('\n')).toHaveLength(3);
  });

  test('holds conditions, and calls nothing of one invocation', () => {
    expect(run.stderr).toContain('FAILED: framed/tcp:bare.bytes > 1x mesh/json:bare');
    const [, arm] = parseBindings(run.stdout, 'stdout').arms;
    expect(arm?.vs_baseline?.latency?.verdict).toBe('cannot tell');
  });
});

test.each([
  [['--bindings', 'mesh/json', '--teams', 'pipeline'], '--teams goes with adapters, not with --bindings'],
  [['--bindings', 'mesh/json', '--save-baseline', 'x'], '--save-baseline goes with adapters'],
  [['--factor', 'tls=on'], '--factor goes with --bindings'],
  [['--bindings', 'mesh/json', '--factor', 'colour=red'], 'there is no such factor'],
  [['--bindings', 'mesh/json', '--implementation', 'own'], 'expected sdk or bare, not "own"'],
])('refuses %j', async (args, message) => {
  const { code, stderr } = await runCli(['compare', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
