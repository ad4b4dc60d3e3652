import path from 'node:path';
import { codeFolder } from '../../core/system/package-root.ts';
import { Cli, type CliOptions, type CliResult } from '../../scripts/testing/cli.ts';

/** Starts a command of the laboratory, as `npm run` does. */
export function startLab(args: readonly string[], options: CliOptions = {}): Cli {
  return new Cli([path.join(codeFolder, 'lab', 'lab.js'), ...args], {
    ...options,
    program: process.execPath,
  });
}

/** Runs it to its end. */
export function runLab(args: readonly string[]): Promise<CliResult> {
  return startLab(args).ended();
}
