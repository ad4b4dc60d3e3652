// Calculations in words: percentages, interest, conversions of units, dates, remainders, other bases. A form of question
// is taken only if it uses every number that the question has: one that is left over is a condition that it ignores.
import { formatDate, parseDate } from '../../tables/values/date.ts';

/** A calculation, and what its result becomes in the answer. */
interface Calculation {
  readonly expression: string;
  readonly toAnswer: (result: string) => string;
}

const NUMERALS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const NUMBER = String.raw`(-?\d+(?:\.\d+)?)`;
const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const DAY_MS = 86_400_000;

const WRITTEN_NUMBER = String.raw`\(*\d[\d,]*(?:\.\d+)?%?\)*`;
/** Matches numbers with operators between them, as long as possible. */
const EXPRESSION = new RegExp(`-?${WRITTEN_NUMBER}(?:\\s*[-+*/^×÷]\\s*${WRITTEN_NUMBER})+`, 'g');

/**
 * Finds the calculation that a question asks for, in words or written with operators. Numbers outside of the latter are
 * `ignored`: they are conditions, so that its result is no answer.
 */
export function findCalculation(
  question: string,
): (Calculation & { readonly ignored: readonly string[] }) | undefined {
  const worded = parseWordedArithmetic(question);
  if (worded !== undefined) return { ...worded, ignored: [] };
  const [written] = [...question.matchAll(EXPRESSION)]
    .map(([text]) => text)
    .sort((a, b) => b.length - a.length);
  if (written === undefined) return undefined;
  const ignored = question.replace(written, ' ').match(/\d[\d.,]*\d|\d/g) ?? [];
  const expression = written.replaceAll('×', '*').replaceAll('÷', '/');
  return { expression, toAnswer: (text) => text, ignored };
}

/** Reads a question as a calculation; undefined if none of the forms fits all of it. */
function parseWordedArithmetic(question: string): Calculation | undefined {
  const { text, digits } = takeRounding(question);
  const round = (result: string): string => {
    const number = Number(result.replace(/[^\d.e+-].*$/, ''));
    if (digits === undefined || !Number.isFinite(number)) return result;
    return (Math.round((number + Number.EPSILON) * 10 ** digits) / 10 ** digits).toFixed(digits);
  };
  const dated = parseDated(text);
  if (dated !== undefined) return dated;
  const based = parseBases(text);
  if (based !== undefined) return based;
  const plain = normalizeNumbers(text);
  for (const [pattern, write] of FORMS) {
    const groups = pattern.exec(plain)?.slice(1);
    if (groups === undefined || !usesAll(plain, groups)) continue;
    const expression = write(groups);
    if (expression !== undefined) return { expression, toAnswer: (result) => round(stripUnit(result)) };
  }
  return undefined;
}

type Form = readonly [pattern: RegExp, write: (groups: readonly string[]) => string | undefined];

const form = (pattern: string, write: Form[1]): Form => [
  new RegExp(pattern.replaceAll('<n>', NUMBER).replaceAll('<p>', `${NUMBER} ?(?:%|per ?cent)`), 'i'),
  write,
];
const LESS =
  '(?:reduced|discount\\w*|marked down|lowered|cut|off|cheaper|decreas\\w*|falls?|fell|drops?|dropped|loses?|lost)';
const MORE =
  '(?:increas\\w*|rais\\w*|rises?|rose|grows?|grew|more expensive|surcharge|marked up|tip|tax|VAT|gains?)';

const FORMS: readonly Form[] = [
  form('<n>[^\\d]*<p>[^\\d]*compound[^\\d]*<n> years?', ([a, p, n]) => `${a} * (1 + ${p} / 100)^${n}`),
  form('<n>[^\\d]*compound[^\\d]*<p>[^\\d]*<n> years?', ([a, p, n]) => `${a} * (1 + ${p} / 100)^${n}`),
  form('<n>[^\\d]*<p>[^\\d]*<n> years?[^\\d]*compound', ([a, p, n]) => `${a} * (1 + ${p} / 100)^${n}`),
  form('<p> of <n>', ([p, a]) => `${p} / 100 * ${a}`),
  form(
    '(?:what|which) (?:percentage|per ?cent) of <n> (?:is|are) <n>',
    ([whole, part]) => `${part} / ${whole} * 100`,
  ),
  form(
    '<n> (?:is|are) (?:what|which) (?:percentage|per ?cent) of <n>',
    ([part, whole]) => `${part} / ${whole} * 100`,
  ),
  form(
    '(?:percentage|per ?cent).*\\bfrom [^\\d]*<n>[^\\d]* to [^\\d]*<n>',
    ([a, b]) => `abs(${b} - ${a}) / ${a} * 100`,
  ),
  form(`<n>[^\\d]*\\b${LESS}\\b[^\\d]*<p>`, ([a, p]) => `${a} * (1 - ${p} / 100)`),
  form(`<n>[^\\d]*\\b${MORE}\\b[^\\d]*<p>`, ([a, p]) => `${a} * (1 + ${p} / 100)`),
  form(`<n>[^\\d]*<p>[^\\d]*\\b${LESS}\\b`, ([a, p]) => `${a} * (1 - ${p} / 100)`),
  form('remainder.*\\b<n>[^\\d]*\\bdivided by[^\\d]*<n>', ([a, b]) => `mod(${a}, ${b})`),
  form('<n> (?:mod|modulo|modulus) <n>', ([a, b]) => `mod(${a}, ${b})`),
  form('\\bsquare root of <n>', ([a]) => `sqrt(${a})`),
  form('\\bcube root of <n>', ([a]) => `cbrt(${a})`),
  form('<n> (?:raised )?to the power (?:of )?<n>', ([a, b]) => `${a}^${b}`),
  form('<n> (squared|cubed)\\b', ([a, how]) => `${a}^${how === 'squared' ? 2 : 3}`),
  form('<n> (plus|minus|times|multiplied by|divided by|added to) <n>', ([a, how = '', b]) => {
    const sign = { plus: '+', 'added to': '+', minus: '-', times: '*', 'multiplied by': '*' }[
      how.toLowerCase()
    ];
    return `${a} ${sign ?? '/'} ${b}`;
  }),
  [
    /\b(sum|product|average|mean|median|factorial) of ((?:-?\d+(?:\.\d+)?(?:, (?:and )?| and )?)+)/i,
    ([how = '', list = '']) => {
      const numbers = list.match(/-?\d+(?:\.\d+)?/g) ?? [];
      const name = { sum: 'sum', product: 'prod', average: 'mean', median: 'median', factorial: 'factorial' }[
        how.toLowerCase()
      ];
      return `${name ?? 'mean'}(${numbers.join(', ')})`;
    },
  ],
  form(
    '(?:convert )?<n> (?:degrees )?(fahrenheit|celsius|kelvin)\\b.*\\b(?:to|in|into|as)\\b.*\\b(fahrenheit|celsius|kelvin)',
    ([a, from = '', to = '']) => `${a} ${writeDegrees(from)} to ${writeDegrees(to)}`,
  ),
  form(
    'how many ([a-z ]+?) (?:are|is|make|equal|correspond to|(?:are )?(?:there )?in) (?:there in )?<n> ([a-z ]+?)(?: to| in)?[?,.;]*$',
    ([to = '', a, from = '']) => writeConversion(a, from, to),
  ),
  form(
    '(?:convert|express|write|what is|what are) <n> ([a-z ]+?) (?:to|in|into|as) ([a-z ]+?)[?,.;]*$',
    ([a, from = '', to = '']) => writeConversion(a, from, to),
  ),
  form('<n> ([a-z ]+?) (?:are|is|equals?) how many ([a-z ]+?)[?,.;]*$', ([a, from = '', to = '']) =>
    writeConversion(a, from, to),
  ),
];

/** Units by the words of questions, as the calculator names them. */
const UNITS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    km: 'kilometers kilometres km',
    m: 'meters metres metre meter m',
    cm: 'centimeters centimetres cm',
    mm: 'millimeters millimetres mm',
    mi: 'miles mile',
    yd: 'yards yard',
    ft: 'feet foot',
    inch: 'inches inch',
    kg: 'kilograms kilogrammes kilos kg',
    g: 'grams grammes g',
    lb: 'pounds pound lbs',
    oz: 'ounces ounce',
    tonne: 'tonnes tonne',
    liter: 'litres liters litre liter',
    ml: 'millilitres milliliters ml',
    gallon: 'gallons gallon',
    pint: 'pints pint',
    second: 'seconds second',
    minute: 'minutes minute',
    hour: 'hours hour',
    day: 'days day',
    week: 'weeks week',
    'mi/hour': 'mph',
    'km/hour': 'km/h kph',
    'm/second': 'm/s',
    acre: 'acres acre',
    hectare: 'hectares hectare',
    byte: 'bytes byte',
    kB: 'kilobytes kilobyte',
    MB: 'megabytes megabyte',
    GB: 'gigabytes gigabyte',
  }).flatMap(([unit, words]) => words.split(' ').map((word) => [word, unit] as const)),
);

function writeDegrees(name: string): string {
  return { f: 'degF', c: 'degC', k: 'K' }[name.charAt(0).toLowerCase()] ?? 'K';
}

function writeConversion(number: string | undefined, from: string, to: string): string | undefined {
  const [source, target] = [from, to].map(findUnit);
  return source === undefined || target === undefined ? undefined : `${number} ${source} to ${target}`;
}

function findUnit(words: string): string | undefined {
  const [over = '', under] = words
    .toLowerCase()
    .replace(/^(?:us|american) | (?:there|exactly)$/g, '')
    .split(' per ');
  const unit = UNITS.get(over.trim());
  if (under === undefined || unit === undefined) return unit;
  const other = UNITS.get(under.trim());
  return other === undefined ? undefined : `${unit}/${other}`;
}

function stripUnit(result: string): string {
  return /^-?[\d.]+(?:e[+-]?\d+)?/.exec(result)?.[0] ?? result;
}

/** Takes the words about rounding out of a question. */
function takeRounding(question: string): { readonly text: string; readonly digits: number | undefined } {
  const pattern =
    /[,.;]?\s*(?:\b(?:and|please)\s+)*(?:\b(?:round|give|state)\w*\s+(?:\w+\s+){0,3}?)?\bto (?:the nearest (?:whole number|integer)|(\w+) (?:decimals?(?: places?)?|digits? after the (?:decimal )?point))|,?\s*\brounded to (\w+) (?:decimals?(?: places?)?)/i;
  const found = pattern.exec(question);
  if (found === null) return { text: question, digits: undefined };
  const word = (found[1] ?? found[2] ?? 'zero').toLowerCase();
  const digits = /^\d$/.test(word) ? Number(word) : NUMERALS.indexOf(word);
  const text = question.replace(found[0], '');
  return { text, digits: digits < 0 ? undefined : digits };
}

/** Writes numbers as the calculator reads them: without separators and currencies, words of small numbers as digits. */
function normalizeNumbers(text: string): string {
  return text
    .replaceAll(/(\d),(?=\d{3}\b)/g, '$1')
    .replaceAll(/[$£€]\s?(?=\d)/g, '')
    .replaceAll(/\b[a-z]+\b/gi, (word) => {
      const at = NUMERALS.indexOf(word.toLowerCase());
      return at < 2 ? word : String(at);
    });
}

function usesAll(text: string, groups: readonly string[]): boolean {
  const all = text.match(/\d+(?:\.\d+)?/g) ?? [];
  const used = groups.join(' ').match(/\d+(?:\.\d+)?/g) ?? [];
  return all.length > 0 && all.length === used.length;
}

const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*';
const DATE = new RegExp(
  String.raw`\d{1,2}(?:st|nd|rd|th)?(?: of)? ${MONTH},? \d{4}|${MONTH} \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{4}-\d{2}-\d{2}`,
  'gi',
);

/** Reads a question about the days between two dates, the date some days away, or the weekday of a date. */
function parseDated(text: string): Calculation | undefined {
  const days = [...text.matchAll(DATE)].map(([date]) => toDay(date));
  const rest = text.replaceAll(DATE, ' ');
  const numbers = normalizeNumbers(rest).match(/\d+/g) ?? [];
  const [first, second] = days;
  if (first === undefined || days.includes(undefined)) return undefined;
  if (second !== undefined) {
    if (days.length > 2 || numbers.length > 0 || !/\b(?:days?|weeks?)\b/i.test(rest)) return undefined;
    const weeks = /\bhow many (?:full |whole )?weeks\b/i.test(rest) ? ' / 7' : '';
    return { expression: `abs(${second} - ${first})${weeks}`, toAnswer: (result) => result };
  }
  if (numbers.length === 0 && /\b(?:week ?day|day of the week|(?:which|what) day)\b/i.test(rest))
    return { expression: `mod(${first} + 4, 7)`, toAnswer: (result) => WEEKDAYS[Number(result)] ?? result };
  const [away] = numbers;
  const direction = /\b(?:days?|weeks?) (after|from|later than|before|prior to)\b/i
    .exec(rest)?.[1]
    ?.toLowerCase();
  if (numbers.length !== 1 || away === undefined || direction === undefined) return undefined;
  const step = /\bweeks?\b/i.test(rest) ? `7 * ${away}` : away;
  const sign = /^(?:before|prior)/.test(direction) ? '-' : '+';
  return { expression: `${first} ${sign} ${step}`, toAnswer: (result) => formatDay(Number(result)) };
}

/** Returns the number of days since 1 January 1970. */
function toDay(date: string): number | undefined {
  const reading = parseDate(date);
  const written = reading === undefined ? undefined : formatDate(reading);
  return written === undefined ? undefined : Date.parse(written.slice(0, 'YYYY-MM-DD'.length)) / DAY_MS;
}

function formatDay(day: number): string {
  const date = new Date(day * DAY_MS);
  const month = date.toLocaleString('en', { month: 'long', timeZone: 'UTC' });
  return `${date.getUTCDate()} ${month} ${date.getUTCFullYear()}`;
}

const BASES: readonly (readonly [RegExp, number])[] = [
  [/\b(?:hex|hexadecimal|base (?:16|sixteen))\b/i, 16],
  [/\b(?:octal|base (?:8|eight))\b/i, 8],
  [/\b(?:binary|base (?:2|two))\b/i, 2],
];

/** Reads a question about a number in another base. */
function parseBases(text: string): Calculation | undefined {
  const base = BASES.find(([pattern]) => pattern.test(text));
  if (base === undefined) return undefined;
  const [pattern, radix] = base;
  const rest = text.replace(pattern, ' ');
  const numbers =
    rest
      .match(/\b(?:0x[\da-f]+|0b[01]+|0o[0-7]+|\d[\da-f]*|(?=[A-F\d]*[A-F])[A-F\d]{2,})\b/gi)
      ?.filter((word) => /\d/.test(word) || word === word.toUpperCase()) ?? [];
  const [number] = numbers;
  if (numbers.length !== 1 || number === undefined) return undefined;
  const toBase = /\b(?:to|in|into|as)\s+(?:a |its )?(?:hex|binary|octal|base)/i.test(text);
  const isDecimal =
    /^\d+$/.test(number) && toBase && !/\bdecimal\b.*\b(?:number|value)?\s*(?:is|of)\b/i.test(text);
  if (isDecimal)
    return { expression: number, toAnswer: (result) => Number(result).toString(radix).toUpperCase() };
  const value = Number.parseInt(number.replace(/^0[xbo]/i, ''), radix);
  return Number.isNaN(value) ? undefined : { expression: String(value), toAnswer: (result) => result };
}
