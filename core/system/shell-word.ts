import path from 'node:path';
import { codeFolder, isCheckout } from './package-root.ts';
import { resolveUserPath } from './user-paths.ts';

/** Quotes `word` for a shell, if necessary. */
export function quoteShellWord(word: string): string {
  return /^[\w.,:/=+@%~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns the line that starts one of our commands in the user's folder, to be pasted as it is. */
export function formatCommandLine(name: string, words: readonly string[] = []): string {
  const folder = resolveUserPath('.');
  const isBelow = (outer: string) => !path.relative(outer, folder).startsWith('..');
  const start = isCheckout
    ? ['npm', ...(isBelow(codeFolder) ? [] : ['--prefix', codeFolder]), 'run', name]
    : // A package beside the user's own is not on the search path.
      [...(isBelow(path.join(codeFolder, '..', '..')) ? ['npx'] : []), 'gaia-mesh', name];
  return [...start, ...(isCheckout && words.length > 0 ? ['--'] : []), ...words]
    .map(quoteShellWord)
    .join(' ');
}
