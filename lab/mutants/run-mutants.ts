import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { trackChild } from '../measure/bench-runs.ts';
import type { Mutant } from './mutant.ts';

/** The outcome of a planted bug. */
type Outcome = 'killed' | 'survived';

export interface Tried extends Mutant {
  readonly outcome: Outcome;
  readonly seconds: number;
}

const run = promisify(execFile);

/** Time limit of the tests; tests that hang have noticed the bug, too. */
const TEST_TIMEOUT_MS = 180_000;

/** A copy of the project's files, in which bugs are planted one after the other. */
export class Plot {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates the copy, with the packages of the project. */
  static async laidOut(folder: string): Promise<Plot> {
    const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: codeFolder,
      maxBuffer: 64 * 1024 * 1024,
    });
    for (const name of stdout.split('\0').filter((one) => one !== '')) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      cpSync(path.join(codeFolder, name), path.join(folder, name));
    }
    // The packages are copied, not linked: confined processes may only read inside the copy's own folder.
    const packages = [path.join(codeFolder, 'node_modules'), folder];
    await run('cp', ['-al', ...packages]).catch(() => run('cp', ['-a', ...packages]));
    return new Plot(folder);
  }

  /** Plants a bug, runs its tests and reports whether one of them fails. The bug is removed afterwards. */
  async try(mutant: Mutant, signal: AbortSignal): Promise<Tried> {
    const startMs = performance.now();
    const file = path.join(this.#folder, mutant.file);
    const whole = readFileSync(file, 'utf8');
    writeFileSync(file, plantMutant(mutant, whole));
    try {
      const isGreen = await this.passes(mutant.tests, signal);
      const seconds = Math.round((performance.now() - startMs) / 100) / 10;
      return { ...mutant, outcome: isGreen ? 'survived' : 'killed', seconds };
    } finally {
      writeFileSync(file, whole);
    }
  }

  /** Tells whether tests pass. */
  async passes(tests: readonly string[], signal: AbortSignal): Promise<boolean> {
    const args = ['run', '--bail', '1', '--reporter', 'dot', '--no-color', ...tests];
    const child = trackChild(
      spawn(process.execPath, [path.join('node_modules', 'vitest', 'vitest.mjs'), ...args], {
        cwd: this.#folder,
        stdio: 'ignore',
        env: { ...process.env, CI: '' },
      }),
    );
    const timer = setTimeout(() => child.kill('SIGKILL'), TEST_TIMEOUT_MS);
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
    clearTimeout(timer);
    signal.throwIfAborted();
    return code === 0;
  }
}

/**
 * Replaces the bug's place in the text.
 *
 * @throws Error when the place does not exist, or exists more than once
 */
export function plantMutant({ file, find, put }: Mutant, whole: string): string {
  const places = whole.split(find).length - 1;
  if (places !== 1) throw new Error(`${file}: expected one place for a bug, found ${places}: ${find}`);
  return whole.replace(find, () => put);
}
