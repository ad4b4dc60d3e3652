/**
 * The official evaluator of WikiTableQuestions 1.0.2 (Pasupat and Liang, ACL 2015), reimplemented from its description: answers are sets of
 * values, and a prediction is right if it has as many values as the target and each value of the target is among them. A value is a number
 * (equal to 1e-6), a date `yyyy-mm-dd` with `xx` for an unknown field (compared field by field), or a text (after normalisation).
 */
interface WtqValue {
  readonly text: string;
  /** Key that is equal for values that count once in a set. */
  readonly key: string;
  /** The number, or NaN, which equals nothing. */
  readonly amount: number;
}

/** Parses a list of answers into distinct values; of equal ones it keeps the first, as the evaluator does. */
export function parseWtqValues(answers: readonly string[]): WtqValue[] {
  const values = new Map<string, WtqValue>();
  for (const answer of answers) {
    const value = parseWtqValue(answer);
    if (!values.has(value.key)) values.set(value.key, value);
  }
  return [...values.values()];
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
  return a.text === b.text || a.key === b.key || Math.abs(a.amount - b.amount) < 1e-6;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

function parseWtqValue(answer: string): WtqValue {
  const text = normalizeWtq(answer);
  const plain = answer.trim();
  const amount = NUMBER.test(plain) ? Number(plain) : Number.NaN;
  if (Number.isFinite(amount)) return { text, key: `number ${amount}`, amount };
  const parts = plain.toLowerCase().split('-');
  const [y = Number.NaN, m = Number.NaN, d = Number.NaN] = parts.map((part, at) =>
    part === 'xx' || (at === 0 && part === 'xxxx') ? -1 : parseWhole(part),
  );
  const isDate =
    parts.length === 3 && !Number.isNaN(y) && isWithin(m, 12) && isWithin(d, 31) && Math.max(y, m, d) !== -1;
  if (!isDate) return { text, key: `text ${text}`, amount: Number.NaN };
  if (m === -1 && d === -1) return { text, key: `number ${y}`, amount: y };
  return { text, key: `date ${y}-${m}-${d}`, amount: Number.NaN };
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
    text = dropLast(text.trim());
  } while (before !== text);
  return text.replace(/\.$/, '').replaceAll(/\s+/g, ' ').toLowerCase().trim();
}

/**
 * Drops a footnote mark, a bracket or enclosing quotes from the end of a text. The evaluator's expressions, such as
 * `((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$`, take quadratic time; this reads only what it drops.
 */
function dropLast(text: string): string {
  const last = text.slice(-1);
  if (last === ')') return dropBracket(text, ' (', ')');
  // The number of a footnote may be the whole text, any other bracket may not.
  if (last === ']') return dropBracket(text, '[', ']').replace(/^\[\d+\]$/, '');
  if (last === '"') return text.replace(/^"([^"]*)"$/, '$1');
  return /[•♦†‡*#+]/.test(last) ? text.slice(0, -1) : text;
}

/** Drops the last bracket, from its first opening mark on that is not at the start of the text. */
function dropBracket(text: string, open: string, close: string): string {
  const after = text.lastIndexOf(close, text.length - 2) + 1;
  const start = text.indexOf(open, Math.max(1, after));
  return start === -1 ? text : text.slice(0, start);
}
