/**
 * The one way to the terminal: what agents, packets, archives, team and question files say must not drive it. Control characters, and
 * those that turn the order of others round, are shown as escapes, as JSON writes them: `\u001b`, `\u202e`. What stays is the end of a
 * line, the tab, and the few styles that we set ourselves (`style.ts`).
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /\u001b\[(?:0|1|2|22|3[1-6]|39)m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** `text` as it may be shown. Within JSON it says the same as before. */
export function escapeControls(text: string): string {
  return text.replaceAll(HIDDEN, (found) => (found.length > 2 ? found : escapeCharacter(found)));
}

/** A line on standard output. */
export function print(line = ''): void {
  printText(`${line}\n`);
}

/** Lines on standard output, as they are. */
export function printText(text: string): void {
  process.stdout.write(escapeControls(text));
}

/** `value` as files of results and `--json` have it. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function printJson(value: unknown): void {
  printText(formatJson(value));
}

/** A line on standard error: progress, warnings, faults. */
export function printError(line: string): void {
  process.stderr.write(`${escapeControls(line)}\n`);
}

function escapeCharacter(character: string): string {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');
}
