import { count, formatDecimals } from '../terminal/table.ts';

/** Figures as the page says them: with as many digits as carry something, and with a unit that no line break parts from them. */

export function formatBytes(bytes: number): string {
  return bindNumbers(`${count(bytes)} B`);
}

/** `12.3 ms`, `228 ms`, `4.2 s` */
export function formatMs(ms: number): string {
  if (ms >= 10_000) return bindNumbers(`${formatDecimals(ms / 1000, 1)} s`);
  return bindNumbers(`${ms >= 100 ? count(ms) : formatDecimals(ms, ms >= 10 ? 1 : 2)} ms`);
}

/** `2.1×`, and near 1 as many digits as tell it from 1. */
export function formatRatio(ratio: number): string {
  return `${formatDecimals(ratio, ratio >= 10 ? 1 : 2)}×`;
}

/** `1 packet`, `2 packets` */
export function formatCounted(number: number, noun: string): string {
  return bindNumbers(`${count(number)} ${noun}${number === 1 ? '' : 's'}`);
}

/** The text with every number bound to the word after it. */
export function bindNumbers(text: string): string {
  return text.replaceAll(/(\d) (?=[%\p{L}])/gu, '$1\u00a0');
}
