const SIGNS: Readonly<Record<string, string>> = {
  '×': '*',
  '✕': '*',
  '·': '*',
  '⋅': '*',
  '∙': '*',
  '÷': '/',
  '∕': '/',
  '⁄': '/',
  '−': '-',
  '–': '-',
  '—': '-',
  '≤': '<=',
  '≥': '>=',
  '≠': '!=',
  π: ' pi ',
  '∞': ' Infinity ',
  µ: 'u',
  μ: 'u',
};
/** Speeds, which the library has no names for. */
const SPEEDS: Readonly<Record<string, string>> = {
  mph: '(mi/h)',
  kph: '(km/h)',
  kmh: '(km/h)',
  knot: '(nmi/h)',
  knots: '(nmi/h)',
};
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
/** Words between two quantities that are no units, so that `5 ft 3 in` is a sum and `5 mod 3` is not. */
const OPERATOR_WORDS = new Set(['to', 'in', 'mod', 'and', 'or', 'xor', 'not', 'of', 'e', 'pi', 'i']);

/**
 * Converts a calculation as people and models write it to the notation of the evaluator: `2 × 3²`, `20% of 150`,
 * `1,234.5`, `5 ft 3 in`, `√2`, `25 °C to °F`, `2 + 2 = ?`. A comma is a thousands separator except in a function's
 * arguments and in a list, since `max(1,234)` has two arguments.
 */
export function normalizeNotation(expression: string): string {
  const signs = expression.replace(/[^\0-\x7f]/gu, (sign) => SIGNS[sign] ?? sign);
  const plain = signs
    .replace(/[\u00a0\u2000-\u200a\u202f]/g, ' ')
    .replaceAll('**', '^')
    .replace(/°\s*([CF])\b/g, ' deg$1')
    .replaceAll('°', ' deg ')
    .replace(
      /[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g,
      (digits) => `^${[...digits].map((digit) => SUPERSCRIPTS.indexOf(digit)).join('')}`,
    )
    .replace(/√\s*([\d.]+|[A-Za-z]\w*)/g, 'sqrt($1)')
    .replaceAll('√', 'sqrt')
    .replace(/%\s*of\b/gi, '% *')
    .replace(/(?<![A-Za-z_])(?:mph|kph|kmh|knots?)\b/g, (speed) => SPEEDS[speed] ?? speed)
    .replace(/\s*=\s*\??\s*$/, '');
  return joinQuantities(stripThousands(plain)).trim();
}

/** Removes thousands separators (`1,234.5` → `1234.5`), but keeps commas between arguments or elements. */
function stripThousands(text: string): string {
  const separates: boolean[] = [];
  let plain = '';
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (sign === '(') separates.push(/[A-Za-z_]\w*\s*$/.test(text.slice(0, at)));
    else if (sign === '[') separates.push(true);
    else if (sign === ')' || sign === ']') separates.pop();
    const grouped = /^\d{1,3}(?:,\d{3})+(?![\d,])/.exec(text.slice(at, at + 64))?.[0];
    if (grouped !== undefined && separates.at(-1) !== true && !/[\w.,]$/.test(plain)) {
      plain += grouped.replaceAll(',', '');
      at += grouped.length - 1;
    } else {
      plain += sign;
    }
  }
  return plain;
}

/** Converts `5 ft 3 in` to `(5 ft + 3 in)`: side by side, the evaluator would multiply them. */
function joinQuantities(text: string): string {
  return text.replace(
    /(?<![\w.^*/])\d[\d.]*\s*[A-Za-z]+(?:\s+\d[\d.]*\s*[A-Za-z]+)+(?![\w(])/g,
    (quantities) => {
      const parts = quantities.match(/\d[\d.]*\s*[A-Za-z]+/g) ?? [];
      const last = parts.length - 1;
      // `in` is a unit at the end of the quantities, and an operator elsewhere.
      const isUnit = (part: string, index: number) => {
        const word = part.replace(/^[\d.\s]+/, '');
        return word === 'in' ? index === last : !OPERATOR_WORDS.has(word);
      };
      return parts.every(isUnit) ? `(${parts.join(' + ')})` : quantities;
    },
  );
}
