import path from 'node:path';
import { describeEnvironment } from '@gaia-mesh/core/run/manifest.ts';
import { isCheckout } from '@gaia-mesh/core/system/package-root.ts';
import { quoteShellWord } from '@gaia-mesh/core/system/shell-word.ts';
import { createRedactor } from '../batch/redact.ts';

/** The origin of a result: its command line, as others can type it, and its machine. */
interface Making {
  readonly command: string;
  readonly machine: string;
}

/** Options whose value is a path or an address of this machine; the repetition of a measurement uses its own. */
const PLACES = ['--out', '--store', '--cache-file'];
/** A path outside the folder of the command: alone, after `--option=`, or in a list. */
const PATH_ELSEWHERE = /(?<=^|[=,])(?:\/|\.\.\/)[^,]+/g;

/** Describes this process for the files that it writes: without secrets and without folders of the machine. */
export function describeMaking([name = 'gaia', ...options] = process.argv.slice(2)): Making {
  const redact = createRedactor(process.env);
  const words = options
    .filter(
      (word, at) => !PLACES.includes(word.replace(/=.*/s, '')) && !PLACES.includes(options[at - 1] ?? ''),
    )
    .map((word) => quoteShellWord(stripFolders(redact(word))));
  const start = isCheckout
    ? ['npm', 'run', name, ...(words.length > 0 ? ['--'] : [])]
    : ['npx', 'gaia-mesh', name];
  const { cpu, cpus, node } = describeEnvironment();
  return { command: [...start, ...words].join(' '), machine: `${cpu}, ${cpus} cores, Node ${node}` };
}

/** Reduces paths outside the user's folder to file names, so that private folders are not published. */
export function stripFolders(text: string): string {
  return text.replaceAll(PATH_ELSEWHERE, (file) => path.basename(file));
}
