import path from 'node:path';
import { Cli, type CliOptions, type CliResult } from '@gaia-mesh/cli/testing/cli.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';

/** Starts a command of the laboratory, as `npm run` does. */
export function startLab(args: readonly string[], options: CliOptions = {}): Cli {
  return new Cli([path.join(codeFolder, 'lab', 'lab.js'), ...args], {
    ...options,
    program: process.execPath,
  });
}

/** Runs a command of the laboratory to its end. */
export function runLab(args: readonly string[]): Promise<CliResult> {
  return startLab(args).ended();
}
