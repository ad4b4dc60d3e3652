import { escapeControls } from '@gaia-mesh/evaluation/terminal/print.ts';

const closed = new Promise<void>((resolve) => process.stdout.once('error', () => resolve()));

/** Prints a line and waits while the reader is slower. Prints nothing more once nobody reads: {@link isRead} says so. */
export async function printLine(text: string): Promise<void> {
  // Another program gets what was asked for, to the byte; only a terminal is told of what would drive it.
  const line = process.stdout.isTTY ? escapeControls(text) : text;
  if (!isRead() || process.stdout.write(`${line}\n`)) return;
  await Promise.race([new Promise((resolve) => process.stdout.once('drain', resolve)), closed]);
}

export function isRead(): boolean {
  return process.stdout.errored === null;
}
