import { readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { parseComparison } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { type CliResult, runCli, temporaryFolder } from '../../testing/cli.ts';

const own = path.join(codeFolder, 'evaluation', 'compare', 'stacks', 'testing', 'framed-tcp.ts');

describe('a comparison of stacks', () => {
  const out = temporaryFolder();
  let run: CliResult;

  beforeAll(async () => {
    run = await runCli([
      ...['compare', '--stacks', `mesh/json,${own}`, '--invocations', '1', '--budget', '1'],
      ...['--factor', 'concurrency=1,4', '--fail-if', 'framed/tcp:bare.bytes > 1x mesh/json:bare'],
      ...['--save-baseline', path.join(out, 'base.json'), '--summary', path.join(out, 'pr.md')],
      ...['--junit', path.join(out, 'budget.xml'), '--out', out, '--json'],
    ]);
  });

  test('sets a stack of the user beside ours, and every output says the same', () => {
    expect(run.code, run.stderr).toBe(1);
    const text = readFileSync(path.join(out, 'comparison.json'), 'utf8');
    expect(run.stdout).toBe(text);
    const { arms, baseline, packets } = parseComparison(text, 'comparison.json', 'stacks');
    expect(baseline).toBe('mesh/json bare');
    expect(arms.map(({ name }) => name)).toEqual(['mesh/json bare', 'framed/tcp bare']);
    expect(packets).toBeGreaterThan(100);
    for (const { bytes, cpu_us, saturation, wire_bytes } of arms) {
      const { raw, tls, head, envelope, payload } = bytes.sent;
      expect(tls + head + envelope + payload).toBe(raw);
      expect(wire_bytes).toBe(raw + bytes.received.raw);
      expect(cpu_us).toBeGreaterThan(0);
      expect(saturation.map(({ concurrency }) => concurrency)).toEqual([1, 4]);
    }
    // Payloads are the traffic's, whoever carries them.
    expect(arms[0]?.bytes.sent.payload).toBe(arms[1]?.bytes.sent.payload);
    expect(readFileSync(path.join(out, 'comparison.md'), 'utf8')).toContain(
      '## What these numbers cannot tell',
    );
    expect(readFileSync(path.join(out, 'base.json'), 'utf8')).toBe(text);
    expect(readFileSync(path.join(out, 'pr.md'), 'utf8')).toContain('❌ failed');
    expect(readFileSync(path.join(out, 'budget.xml'), 'utf8')).toContain('failures="1"');
    const html = readFileSync(path.join(out, 'comparison.html'), 'utf8');
    expect(html).toContain('"command":"npm run compare -- --stacks ');
    expect(readFileSync(path.join(out, 'comparison.csv'), 'utf8').trim().split('\n')).toHaveLength(3);
  });

  test('is one to compare with when it is kept, on the same traffic only', async () => {
    const saved = ['--baseline', path.join(out, 'base.json'), '--out', temporaryFolder()];
    const quick = ['compare', '--stacks', 'mesh/json', '--invocations', '1', '--budget', '1', ...saved];
    const summary = path.join(out, 'saved.md');
    const again = await runCli([
      ...[...quick, '--factor', 'concurrency=1', '--fail-if', 'mesh/json:bare.bytes > 1x saved'],
      ...['--summary', summary],
    ]);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain('passed: mesh/json:bare.bytes > 1x saved');
    expect(readFileSync(summary, 'utf8')).toContain('Compared with the saved baseline');
    const other = await runCli([...quick, '--rate', '50']);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('these differ: the rate (then 200, now 50)');
  });

  test('holds conditions, and calls nothing of one invocation', () => {
    expect(run.stderr).toContain('FAILED: framed/tcp:bare.bytes > 1x mesh/json:bare');
    const [, arm] = parseComparison(run.stdout, 'stdout', 'stacks').arms;
    expect(arm?.vs_baseline?.time?.verdict).toBe('cannot tell');
  });
});

test.each([
  [['--stacks', 'mesh/json', '--max-agents', '4'], '--max-agents does not go with --stacks'],
  [['--bindings', 'mesh/json', '--max-agents', '4'], '--max-agents does not go with --bindings'],
  [
    ['--adapters', 'json,a2a', '--fail-if', 'a2a.time > 2x jsno'],
    'expected one of the arms json, a2a; got jsno',
  ],
  [
    ['--stacks', 'mesh/json', '--factor', 'tls=on,off', '--fail-if', 'mesh/json:bare.bytes > 1'],
    'expected one of the arms mesh/json:bare:tls:on, mesh/json:bare:tls:off; got mesh/json:bare',
  ],
  [['--stacks', 'mesh/json', '--baseline', 'no-such.json'], 'there is no such file'],
  [['--stacks', 'mesh/json', '--fail-if', 'mesh/json:bare.bytes > 1x saved'], 'needs --baseline <file>'],
  [['--factor', 'tls=on'], '--factor has no effect alone: it goes with --stacks'],
  [['--stacks', 'mesh/json', '--factor', 'colour=red'], 'unknown factor'],
  [['--stacks', 'mesh/json', '--implementation', 'own'], 'expected sdk, bare, python, go, not "own"'],
])('refuses %j', async (args, message) => {
  const { code, stderr } = await callCli(['compare', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
