import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

interface ChildNode {
  readonly program: string;
  readonly args: readonly string[];
  /** Nothing of the parent's but where programs are; a child has no business with keys and secrets. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Returns how to start `entry` as a Node process that may read the code beside it, this folder and `readable`, and nothing else: no other
 * file, no writing, no processes, no threads, no code made of texts. Its JavaScript heap is bounded.
 *
 * `--permission` has to be among the arguments: Node hands the flags of a restricted parent, this agent's, down to a child without
 * it in NODE_OPTIONS, and the child may then do what the agent may.
 */
export function buildChildCommand(
  entry: URL,
  options: {
    readonly readable: readonly string[];
    readonly heapMegabytes: number;
    readonly flags?: readonly string[];
    readonly args?: readonly string[];
  },
): ChildNode {
  const file = fileURLToPath(entry);
  const code = path.dirname(file);
  return {
    program: process.execPath,
    args: [
      '--permission',
      ...new Set([`--allow-fs-read=${here}${path.sep}`, `--allow-fs-read=${code}${path.sep}`]),
      // Node reads there whether a file is a module.
      `--allow-fs-read=${findNearestPackage(code)}`,
      ...options.readable.map((readable) => `--allow-fs-read=${readable}`),
      '--disallow-code-generation-from-strings',
      `--max-old-space-size=${options.heapMegabytes}`,
      '--disable-warning=ExperimentalWarning',
      ...(options.flags ?? []),
      file,
      ...(options.args ?? []),
    ],
    environment: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' },
  };
}

function findNearestPackage(folder: string): string {
  const file = path.join(folder, 'package.json');
  const parent = path.dirname(folder);
  return existsSync(file) || parent === folder ? file : findNearestPackage(parent);
}
