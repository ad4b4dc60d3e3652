import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { findDefaultOut, resolveOutFolder, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { formatCommandLine, quoteShellWord } from '@gaia-mesh/evaluation/terminal/shell-word.ts';

/**
 * Returns the archive of the last run.
 *
 * @throws MeshError `usage` when there is none
 */
export function findLastArchive(): string {
  const archive = path.join(findDefaultOut(), 'run_artifacts.tar.gz');
  if (existsSync(archive)) return archive;
  throw createNoRunError(findDefaultOut());
}

export function createNoRunError(folder: string): MeshError {
  return new MeshError('usage', `there is no run in ${folder}: make one with ${formatCommandLine('bench')}`);
}

/** Names that commands leave in a folder of results. */
const OURS =
  /^(workspaces|runs|store|\..*|(metrics|comparison|stacks|otlp|run_artifacts|matrix|results|report|blame|perfetto|trace)\b.*|.*\.part)$/;
/** Files by which a folder shows that it had results before. */
const MARKS = [path.join('workspaces', '.gaia-mesh'), 'comparison.json', 'stacks.json'];
/** Names of others that a message shows. */
const SHOWN = 3;

/**
 * Returns the folder for the results of a command. A folder that the user named must be free of other things than results, and
 * than what the command line itself refers to.
 *
 * @throws MeshError `usage` for a folder of others' files, with one below it
 */
export function chooseResultFolder(named: string | undefined): string {
  const folder = resolveOutFolder(named);
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (named === undefined || !isFolder || MARKS.some((name) => existsSync(path.join(folder, name))))
    return folder;
  const given = process.argv.slice(2).map((word) => resolveUserPath(word.replace(/^[^=]*=/, '')));
  const others = readdirSync(folder).filter(
    (name) => !OURS.test(name) && !given.includes(path.join(folder, name)),
  );
  if (others.length === 0) return folder;
  const shown = others.slice(0, SHOWN).join(', ') + (others.length > SHOWN ? ', …' : '');
  throw new MeshError(
    'usage',
    `${folder} has other files (${shown}), among which results would be lost: give them a folder of their own, such as --out ${quoteShellWord(path.join(named, 'results'))}`,
    { setting: 'out' },
  );
}
