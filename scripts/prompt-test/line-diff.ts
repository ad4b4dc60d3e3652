import { diff } from 'node:util';

interface DiffLine {
  readonly kind: 'same' | 'old' | 'new';
  readonly text: string;
}

/** Lines of each side that are compared: nobody reads on. */
const MAX_LINES = 500;

/** How `after` differs from `before`, line by line; what was there stands before what is. */
export function diffLines(before: string, after: string): DiffLine[] {
  return diff(splitLines(before), splitLines(after)).map(([operation, text]) => ({
    kind: operation === 0 ? 'same' : operation === 1 ? 'old' : 'new',
    text,
  }));
}

function splitLines(text: string): string[] {
  const lines = text.split('\n');
  return lines.length <= MAX_LINES
    ? lines
    : [...lines.slice(0, MAX_LINES), `[${lines.length - MAX_LINES} more lines]`];
}
