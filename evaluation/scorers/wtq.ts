/**
 * The official evaluator of WikiTableQuestions 1.0.2 (Pasupat and Liang, ACL 2015), reimplemented from its description: answers are sets of
 * values, and a prediction is right if it has as many values as the target and each value of the target is among them. A value is a number
 * (equal to 1e-6), a date `yyyy-mm-dd` with `xx` for an unknown field (compared field by field), or a text (after normalisation).
 */
type WtqValue =
  | { readonly kind: 'number'; readonly text: string; readonly amount: number }
  | { readonly kind: 'date'; readonly text: string; readonly date: string }
  | { readonly kind: 'text'; readonly text: string };

/** Parses a list of answers into distinct values. */
export function parseWtqValues(answers: readonly string[]): WtqValue[] {
  const values = new Map(answers.map((answer) => [answer, parseWtqValue(answer)]));
  return [...new Map([...values.values()].map((value) => [toWtqKey(value), value])).values()];
}

/** Returns true if the values of a prediction are those of the target. */
export function isWtqMatch(target: readonly WtqValue[], predicted: readonly WtqValue[]): boolean {
  return (
    target.length === predicted.length &&
    target.every((value) => predicted.some((other) => isSame(value, other)))
  );
}

/** Returns true if `predicted` answers the question whose true answers are `answers`. */
export function isWtqCorrect(answers: readonly string[], predicted: readonly string[]): boolean {
  return isWtqMatch(parseWtqValues(answers), parseWtqValues(predicted));
}

function isSame(a: WtqValue, b: WtqValue): boolean {
  if (a.text === b.text) return true;
  if (a.kind === 'number' && b.kind === 'number') return Math.abs(a.amount - b.amount) < 1e-6;
  return a.kind === 'date' && b.kind === 'date' && a.date === b.date;
}

function toWtqKey(value: WtqValue): string {
  if (value.kind === 'number') return `n ${value.amount}`;
  return value.kind === 'date' ? `d ${value.date}` : `t ${value.text}`;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

function parseWtqValue(answer: string): WtqValue {
  const text = normalizeWtq(answer);
  const plain = answer.trim();
  if (NUMBER.test(plain)) return { kind: 'number', text, amount: Number(plain) };
  const parts = plain.toLowerCase().split('-');
  if (parts.length !== 3) return { kind: 'text', text };
  const [y = Number.NaN, m = Number.NaN, d = Number.NaN] = parts.map((part, at) =>
    part === 'xx' || (at === 0 && part === 'xxxx') ? -1 : parseWhole(part),
  );
  const isDate = !Number.isNaN(y) && isWithin(m, 12) && isWithin(d, 31) && (y !== -1 || m !== -1 || d !== -1);
  if (!isDate) return { kind: 'text', text };
  return m === -1 && d === -1
    ? { kind: 'number', text, amount: y }
    : { kind: 'date', text, date: `${y}-${m}-${d}` };
}

const parseWhole = (text: string) => (/^\d+$/.test(text) ? Number(text) : Number.NaN);
const isWithin = (value: number, most: number) => value === -1 || (value >= 1 && value <= most);

/** Normalises a text as the evaluator does: it drops accents, footnote marks, a last bracket, enclosing quotes and the last full stop. */
function normalizeWtq(answer: string): string {
  let text = answer
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .replaceAll(/[‘’´`]/g, "'")
    .replaceAll(/[“”]/g, '"')
    .replaceAll(/[‐‑‒–—−]/g, '-');
  let before: string;
  do {
    before = text;
    text = text
      .trim()
      .replace(/((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$/, '')
      .replace(/( \([^)]*\))*$/, '')
      .replace(/^"([^"]*)"$/, '$1');
  } while (before !== text);
  return text.replace(/\.$/, '').replaceAll(/\s+/g, ' ').toLowerCase().trim();
}
