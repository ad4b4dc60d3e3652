import { count, formatDecimals } from '../terminal/table.ts';

/** Formats that only pages use; tables use those of the terminal. */

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** The sign of a figure that is not known. */
export const UNKNOWN = '–';

export function formatCounted(value: number, noun: string): string {
  return `${count(value)}\u00a0${noun}${value === 1 ? '' : 's'}`;
}

export function formatBytes(bytes: number): string {
  return `${count(bytes)}\u00a0B`;
}

/** Formats milliseconds as `2.04 ms`, `22.3 ms`, `228 ms` or `12.3 s`. */
export function formatMs(ms: number): string {
  if (ms >= 10_000) return `${formatDecimals(ms / 1000, 1)}\u00a0s`;
  return `${ms >= 100 ? count(ms) : formatDecimals(ms, ms >= 10 ? 1 : 2)}\u00a0ms`;
}

export function formatDate(value: string | number): string {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? '' : `${moment.format(date)}\u00a0UTC`;
}

const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;

/** Replaces characters that are invisible, or that reverse the order of others, by their escapes: `\u202e`. */
export function showHidden(text: string): string {
  return text.replaceAll(HIDDEN, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Makes a sentence of a phrase, such as the explanation of a column. */
export function toSentence(phrase: string): string {
  return `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}${phrase.endsWith('.') ? '' : '.'}`;
}

/** Names an agent by its id and its tool, which are one word where a tool has an agent of its own. */
export function nameAgent({ id, tool }: { readonly id: string; readonly tool: string }): string {
  return toLine(id === tool ? id : `${id} ${tool}`, 60);
}

/** Reduces a text to one line of at most `most` characters. */
export function toLine(text: string, most = 200): string {
  const line = showHidden(text.replaceAll(/\s+/g, ' ').trim());
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
