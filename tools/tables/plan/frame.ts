import { type TypedColumn, type TypingHints, typedColumn } from '../values/typed-column.ts';
import { type CellValue, type Kind, type Value, valueText } from '../values/value.ts';

/** A column of a frame. Its cells are typed when somebody asks for them. */
export interface FrameColumn {
  readonly name: string;
  readonly typed: () => TypedColumn;
}

/** A table that steps of a plan work on. */
export interface Frame {
  readonly columns: readonly FrameColumn[];
  readonly size: number;
  /** What a row is called in notes: `row 5`. Undefined for rows that no file has. */
  readonly labels: readonly string[] | undefined;
}

export function columnOfCells(
  name: string,
  cells: readonly CellValue[],
  hints: () => TypingHints,
): FrameColumn {
  return { name, typed: once(() => typedColumn(cells, hints())) };
}

/** A column of results. */
export function columnOfValues(name: string, values: readonly Value[], unit = ''): FrameColumn {
  const kinds = new Map<Kind, number>();
  for (const { kind } of values) if (kind !== 'empty') kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const most = [...kinds].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 'text';
  const kind = most === 'empty' ? 'text' : most;
  const untyped = values.flatMap((value, at) => (value.kind === kind || value.kind === 'empty' ? [] : [at]));
  const typed = { kind, values, unit, order: undefined, isEither: false, untyped, notes: [] };
  return { name, typed: () => typed };
}

/** The places of all rows. */
export const rowsOf = ({ size }: Frame): number[] => Array.from({ length: size }, (_, row) => row);

/** The rows at these places, in this order. */
export function pickRows({ columns, labels }: Frame, rows: readonly number[]): Frame {
  return {
    columns: columns.map(({ name, typed }) => ({
      name,
      typed: once(() => {
        const source = typed();
        const untyped = new Set(source.untyped);
        return {
          ...source,
          values: rows.map((row) => source.values[row] ?? { kind: 'empty' as const }),
          untyped: rows.flatMap((row, at) => (untyped.has(row) ? [at] : [])),
        };
      }),
    })),
    size: rows.length,
    labels: labels === undefined ? undefined : rows.map((row) => labels[row] ?? ''),
  };
}

export function withColumn(frame: Frame, column: FrameColumn): Frame {
  const [unique = column.name] = uniqueNames([column.name], frame.columns);
  return { ...frame, columns: [...frame.columns, { ...column, name: unique }] };
}

/** Names that differ from those taken and from each other, with a number where need be. */
export function uniqueNames(
  names: readonly string[],
  taken: readonly { readonly name: string }[] = [],
): string[] {
  const known = new Set(taken.map(({ name }) => name));
  return names.map((name) => {
    let unique = name;
    for (let n = 2; known.has(unique); n++) unique = `${name} (${n})`;
    known.add(unique);
    return unique;
  });
}

/** `row 5 "closed"`, for notes; the first few of them. */
export function rowsNamed({ labels }: Frame, column: FrameColumn, rows: readonly number[]): string {
  const { values } = column.typed();
  const few = rows.slice(0, SHOWN).map((row) => {
    const value = values[row];
    const text = value === undefined ? '' : valueText(value).slice(0, 60).toWellFormed();
    return `${labels?.[row] ?? `line ${row + 1}`} ${JSON.stringify(text)}`;
  });
  return few.join(', ') + (rows.length > SHOWN ? ', …' : '');
}

const SHOWN = 5;

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}
