interface DiffLine {
  readonly kind: 'same' | 'old' | 'new';
  readonly text: string;
}

/** Lines of each side that are compared: the work grows with their product, and nobody reads on. */
const MAX_LINES = 500;

/** How `after` differs from `before`, line by line, by the longest common subsequence; what was there stands before what is. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = linesOf(before);
  const now = linesOf(after);
  const lengths = commonLengths(old, now);
  const diff: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]];
    if (was !== undefined && was === is) {
      diff.push({ kind: 'same', text: was });
      i += 1;
      j += 1;
    } else if (was !== undefined && (is === undefined || at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      diff.push({ kind: 'old', text: was });
      i += 1;
    } else {
      diff.push({ kind: 'new', text: is ?? '' });
      j += 1;
    }
  }
  return diff;
}

/** `lengths[i][j]`: lines that the rests from `i` and `j` on have in common, in order. */
function commonLengths(old: readonly string[], now: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i--) {
    const row = lengths[i];
    if (row === undefined) continue;
    for (let j = now.length - 1; j >= 0; j--) {
      row[j] =
        old[i] === now[j]
          ? at(lengths, i + 1, j + 1) + 1
          : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
    }
  }
  return lengths;
}

function at(lengths: readonly (readonly number[])[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.length <= MAX_LINES
    ? lines
    : [...lines.slice(0, MAX_LINES), `[${lines.length - MAX_LINES} more lines]`];
}
