import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

interface ChildNode {
  readonly program: string;
  readonly args: readonly string[];
  /** Only what is needed to find programs; the parent's keys and secrets stay with the parent. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Returns how to start `entry` as a Node process that may only read, and only the code beside it, this folder and
 * `readable`: it cannot write, start processes or threads, or run code made of texts. Its JavaScript heap is bounded.
 *
 * `--permission` must be among the arguments: otherwise Node passes the flags of a restricted parent, this agent, to
 * its child in NODE_OPTIONS, and the child may then do whatever the agent may.
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
