import { MeshError } from '../../../core/contracts/errors.ts';
import { EMPTY, type Value } from '../values/value.ts';
import { keyOf } from './compare.ts';
import { columnNamed, findColumn, foldedName } from './find-column.ts';
import { columnOfValues, type Frame, type FrameColumn, pickRows, uniqueNames } from './frame.ts';

/** Of what a join may make: keys that many rows share multiply. */
const MAX_JOINED_ROWS = 200_000;

interface JoinTerms {
  /** `Code = Id`, several with `and`; without it, the columns that both have. */
  readonly on: string | undefined;
  /** Rows without a partner stay, with empty cells. */
  readonly keepsAll: boolean;
}

/**
 * Rows of both whose keys are the same, as values: 7 and "007", dates in whatever notation. Says how many found no partner.
 *
 * @throws MeshError `tool`
 */
export function joinFrames(left: Frame, right: Frame, { on, keepsAll }: JoinTerms, notes: string[]): Frame {
  const pairs = on === undefined ? commonColumns(left, right) : pairsIn(on, left, right);
  const keyAt = (columns: readonly FrameColumn[]) => {
    const values = columns.map((column) => column.typed().values);
    return (row: number) => {
      const parts = values.map((own) => own[row] ?? EMPTY);
      return parts.some(({ kind }) => kind === 'empty') ? undefined : parts.map(keyOf).join('\u0001');
    };
  };
  const partners = new Map<string, number[]>();
  const rightKey = keyAt(pairs.map(({ right: column }) => column));
  for (let row = 0; row < right.size; row++) {
    const key = rightKey(row);
    const own = key === undefined ? undefined : partners.get(key);
    if (own !== undefined) own.push(row);
    else if (key !== undefined) partners.set(key, [row]);
  }
  const leftKey = keyAt(pairs.map(({ left: column }) => column));
  const leftRows: number[] = [];
  const rightRows: number[] = [];
  let alone = 0;
  for (let row = 0; row < left.size; row++) {
    const found = partners.get(leftKey(row) ?? '\u0000') ?? [];
    if (found.length === 0) alone++;
    for (const other of found.length === 0 && keepsAll ? [-1] : found) {
      leftRows.push(row);
      rightRows.push(other);
    }
    if (leftRows.length > MAX_JOINED_ROWS)
      throw new MeshError(
        'tool',
        `the join has more than ${MAX_JOINED_ROWS} rows: its keys are in many rows of both; group first`,
      );
  }
  const met = new Set(rightRows);
  const unmet = right.size - [...met].filter((row) => row >= 0).length;
  const terms = pairs.map((pair) => `${pair.left.name} = ${pair.right.name}`).join(' and ');
  notes.push(
    `join on ${terms}: ${leftRows.length} rows; without a partner ${alone} of ${left.size} rows before it and ${unmet} of ${right.size} of the other table.`,
  );
  const one = pickRows(left, leftRows);
  const same = new Set(
    pairs
      .filter((pair) => foldedName(pair.left.name) === foldedName(pair.right.name))
      .map((pair) => pair.right),
  );
  const added = right.columns.filter((column) => !same.has(column));
  const picked = pickRows({ ...right, columns: added }, rightRows).columns;
  const names = uniqueNames(
    added.map(({ name }) => name),
    one.columns,
  );
  return {
    ...one,
    columns: [...one.columns, ...picked.map((column, i) => ({ ...column, name: names[i] ?? column.name }))],
  };
}

interface Pair {
  readonly left: FrameColumn;
  readonly right: FrameColumn;
}

function commonColumns(left: Frame, right: Frame): Pair[] {
  const pairs = left.columns.flatMap((column): Pair[] => {
    const other = right.columns.find(({ name }) => foldedName(name) === foldedName(column.name));
    return other === undefined ? [] : [{ left: column, right: other }];
  });
  if (pairs.length > 0) return pairs;
  const names = ({ columns }: Frame) =>
    columns
      .slice(0, 50)
      .map(({ name }) => JSON.stringify(name))
      .join(', ');
  throw new MeshError(
    'tool',
    `the tables have no column in common: say in \`formula\` which go together, as Code = Id; there are ${names(left)} and ${names(right)}`,
  );
}

/** Each side may be of either table; the first that fits is taken. */
function pairsIn(on: string, left: Frame, right: Frame): Pair[] {
  return on.split(/\s+and\s+|,/i).map((part) => {
    const [one = '', other = one, ...more] = part.split(/\s*==?\s*/).map(bare);
    if (one === '' || more.length > 0)
      throw new MeshError(
        'tool',
        `a join is on columns such as Code = Id, and ${JSON.stringify(part)} is none`,
      );
    const isSwapped =
      findColumn(left, one) === undefined &&
      findColumn(left, other) !== undefined &&
      findColumn(right, one) !== undefined;
    const [mine, theirs] = isSwapped ? [other, one] : [one, other];
    return { left: columnNamed(left, mine), right: columnNamed(right, theirs) };
  });
}

const bare = (name: string) => name.trim().replace(/^["'`[](.*)["'`\]]$/, '$1');

/** Rows of several tables one below the other, their columns by name. */
export function stackFrames(frames: readonly Frame[]): Frame {
  const titles = new Map<string, string>();
  for (const { columns } of frames)
    for (const { name } of columns) if (!titles.has(foldedName(name))) titles.set(foldedName(name), name);
  const size = frames.reduce((sum, frame) => sum + frame.size, 0);
  if (size > MAX_JOINED_ROWS)
    throw new MeshError(
      'tool',
      `together the tables have ${size} rows: up to ${MAX_JOINED_ROWS} are worked on`,
    );
  return {
    columns: [...titles].map(([key, name]) => {
      const values = frames.flatMap((frame): readonly Value[] => {
        const own = frame.columns.find((column) => foldedName(column.name) === key);
        return own?.typed().values ?? Array.from({ length: frame.size }, () => EMPTY);
      });
      return columnOfValues(name, values);
    }),
    size,
    labels: frames.flatMap(
      ({ labels, size: own }) => labels ?? Array.from({ length: own }, (_, i) => `line ${i + 1}`),
    ),
  };
}
