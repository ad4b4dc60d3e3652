/**
 * Control characters that must not reach the terminal, because the text of agents, packets, archives, team and question files is
 * not trusted. They, and characters that reverse the order of others, are shown as escapes, as in JSON: `\u001b`, `\u202e`. Line
 * ends, tabs and the few styles that we set ourselves (`style.ts`) are kept.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /\u001b\[(?:0|1|2|22|3[1-6]|39)m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Escapes control characters in `text`. JSON keeps its meaning. */
export function escapeControls(text: string): string {
  return text.replaceAll(HIDDEN, (found) => (found.length > 2 ? found : escapeCharacter(found)));
}

/** Prints a line on standard output. */
export function print(line = ''): void {
  printText(`${line}\n`);
}

/** Prints text on standard output without adding a line end. */
export function printText(text: string): void {
  process.stdout.write(escapeControls(text));
}

/** Formats `value` as in result files and with `--json`. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function printJson(value: unknown): void {
  printText(formatJson(value));
}

/** Prints a line on standard error: progress, warnings, faults. */
export function printError(line: string): void {
  process.stderr.write(`${escapeControls(line)}\n`);
}

function escapeCharacter(character: string): string {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');
}
