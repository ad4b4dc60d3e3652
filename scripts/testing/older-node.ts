import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** The oldest Node on which the entry promises to start. */
const OLDEST_MAJOR = 20;

/** The search path of the user's shell, without the folders that npm adds, such as that of the project's own Node. */
export const userSearchPath: string = (process.env.PATH ?? '')
  .split(path.delimiter)
  .filter((folder) => !folder.split(path.sep).includes('node_modules'))
  .join(path.delimiter);

/** Returns the machine's own Node, if it is too old to run the sources and new enough for the entry. */
export function olderNode(): string | undefined {
  const file = userSearchPath
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'node'))
    .find((candidate) => existsSync(candidate));
  if (file === undefined) return undefined;
  const version = execFileSync(file, ['--print', 'process.versions.node'], { encoding: 'utf8' });
  const major = Number.parseInt(version, 10);
  return major >= OLDEST_MAJOR && major < 24 ? file : undefined;
}
