/** Quotes `word` for a shell, if necessary. */
export function quoteShellWord(word: string): string {
  return /^[\w.,:/=+@%~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
