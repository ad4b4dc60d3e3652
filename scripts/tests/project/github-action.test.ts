import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { entry, runCli, temporaryFolder } from '../../testing/cli.ts';

const action = path.join(codeFolder, '.github', 'actions', 'compare');

const { inputs, outputs, runs } = z
  .object({
    inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string() })),
    outputs: z.record(z.string(), z.object({ value: z.string() })),
    runs: z.object({
      using: z.literal('composite'),
      steps: z.array(
        z.object({
          id: z.string().optional(),
          uses: z.string().optional(),
          run: z.string().optional(),
          env: z.record(z.string(), z.string()).default({}),
        }),
      ),
    }),
  })
  .parse(parse(readFileSync(path.join(action, 'action.yml'), 'utf8')));

const SETTINGS = {
  adapters: 'json,msgpack',
  budget: '30',
  arguments: '',
  save: 'false',
  command: `${process.execPath} ${entry}`,
};

/** Runs a step as a runner would: its inputs as variables, its outputs and its summary in files. */
function runStep(id: string, folder: string, settings: Readonly<Record<string, string>> = {}) {
  const step = runs.steps.find((one) => one.id === id);
  if (step?.run === undefined) throw new Error(`no step ${id} runs anything`);
  const given: Record<string, string> = { ...SETTINGS, ...settings };
  const variables = Object.entries(step.env).map(([name, value]) => {
    const input = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value)?.[1];
    if (input === undefined || inputs[input] === undefined) throw new Error(`${name}: ${value} is no input`);
    return [name, given[input] ?? inputs[input].default];
  });
  const files = {
    GITHUB_OUTPUT: path.join(folder, 'output'),
    GITHUB_STEP_SUMMARY: path.join(folder, 'summary'),
  };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const { status, stderr } = spawnSync('bash', ['-c', step.run], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`,
      HOME: folder,
      RUNNER_TEMP: folder,
      GITHUB_ACTION_PATH: action,
      ...files,
      ...Object.fromEntries(variables),
    },
  });
  const written = Object.fromEntries(
    readFileSync(files.GITHUB_OUTPUT, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
  return { code: status, stderr, outputs: written, summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8') };
}

test('what the action gives is what its steps say', () => {
  const ids = runs.steps.flatMap(({ id }) => (id === undefined ? [] : [id]));
  for (const { value } of Object.values(outputs)) {
    const [, id = '', name = ''] = /steps\.(\w+)\.outputs\.(\w+)/.exec(value) ?? [];
    expect(ids).toContain(id);
    expect(readFileSync(path.join(action, `${id}.sh`), 'utf8')).toContain(`"${name}=`);
  }
});

test('machines of one kind have one key', () => {
  const { code, outputs: own } = runStep('machine', temporaryFolder());
  expect([code, own]).toEqual([0, { key: expect.stringMatching(/^[0-9a-f]{16}$/) }]);
  expect(runStep('machine', temporaryFolder()).outputs).toEqual(own);
});

test('a comparison is kept, the next one is set against it, and a condition that holds fails the job', async () => {
  const folder = temporaryFolder();
  // Traffic of one agent, since a comparison starts as many for each adapter.
  const recorded = await runCli(['bench', '--team', 'single', '--port-base', 'auto', '--out', folder]);
  expect(recorded.code, recorded.stderr).toBe(0);
  const recording = path.join(folder, 'run_artifacts.tar.gz');
  const once = { arguments: ['--recording', recording, '--invocations', '1', '--rounds', '1'].join('\n') };
  const first = runStep('compare', folder, {
    ...once,
    save: 'true',
    'fail-if': 'json.bytes > 1.0001x saved',
  });
  expect([first.code, first.stderr]).toEqual([0, expect.any(String)]);
  expect(first.outputs.status).toBe('passed');
  expect(first.summary).toContain('Not held, for want of a kept comparison: `json.bytes > 1.0001x saved`');
  expect(existsSync(path.join(folder, '.gaia-mesh', 'baseline.json'))).toBe(true);
  expect(existsSync(path.join(first.outputs.folder ?? '', 'comparison.html'))).toBe(true);

  const kept = readFileSync(path.join(folder, '.gaia-mesh', 'baseline.json'), 'utf8');
  const conditions = 'json.bytes > 1.0001x saved\n\nmsgpack.bytes > 0.1x json\n';
  const second = runStep('compare', folder, { ...once, save: 'true', 'fail-if': conditions });
  expect([second.code, second.outputs.status]).toEqual([1, 'failed']);
  expect(second.summary).toContain('msgpack.bytes > 0.1x json');
  expect(second.summary).not.toContain('Not held');
  // What broke a bound is not what later ones are held against.
  expect(readFileSync(path.join(folder, '.gaia-mesh', 'baseline.json'), 'utf8')).toBe(kept);
});

test('where there is no comparison the summary says so', () => {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, '.gaia-mesh'));
  const { code, outputs: own, summary } = runStep('compare', folder, { adapters: 'json,nonsense' });
  expect([code, own.status]).toEqual([2, 'broken']);
  expect(summary).toContain('**No comparison.** `compare` ended with 2');
});

test('the container does what the README tells a stranger to do', () => {
  const readme = readFileSync(path.join(codeFolder, 'README.md'), 'utf8');
  const [, quickStart = ''] = /^```sh\n([\s\S]*?)^```/m.exec(readme) ?? [];
  const recipe = readFileSync(path.join(codeFolder, 'Dockerfile'), 'utf8').split('\n');
  const steps = recipe.flatMap((line) => {
    const [, run] = /^RUN (npm .*)$/.exec(line) ?? [];
    const [, command] = /^CMD (\[.*\])$/.exec(line) ?? [];
    return [
      run ?? [],
      command === undefined ? [] : z.array(z.string()).parse(JSON.parse(command)).join(' '),
    ].flat();
  });
  expect(steps).toEqual(quickStart.trim().split('\n'));
  // The Node that it begins with is one that the project runs in.
  const major = /^FROM node:(\d+)/m.exec(recipe.join('\n'))?.[1];
  expect(Number(major)).toBeGreaterThanOrEqual(24);
});
