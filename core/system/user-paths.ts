import path from 'node:path';
import { codeFolder, isCheckout } from './package-root.ts';

/**
 * Returns the folder in which the user typed the command. npm runs scripts in the project's root and stores
 * the user's folder in `INIT_CWD`; outside npm it is the current folder.
 */
function findUserFolder(): string {
  const { INIT_CWD } = process.env;
  return INIT_CWD !== undefined && process.cwd() === codeFolder ? INIT_CWD : process.cwd();
}

/** Resolves a path relative to the user's folder. */
export function resolveUserPath(file: string): string {
  return path.resolve(findUserFolder(), file);
}

/**
 * Returns the folder for results that the user named, or the default one: the project root, or for an installed
 * package the user's folder.
 */
export function resolveOutFolder(named?: string): string {
  if (named !== undefined) return resolveUserPath(named);
  return isCheckout ? codeFolder : findUserFolder();
}
