import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { packageFolder } from '../config/package-root.ts';
import { runCli, temporaryFolder } from './testing/cli.ts';

/** A copy of the project, as a newcomer has it in front of them: files may be added to it. */
function copyOfProject(): string {
  const folder = temporaryFolder();
  for (const name of [
    'core',
    'store',
    'protocols',
    'tools',
    'config',
    'scripts',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
  ]) {
    cpSync(path.join(packageFolder, name), path.join(folder, name), { recursive: true });
  }
  symlinkSync(path.join(packageFolder, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

/** Does what `docs/extending.md` says: writes each file that it shows, and puts each line into the registry it names. */
function followTheGuide(folder: string): void {
  const guide = readFileSync(path.join(packageFolder, 'docs', 'extending.md'), 'utf8');
  for (const [, name, text] of guide.matchAll(/```(?:ts|yaml)\n(?:\/\/|#) (\S+)\n([\s\S]*?)```/g)) {
    if (name !== undefined && text !== undefined) writeFileSync(path.join(folder, name), text);
  }
  for (const [, file, line] of guide.matchAll(/lines? in `(\S+)`:\n\n```ts\n([\s\S]*?)\n```/g)) {
    if (file === undefined || line === undefined) continue;
    const registry = path.join(folder, file);
    const text = readFileSync(registry, 'utf8');
    const [found] =
      text.match(
        /^(?:export )?const \w+(?:: Readonly<Record<string, \w+>>)? = (?:registry<.*>\('\w+', )?\{\n/m,
      ) ?? [];
    if (found === undefined) throw new Error(`${file} has no registry`);
    writeFileSync(registry, text.replace(found, `${found}${line}\n`));
  }
}

test('the guide’s team, tool, adapter and engine work together as it says (MP-73, MP-75)', async () => {
  const folder = copyOfProject();
  followTheGuide(folder);
  const out = path.join(folder, 'out');
  const entry = path.join(folder, 'scripts', 'gaia-mesh.js');
  const options = ['--team', path.join(folder, 'my-team.yaml'), '--adapter', 'shout', '--engine', 'frugal'];
  const args = [entry, 'bench', ...options, '--port-base', 'auto', '--out', out, '--json'];
  const run = await runCli(args, { program: process.execPath });
  expect(run.code, run.stderr).toBe(0);
  const metrics = JSON.parse(run.stdout);
  expect(metrics).toMatchObject({ status: 'answered', adapter: 'shout', engine: 'frugal', team: 'trio' });
  expect(metrics.ledger).toMatchObject({ balanced: true });
  expect(Object.keys(metrics.packet_types)).toEqual(['events', 'triples', 'data_event']);
});

test('the guide’s data tool and roles work together as it says', async () => {
  const folder = copyOfProject();
  followTheGuide(folder);
  const questions = ['MCMXLIV', 'XVI', 'IIII is wrong, but what of DC'].map((numeral, i) => ({
    task_id: `q-${i}`,
    question: `Which number is ${numeral}?`,
    answer: ['1944', '16', '4'][i],
  }));
  writeFileSync(path.join(folder, 'q.jsonl'), questions.map((line) => JSON.stringify(line)).join('\n'));
  const entry = path.join(folder, 'scripts', 'gaia-mesh.js');
  const options = ['--team', 'numerals.yaml', '--questions', 'q.jsonl', '--out', 'a.jsonl'];
  const run = await runCli([entry, 'gaia', ...options, '--port-base', 'auto', '--json'], {
    program: process.execPath,
    cwd: folder,
  });

  expect(run.code, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout).teams.numerals).toMatchObject({
    correct: 3,
    packets: 15,
    metrics: { tool_usage: { roman_numeral: { count: 3, failed: 0 } } },
  });
});
