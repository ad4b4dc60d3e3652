import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { defineTable, flag, option, text } from '@gaia-mesh/evaluation/plan/option-table.ts';
import type { MeasuredPart } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { trackChild, useRunFolder } from '../measure/bench-runs.ts';
import { createPublisher } from '../measure/publish.ts';

/** A bug to plant: `find` occurs once in `file`; one of `tests` must fail when `put` replaces it. */
const mutantSchema = z.strictObject({
  /** The consequence of the bug, in words. */
  breaks: z.string(),
  file: z.string(),
  find: z.string(),
  put: z.string(),
  tests: z.array(z.string()).min(1),
});
type Mutant = z.infer<typeof mutantSchema>;

/** Returns the bugs of the table, each in code that keeps a promise which only tests with real processes hold. */
function readMutants(): readonly Mutant[] {
  const lines = readFileSync(path.join(import.meta.dirname, 'mutants.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => mutantSchema.parse(JSON.parse(line)));
}

/**
 * Replaces the bug's place in the text.
 *
 * @throws Error when the place does not exist, or exists more than once
 */
function plantMutant({ file, find, put }: Mutant, whole: string): string {
  const places = whole.split(find).length - 1;
  if (places !== 1) throw new Error(`${file}: expected one place for a bug, found ${places}: ${find}`);
  return whole.replace(find, () => put);
}

const mutantsTable = defineTable({
  options: z.object({
    only: option('<text>', 'plant only bugs whose file or description has this text', text.default('')),
    json: flag('print the results as one JSON value'),
    write: flag('write docs/results/mutants.md'),
  }),
});

export function defineMutants(command: Command): void {
  defineOptions(command, mutantsTable, run);
}

/** Time limit of the tests of a bug; tests that hang have noticed it, too. */
const TEST_TIMEOUT_MS = 300_000;
const execute = promisify(execFile);

/** Plants bugs in a copy of the project, one at a time; exit code 1 if its tests pass with one of them. */
async function run({ only, ...options }: z.output<typeof mutantsTable.options>): Promise<void> {
  const chosen = readMutants().filter(({ file, breaks }) => file.includes(only) || breaks.includes(only));
  if (chosen.length === 0) throw new MeshError('usage', `--only: no bug has ${JSON.stringify(only)}`);
  const publish = createPublisher('docs/results/mutants.md', options);
  const tried = await useRunFolder(async (folder, signal) => {
    await copyProject(folder);
    const tests = [...new Set(chosen.flatMap((mutant) => mutant.tests))];
    printError(`${chosen.length} bugs; first their ${tests.length} test files without any`);
    // All files together get the time of as many bugs.
    if (!(await passTests(folder, tests, TEST_TIMEOUT_MS * tests.length)))
      throw new MeshError('config', 'the tests fail without a bug: run npm test first');
    const results = [];
    for (const mutant of chosen) {
      signal.throwIfAborted();
      const result = await tryMutant(folder, mutant);
      results.push(result);
      printError(`${result.isFound ? 'found' : 'SURVIVED'} ${mutant.file}: ${mutant.breaks}`);
    }
    return results;
  });
  const survivors = tried.filter(({ isFound }) => !isFound);
  const sentence = `The tests found ${tried.length - survivors.length} of ${tried.length} planted bugs.`;
  const rows = tried.map(({ isFound, file, breaks, seconds }) => [
    isFound ? '✓' : '✗',
    file,
    breaks,
    String(seconds),
  ]);
  const text = [formatTable([['', 'file', 'what it breaks', 's'], ...rows]), sentence].join('\n');
  await publish({ report: { tried }, text, part: buildMutantsPart(tried, sentence) });
  if (survivors.length > 0) process.exitCode = 1;
}

type Tried = Mutant & { readonly isFound: boolean; readonly seconds: number };

/** Copies the project's files, and its packages: confined processes may only read inside the copy's own folder. */
async function copyProject(folder: string): Promise<void> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await execute('git', list, { cwd: codeFolder, maxBuffer: 64 * 1024 * 1024 });
  for (const name of stdout.split('\0').filter((one) => one !== '')) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    cpSync(path.join(codeFolder, name), path.join(folder, name));
  }
  const packages = [path.join(codeFolder, 'node_modules'), folder];
  await execute('cp', ['-al', ...packages]).catch(() => execute('cp', ['-a', ...packages]));
}

/** Plants a bug, runs its tests and reports whether one of them fails. The bug is removed afterwards. */
async function tryMutant(folder: string, mutant: Mutant): Promise<Tried> {
  const startMs = performance.now();
  const file = path.join(folder, mutant.file);
  const whole = readFileSync(file, 'utf8');
  writeFileSync(file, plantMutant(mutant, whole));
  try {
    const isFound = !(await passTests(folder, mutant.tests, TEST_TIMEOUT_MS));
    return { ...mutant, isFound, seconds: Math.round((performance.now() - startMs) / 100) / 10 };
  } finally {
    writeFileSync(file, whole);
  }
}

async function passTests(cwd: string, tests: readonly string[], timeoutMs: number): Promise<boolean> {
  const vitest = [
    path.join('node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--bail',
    '1',
    '--maxWorkers',
    '1',
  ];
  const child = trackChild(
    spawn(process.execPath, [...vitest, ...tests], {
      cwd,
      stdio: 'ignore',
      env: { ...process.env, CI: '' },
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    }),
  );
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return code === 0;
}

function buildMutantsPart(tried: readonly Tried[], sentence: string): MeasuredPart {
  const survivors = tried.filter(({ isFound }) => !isFound);
  const named = survivors.map(({ breaks, file }) => `${breaks} (\`${file}\`)`).join('; ');
  return {
    facts: `${tried.length} bugs, each planted alone`,
    body: [sentence, survivors.length === 0 ? 'None survived.' : `Survivors: ${named}.`].join('\n'),
    limits: [
      'The bugs are those that the authors thought of; a test that finds them may miss others in the same place.',
      'A test that fails for another reason, such as a busy machine, counts as one that found the bug.',
    ],
  };
}
