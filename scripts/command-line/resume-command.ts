import { createRedactor } from '@gaia-mesh/evaluation/batch/redact.ts';
import { formatCommandLine } from '@gaia-mesh/evaluation/terminal/shell-word.ts';

let isResumable = false;

/** The end of messages about a batch that failed. */
export const resumption = {
  /** Notes that finished answers are on disk from now on. */
  begin(): void {
    isResumable = true;
  },
  /** Returns a sentence that says how to go on; empty if there is nothing on disk. */
  hint(): string {
    return isResumable ? `. Finished answers are kept. To go on: ${resumption.command()}` : '';
  },
  /** Returns the command line of this process with `--resume`. */
  command(): string {
    const [name = '', ...options] = process.argv.slice(2).map(createRedactor(process.env));
    const words = options.includes('--resume') ? options : [...options, '--resume'];
    return formatCommandLine(name, words);
  },
};
