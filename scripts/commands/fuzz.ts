import { randomInt } from 'node:crypto';
import { MeshError } from '../../core/errors.ts';
import { INTERRUPTED_EXIT } from '../exit-code.ts';
import type { TargetReport } from '../fuzz/campaign.ts';
import type { Failure } from '../fuzz/target.ts';
import { interruptible } from '../interruptible.ts';
import { stylesFor } from '../terminal/style.ts';
import { count, decimals, table } from '../terminal/table.ts';

export interface FuzzOptions {
  readonly minutes: number;
  readonly seed?: number;
  readonly target?: readonly string[];
  readonly path?: string;
  readonly json?: boolean;
}

/** Throws hostile bytes at what reads bytes, for so many minutes, and says what broke. Exit code 1 if anything did. */
export async function fuzz(options: FuzzOptions): Promise<void> {
  const { campaign, replayed, SEEDS } = await loadFuzzing();
  const { targetsNamed } = await import('../fuzz/targets.ts');
  const targets = targetsNamed(options.target ?? []);
  const seed = options.seed ?? randomInt(1, SEEDS);
  if (seed >= SEEDS) throw new MeshError('usage', `--seed: expected a whole number below ${SEEDS}`);
  const { minutes, path } = options;
  const [first, ...others] = targets;
  if (path !== undefined && (options.seed === undefined || first === undefined || others.length > 0)) {
    throw new MeshError('usage', '--path: it is of one --target and one --seed, as a failure prints them');
  }
  console.error(`seed ${seed}, ${targets.length} targets, ${minutes} minutes`);
  const { signal } = interruptible('the fuzzing');
  const reports =
    path !== undefined && first !== undefined
      ? [await replayed(first, seed, path)]
      : await campaign(targets, { seed, minutes, signal });
  if (options.json) process.stdout.write(`${JSON.stringify({ seed, minutes, targets: reports }, null, 2)}\n`);
  else print(reports);
  if (reports.some((report) => report.failure !== null)) process.exitCode = 1;
  else if (signal.aborted) process.exitCode = INTERRUPTED_EXIT;
}

/** It is a development dependency: whoever uses the mesh need not have it. */
async function loadFuzzing() {
  await import('fast-check').catch((cause: unknown) => {
    throw new MeshError(
      'usage',
      'fuzz needs the package fast-check, which is not installed: npm install fast-check',
      {
        cause,
      },
    );
  });
  return import('../fuzz/campaign.ts');
}

function print(reports: readonly TargetReport[]): void {
  const { green, red } = stylesFor(process.stdout);
  const rows = reports.map(({ name, runs, seconds, failure }) => [
    failure === null ? green('✓') : red('✗'),
    name,
    count(runs),
    decimals(seconds, 1),
    count(runs / Math.max(seconds, 0.001)),
  ]);
  console.log(table([['', 'target', 'runs', 'seconds', 'runs/s'], ...rows]));
  for (const { name, failure } of reports) if (failure !== null) console.log(`\n${told(name, failure)}`);
}

function told(name: string, { seed, path, counterexample, reason }: Failure): string {
  const again = `npm run fuzz -- --target ${name} --seed ${seed} --path ${path}`;
  return `${name}: ${reason}\ncase: ${counterexample}\nagain: ${again}`;
}
