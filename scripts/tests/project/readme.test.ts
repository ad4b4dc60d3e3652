import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { runCli, temporaryFolder } from '../../testing/cli.ts';

const readme = readFileSync(path.join(codeFolder, 'README.md'), 'utf8');

/** The commands that the README says will just work: those in its `sh` blocks. */
const commands = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, block]) => (block ?? '').split('\n'))
  .map((line) => line.trim())
  .filter((line) => line.startsWith('npm run'));

/** Splits a command line as a shell does, as far as the README needs it. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

describe('the README', () => {
  const out = temporaryFolder();

  test('has commands to try', () => {
    expect(commands.length).toBeGreaterThan(5);
  });

  // In their order: `logs`, `report` and `compare --recording` look at what the ones before them left.
  test.each(commands)('%s', async (command) => {
    const [, , ...rest] = words(command).filter((word) => word !== '-s' && word !== '--');
    const [name = '', ...options] = rest;
    const isBench = name === 'bench';
    const args = [
      name,
      ...options.map((option) => (option === 'run_artifacts.tar.gz' ? path.join(out, option) : option)),
      // The changes: results go to the test's folder, ports are free ones, and what measures does so once.
      ...(isBench || name === 'logs' || name === 'compare' ? ['--out', out] : []),
      ...(name === 'report' ? ['--out', path.join(out, 'report.html')] : []),
      ...(isBench ? ['--port-base', 'auto'] : []),
      ...(options.includes('--budget') ? ['--invocations', '1', '--rounds', '1'] : []),
    ];
    // A comparison and the first run show that the built entry starts; the others share this process.
    const start = name === 'compare' || (isBench && options.length === 0) ? runCli : callCli;
    const run = await start(args, { cwd: codeFolder });
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).not.toBe('');
  });

  test('names files that are there', () => {
    for (const [, file] of readme.matchAll(/\]\(((?!http)[^)#]+)/g)) {
      expect(existsSync(path.join(codeFolder, file ?? '')), file).toBe(true);
    }
  });
});
