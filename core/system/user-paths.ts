import path from 'node:path';
import { codeFolder, isCheckout } from './package-root.ts';

/**
 * The folder in which the user typed the command. npm runs scripts in the project's root and leaves the user's own folder
 * in `INIT_CWD`; outside npm it is just the current one.
 */
function findUserFolder(): string {
  const { INIT_CWD } = process.env;
  return INIT_CWD !== undefined && process.cwd() === codeFolder ? INIT_CWD : process.cwd();
}

/** A path as the user meant it. */
export function resolveUserPath(file: string): string {
  return path.resolve(findUserFolder(), file);
}

/** Where a run's results go unless another folder is named: the project root, or for an installed package the user's folder. */
export function findDefaultOut(): string {
  return isCheckout ? codeFolder : findUserFolder();
}

/** The folder that the user named for results, or where they go without. */
export function resolveOutFolder(named: string | undefined): string {
  return named === undefined ? findDefaultOut() : resolveUserPath(named);
}
