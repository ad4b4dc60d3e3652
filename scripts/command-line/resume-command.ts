import { createRedactor } from '@gaia-mesh/evaluation/batch/redact.ts';
import { quoteShellWord } from '@gaia-mesh/evaluation/terminal/shell-word.ts';

/** Returns the command line that resumes the run of this process: its own arguments with `--resume`. */
export function resumeCommand(): string {
  const [name = '', ...options] = process.argv.slice(2).map(createRedactor(process.env));
  const words = options.includes('--resume') ? options : [...options, '--resume'];
  const start = process.env.npm_lifecycle_event === name ? ['npm', 'run', name, '--'] : ['gaia-mesh', name];
  return [...start, ...words.map(quoteShellWord)].join(' ');
}
