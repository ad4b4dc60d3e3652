import { MeshError } from '../../../core/contracts/errors.ts';
import type { Frame, FrameColumn } from './frame.ts';

const SHOWN_NAMES = 100;
const NEAREST = 3;

/**
 * A column by its name, without case, else by its letter.
 *
 * @throws MeshError `tool`, with the nearest names and all there are
 */
export function columnNamed(frame: Frame, wanted: string): FrameColumn {
  const found = findColumn(frame, wanted);
  if (found !== undefined) return found;
  throw new MeshError('tool', noColumn(frame, wanted));
}

/** What to say of a name that is none. */
export function noColumn(frame: Frame, wanted: string): string {
  const near = nearestNames(frame, wanted);
  const hint = near.length === 0 ? '' : `; nearest: ${near.map((name) => JSON.stringify(name)).join(', ')}`;
  return `there is no column ${JSON.stringify(wanted)}: there are ${columnNames(frame)}${hint}`;
}

export function findColumn({ columns }: Frame, wanted: string): FrameColumn | undefined {
  const plain = foldedName(wanted);
  return (
    columns.find(({ name }) => name === wanted) ??
    columns.find(({ name }) => foldedName(name) === plain) ??
    columns.find((_, i) => columnLetters(i) === wanted.trim().toUpperCase())
  );
}

export function foldedName(name: string): string {
  return name.trim().replace(/\s+/g, ' ').toLowerCase();
}

export function columnNames({ columns }: Frame): string {
  if (columns.length === 0) return 'none, since the sheet is empty';
  const more = columns.length > SHOWN_NAMES ? `, … (${columns.length})` : '';
  return (
    columns
      .slice(0, SHOWN_NAMES)
      .map(({ name }) => JSON.stringify(name))
      .join(', ') + more
  );
}

/** Names that have most pairs of letters in common with what was written. */
function nearestNames({ columns }: Frame, wanted: string): string[] {
  const pairs = (text: string) => {
    const plain = foldedName(text);
    return new Set(Array.from({ length: Math.max(0, plain.length - 1) }, (_, i) => plain.slice(i, i + 2)));
  };
  const own = pairs(wanted);
  const scored = columns.slice(0, 1000).map(({ name }) => {
    const other = pairs(name);
    const common = [...own].filter((pair) => other.has(pair)).length;
    return { name, score: (2 * common) / Math.max(1, own.size + other.size) };
  });
  return scored
    .filter(({ score }) => score > 0.3)
    .sort((a, b) => b.score - a.score)
    .slice(0, NEAREST)
    .map(({ name }) => name);
}

/** `A` for 0, `AA` for 26. */
export function columnLetters(column: number): string {
  let letters = '';
  for (let n = column; n >= 0; n = Math.floor(n / 26) - 1)
    letters = String.fromCharCode(65 + (n % 26)) + letters;
  return letters;
}
