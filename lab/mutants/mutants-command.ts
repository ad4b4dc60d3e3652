import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { MeasuredPart } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { createStyles } from '@gaia-mesh/evaluation/terminal/style.ts';
import { formatPercent, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import { useRunFolder } from '../measure/bench-runs.ts';
import { createPublisher, type PublishOptions } from '../measure/publish.ts';
import { edgeMutants } from './edge-mutants.ts';
import { hubMutants } from './hub-mutants.ts';
import type { Mutant } from './mutant.ts';
import { Plot, type Tried } from './run-mutants.ts';
import { wireMutants } from './wire-mutants.ts';

interface MutantsOptions extends PublishOptions {
  readonly only?: string;
}

/** Minimum share of planted bugs that the tests must find. */
const FLOOR = 0.95;
/** Number of parallel test runs; each spends much of its time waiting for processes. */
const PLOTS = 2;

export function defineMutants(command: Command): void {
  command
    .option('--only <text>', 'plant only bugs whose file or description has this text')
    .option('--json', 'print the results as one JSON value')
    .option('--write', 'write docs/results/mutants.md')
    .action(run);
}

/** Bugs in the project's promises, one promise each, as a person might make them. */
export const mutants: readonly Mutant[] = [...wireMutants, ...hubMutants, ...edgeMutants];

/**
 * Plants bugs in a copy of the project, one at a time, and reports those that none of their tests finds. Exit code 1
 * below the floor.
 */
async function run({ only = '', ...options }: MutantsOptions): Promise<void> {
  const chosen = mutants.filter(({ file, breaks }) => file.includes(only) || breaks.includes(only));
  if (chosen.length === 0) throw new MeshError('usage', `--only: no bug has ${JSON.stringify(only)}`);
  const publish = createPublisher('docs/results/mutants.md', options);
  const tried = await useRunFolder((folder, signal) => tryAll(folder, signal));
  const killed = tried.filter(({ outcome }) => outcome === 'killed').length;
  const share = killed / tried.length;
  const survivors = tried.filter(({ outcome }) => outcome === 'survived');
  const sentence = `${killed} of ${tried.length} planted bugs were found by the tests of what they break (${formatPercent(share)}).`;
  const { green, red } = createStyles(process.stdout);
  const text = [
    formatTable([
      ['', 'file', 'what it breaks', 's'],
      ...tried.map(({ outcome, file, breaks, seconds }) => [
        outcome === 'killed' ? green('✓') : red('✗'),
        file,
        breaks,
        String(seconds),
      ]),
    ]),
    sentence,
  ].join('\n');
  await publish({ report: { tried, share }, text, part: buildMutantsPage(tried, sentence) });
  if (share < FLOOR) process.exitCode = 1;
  if (survivors.length > 0) printError(`${survivors.length} survived`);

  async function tryAll(folder: string, signal: AbortSignal): Promise<Tried[]> {
    const plots = await Promise.all(
      Array.from({ length: PLOTS }, (_, index) => {
        const plot = path.join(folder, String(index));
        mkdirSync(plot);
        return Plot.laidOut(plot);
      }),
    );
    const tests = [...new Set(chosen.flatMap((mutant) => mutant.tests))];
    printError(`${chosen.length} bugs; first their ${tests.length} test files without any`);
    if ((await plots[0]?.passes(tests, signal)) !== true)
      throw new MeshError('config', 'the tests fail without a bug: run npm test first');
    const results: Tried[] = [];
    const waiting = chosen.map((mutant, index) => ({ mutant, index }));
    await Promise.all(
      plots.map(async (plot) => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const result = await plot.try(next.mutant, signal);
          results[next.index] = result;
          printError(`${result.outcome === 'killed' ? '✓' : '✗ survived'} ${result.file}: ${result.breaks}`);
        }
      }),
    );
    return results;
  }
}

function buildMutantsPage(tried: readonly Tried[], sentence: string): MeasuredPart {
  const survivors = tried.filter(({ outcome }) => outcome === 'survived');
  return {
    facts: `${tried.length} bugs, each planted alone`,
    body: [
      sentence,
      survivors.length === 0
        ? 'None survived.'
        : `Survivors: ${survivors.map(({ breaks, file }) => `${breaks} (\`${file}\`)`).join('; ')}.`,
    ].join('\n'),
    limits: [
      'The bugs are those that the authors thought of; a test that finds them may miss others in the same place.',
      'A test that fails for another reason, such as a busy machine, counts as one that found the bug.',
    ],
  };
}
