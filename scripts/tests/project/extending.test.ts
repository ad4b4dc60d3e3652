import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, runCli, temporaryFolder } from '../../testing/cli.ts';
import { followRegistries, writeGuideFiles } from '../../testing/guide-files.ts';
import { linkPackages } from '../../testing/link-packages.ts';

/** A copy of the project, as a newcomer has it in front of them: files may be added to it. */
function copyOfProject(): string {
  const folder = temporaryFolder();
  for (const name of [
    'core',
    'evaluation',
    'lab',
    'protocols',
    'tools',
    'config',
    'scripts',
    'package.json',
    'tsconfig.base.json',
    'tsconfig.json',
    'vitest.config.ts',
  ]) {
    cpSync(path.join(codeFolder, name), path.join(folder, name), { recursive: true });
  }
  linkPackages(folder);
  return folder;
}

describe('adapter, tool and engine in files of the user’s', () => {
  const folder = temporaryFolder();
  writeGuideFiles(folder, 'users');
  const options = ['--port-base', 'auto', '--json'];

  test('work together in a team of the user’s, which names them or not (MP-73, MP-75)', async () => {
    const parts = ['--adapter', './shout.ts+zstd', '--engine', './frugal.ts'];
    const args = ['bench', '--team', 'my-team.yaml', ...parts, ...options, '--out', 'team'];
    const { code, stdout, stderr } = await runCli(args, { cwd: folder });

    expect(code, stderr).toBe(0);
    const metrics = JSON.parse(stdout);
    expect(metrics).toMatchObject({
      status: 'answered',
      adapter: 'shout+zstd',
      engine: 'frugal',
      team: 'trio',
    });
    expect(metrics.ledger).toMatchObject({ balanced: true });
    expect(Object.keys(metrics.packet_types)).toEqual(['events', 'triples', 'data_event']);
  });

  test('take the place of a tool that ships', async () => {
    const args = ['bench', '--tool', 'search=./skim.ts', ...options, '--out', 'tool'];
    const { code, stdout, stderr } = await callCli(args, { cwd: folder });

    expect(code, stderr).toBe(0);
    const { agents } = JSON.parse(stdout);
    expect(agents.map(({ tool }: { tool: string }) => tool)).toEqual(['skim', 'extract', 'triple', 'reason']);
  });

  test('are compared', async () => {
    const made = ['--recording', 'team/run_artifacts.tar.gz', '--adapters', './shout.ts'];
    const args = ['compare', ...made, '--invocations', '1', '--rounds', '1', '--out', 'compared', '--json'];
    const { code, stdout, stderr } = await runCli(args, { cwd: folder });

    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      team: 'trio',
      engine: 'frugal',
      arms: [{ name: 'shout' }],
    });
  });

  test.each(['docqa', 'queue'])('play the scenario %s that the guide shows', async (team) => {
    const args = ['bench', '--team', `${team}.yaml`, ...options, '--out', team];
    const { code, stdout, stderr } = await callCli(args, { cwd: folder });

    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ team, status: 'answered', ledger: { balanced: true } });
  });

  test('answer questions, and an error of theirs is one of ours', async () => {
    writeFileSync(
      path.join(folder, 'q.jsonl'),
      '{"task_id":"a","question":"What?","document":"It is so."}\n',
    );
    writeFileSync(
      path.join(folder, 'broken.ts'),
      `import { MeshError } from 'gaia-mesh';
       export const broken = { name: 'broken', accepts: ['doc_init'], emits: ['events'], description: '',
         run() { throw new MeshError('tool', 'the user says why'); } };`,
    );
    const args = [
      'gaia',
      '--team',
      'my-team.yaml',
      '--questions',
      'q.jsonl',
      ...options,
      '--tool',
      '0=broken.ts',
    ];
    const { code, stdout } = await callCli([...args, '--out', 'a.jsonl'], { cwd: folder });

    expect(code).toBe(0);
    expect(stdout).toContain('the user says why');
  });

  test('run as an agent by hand', async () => {
    const parts = ['--tool', './skim.ts', '--engine', './frugal.ts', '--adapter', './shout.ts'];
    const args = ['agent', '--id', '7', '--port', '0', '--workspace', '7', ...parts];
    const agent = new Cli(args, { cwd: folder });
    await agent.says(/listens on/);
    agent.signal('SIGTERM');
    expect(await agent.ended()).toMatchObject({ code: 0 });
  });

  test.each([
    [['--tool', './nothing.ts'], 'there is no such file'],
    [['--tool', './shout.ts'], 'exports no tool'],
    [['--engine', './skim.ts'], 'exports no engine'],
    [['--adapter', './frugal.ts'], 'exports no adapter'],
    [['--tool', './skim.ts'], 'has no agent skim'],
    [['--tool', 'search'], 'expected a file'],
  ])('are refused with the reason: %j', async (args, reason) => {
    const { code, stderr } = await callCli(['bench', ...args], { cwd: folder });

    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });

  test('say how to be loaded in a package that `npm init` made', async () => {
    const packageFolder = temporaryFolder();
    writeFileSync(path.join(packageFolder, 'package.json'), '{ "type": "commonjs" }');
    for (const line of ["import { Buffer } from 'node:buffer';", 'export default {};']) {
      writeFileSync(path.join(packageFolder, 'mine.ts'), line);
      const { code, stderr } = await runCli(['bench', '--adapter', './mine.ts'], { cwd: packageFolder });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('set "type": "module" in its package.json'),
      ]);
    }
  });
});

test('the guide’s data tool and roles work together as it says', async () => {
  const folder = copyOfProject();
  writeGuideFiles(folder, 'project');
  followRegistries(folder);
  const built = await runCli([path.join(folder, 'scripts', 'build.js')], {
    program: process.execPath,
    cwd: folder,
  });
  expect(built.code, built.stderr).toBe(0);
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
