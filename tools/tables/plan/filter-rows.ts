import { valueText } from '../values/value.ts';
import { keyOf } from './compare.ts';
import { compileFormula } from './compile-formula.ts';
import { type Frame, pickRows, rowsNamed, rowsOf } from './frame.ts';
import { isTrue } from './functions.ts';
import { type Formula, parseFormula } from './parse-formula.ts';

/** A condition, and how a reader is told of it. */
interface Test {
  readonly formula: Formula;
  readonly text: string;
}

/** Values that are shown where a condition holds for no row. */
const SHOWN_VALUES = 8;
const COMPARED = new Set(['=', '!=', '<', '<=', '>', '>=']);

/** The parts of a condition that all must hold, each by itself. */
export function testsOf(text: string, frame: Frame): Test[] {
  const { formula } = parseFormula(text, frame);
  return conjuncts(formula).map((one) => ({ formula: one, text: formulaText(one) }));
}

/** Rows for which all tests hold; says what each of them dropped, and which cells could not be compared. */
export function filterRows(frame: Frame, tests: readonly Test[], notes: string[]): Frame {
  const all = rowsOf(frame);
  let rows = all;
  for (const { formula, text } of tests) {
    const { at, columns } = compileFormula(formula, frame);
    const kept = rows.filter((row) => isTrue(at(row, all)));
    if (tests.length > 1 || kept.length === 0)
      notes.push(
        `${text}: ${kept.length} of ${rows.length} rows left, ${rows.length - kept.length} dropped.`,
      );
    const isCompared = formula.is === 'call' && COMPARED.has(formula.name);
    for (const column of columns) {
      const { kind, untyped } = column.typed();
      const among = new Set(rows);
      const odd = untyped.filter((row) => among.has(row));
      if (isCompared && kind !== 'text' && odd.length > 0)
        notes.push(
          `${odd.length} cells of ${JSON.stringify(column.name)} hold no ${kind}: ${rowsNamed(frame, column, odd)}`,
        );
      if (kept.length === 0 && rows.length > 0)
        notes.push(`${JSON.stringify(column.name)} holds ${someValues(column.typed().values, rows)}`);
    }
    rows = kept;
  }
  return pickRows(frame, rows);
}

function someValues(
  values: ReturnType<Frame['columns'][number]['typed']>['values'],
  rows: readonly number[],
): string {
  const known = new Map<string, string>();
  for (const row of rows) {
    const value = values[row];
    if (value === undefined || value.kind === 'empty') continue;
    if (!known.has(keyOf(value)))
      known.set(keyOf(value), JSON.stringify(valueText(value).slice(0, 60).toWellFormed()));
    if (known.size > SHOWN_VALUES) break;
  }
  return [...known.values()].slice(0, SHOWN_VALUES).join(', ') + (known.size > SHOWN_VALUES ? ', …' : '');
}

function conjuncts(formula: Formula): Formula[] {
  if (formula.is === 'call' && formula.name === 'and') return formula.of.flatMap(conjuncts);
  return [formula];
}

/** As a person would write it. */
function formulaText(formula: Formula): string {
  switch (formula.is) {
    case 'column':
      return formula.name;
    case 'constant':
      return formula.value.kind === 'text' ? `'${formula.value.text}'` : valueText(formula.value);
    case 'call': {
      const [left, right] = formula.of;
      const isSign =
        /^[^a-z]|^(and|or|contains|like)$/.test(formula.name) && left !== undefined && right !== undefined;
      if (isSign) return `${formulaText(left)} ${formula.name} ${formulaText(right)}`;
      return `${formula.name}(${formula.of.map(formulaText).join(', ')})`;
    }
  }
}
