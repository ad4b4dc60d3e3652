import { randomBytes } from 'node:crypto';
import { styleText } from 'node:util';

/**
 * The only module that writes to the terminal (a linter rule enforces this). Text from agents, packets, archives, servers, team and
 * question files is not trusted, and once a message contains it, it cannot be told apart from ours.
 *
 * - Control characters, and characters that hide or reverse the order of others, are shown as escapes as in JSON: `\u001b`, `\u202e`.
 * - A line of ours stays one line: a line end in it is shown as `\n` on standard output, and followed by an indent on standard error.
 * - Commands of CI servers, which read them from the output of any program, are shown with an escape, too: `::error::` at the start of
 *   a line, `##[error]` and `##vso[task.complete]` anywhere.
 *
 * JSON keeps its meaning under all of this.
 */

/**
 * This mark stands for ESC in text that has not been printed yet. Foreign text cannot contain it, as it is drawn for each process, so
 * printing can tell our own styles from those that an agent or a file sent.
 */
const STYLE_MARK: string = `\u0001${randomBytes(8).toString('hex')}`;

const STYLE = `${STYLE_MARK}\\[\\d+m`;

const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;
const OWN_OR_HIDDEN = new RegExp(`(${STYLE})|${HIDDEN.source}`, 'gu');

/** A command of GitHub begins a line, after spaces; those of Azure and TeamCity may stand anywhere. */
const LINE_COMMAND = new RegExp(`^((?:[^\\S\\n]|${STYLE})*)::`, 'gmu');
const COMMAND = /##(?=[a-z]*\[)/giu;

/** Escapes all characters of `text`, which may have several lines, that could control a terminal or a CI server. */
function escapeControls(text: string): string {
  return text
    .replaceAll(OWN_OR_HIDDEN, (found, own?: string) => own ?? escapeCharacters(found))
    .replaceAll(LINE_COMMAND, '$1\\u003a:')
    .replaceAll(COMMAND, '\\u0023#')
    .replaceAll(STYLE_MARK, '\u001b');
}

/** Prints a line on standard output. */
export function print(line = ''): void {
  printText(`${line.replaceAll('\n', '\\n')}\n`);
}

/**
 * Prints lines on standard output that the caller has joined. Foreign text in them must be free of line ends (`toOneLine`).
 *
 * @returns false if the reader is slower: further text should wait for `drain`
 */
export function printText(text: string): boolean {
  return process.stdout.write(escapeControls(text));
}

/** Formats `value` as in result files and with `--json`. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function printJson(value: unknown): void {
  printText(formatJson(value));
}

/** Prints a line on standard error: progress, warnings, faults. Further lines of `text` are indented. */
export function printError(text: string): void {
  process.stderr.write(`${escapeControls(text.replaceAll('\n', '\n  '))}\n`);
}

type Format = Parameters<typeof styleText>[0];

/**
 * Creates the colours of one stream, for text that this module prints. There are none if it is not a terminal, or if NO_COLOR is set
 * (https://no-color.org); FORCE_COLOR turns them on.
 */
export function createStyles(stream: NodeJS.WriteStream) {
  const style = (format: Format) => (text: string) => {
    // Only the codes come from Node: it must not touch codes within the text.
    const [begin = '', end = ''] = styleText(format, '|', { stream })
      .replaceAll('\u001b', STYLE_MARK)
      .split('|');
    return begin + text + end;
  };
  return {
    bold: style('bold'),
    dim: style('dim'),
    green: style('green'),
    red: style('red'),
    yellow: style('yellow'),
    cyan: style('cyan'),
  };
}

export type Styles = ReturnType<typeof createStyles>;

function escapeCharacters(found: string): string {
  return Array.from(
    { length: found.length },
    (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');
}
