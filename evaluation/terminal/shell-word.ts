/** `word` as a shell reads it back: in quotes where it has to be. */
export function quoteShellWord(word: string): string {
  return /^[\w.,:/=+@%~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
