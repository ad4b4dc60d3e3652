const SMALL = new Map(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
    .split(' ')
    .map((word, value) => [word, value]),
);
const TENS = new Map(
  'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, at) => [word, 10 * (at + 2)]),
);
const SCALES = new Map([
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
  ['trillion', 1e12],
]);
const FRACTIONS = new Map([
  ['half', 2],
  ['halves', 2],
  ['third', 3],
  ['thirds', 3],
  ['quarter', 4],
  ['quarters', 4],
  ['fourth', 4],
  ['fourths', 4],
  ['fifth', 5],
  ['fifths', 5],
  ['sixths', 6],
  ['eighth', 8],
  ['eighths', 8],
  ['tenth', 10],
  ['tenths', 10],
]);

const CARDINAL = [...SMALL.keys(), ...TENS.keys(), ...SCALES.keys(), 'hundred', 'dozen']
  .sort(longestFirst)
  .join('|');
const FRACTION = [...FRACTIONS.keys()].sort(longestFirst).join('|');
const NUMERAL = String.raw`\d[\d,]*(?:\.\d+)?`;
const GROUP = `(?:${CARDINAL})(?:(?:\\s*-\\s*|\\s+and\\s+|\\s+)(?:${CARDINAL}))*`;

const PHRASE = new RegExp(
  [
    // "three and a half", "2 and three quarter", "a third", "two fifths", "half"
    `\\b(?<whole>(?:an?\\s+)?${GROUP}|${NUMERAL})\\s+and\\s+(?<part>an?|${GROUP}|\\d+)[\\s-]+(?<of>${FRACTION})\\b`,
    `\\b(?<count>an?|${GROUP})[\\s-]+(?<nth>${FRACTION})\\b(?!\\s+(?:an?|the)\\s)`,
    // "2.5 million", "3 dozen", "a hundred and five"
    `\\b(?<figure>${NUMERAL})\\s+(?<scale>hundred|dozen|${[...SCALES.keys()].join('|')})\\b`,
    `\\b(?<words>(?:an?\\s+(?=hundred|thousand|million|billion|trillion|dozen))?${GROUP})\\b`,
    `\\bhalf\\s+an?\\b|\\bhalf\\b(?=\\s+of\\b)`,
  ].join('|'),
  'gi',
);

function longestFirst(left: string, right: string): number {
  return right.length - left.length;
}

/** Numbers in words become figures: `three and three quarter days` → `3.75 days`, `one hundred and twelve` → `112`. */
export function figuresForWords(text: string): string {
  let written = '';
  let from = 0;
  for (const match of text.matchAll(PHRASE)) {
    const end = match.index + match[0].length;
    written += text.slice(from, match.index);
    written += isPronoun(text, match.index, end) ? match[0] : figuresFor(match[0], match.groups ?? {});
    from = end;
  }
  return written + text.slice(from);
}

function figuresFor(phrase: string, groups: Readonly<Record<string, string | undefined>>): string {
  if (groups.whole !== undefined) {
    const whole = cardinal(groups.whole);
    const part = fraction(groups.part, groups.of);
    return whole === undefined || part === undefined ? phrase : figure(whole + part);
  }
  if (groups.count !== undefined) return figure(fraction(groups.count, groups.nth)) || phrase;
  if (groups.figure !== undefined) return figure(numeral(groups.figure) * scaleOf(groups.scale ?? ''));
  return groups.words === undefined ? '0.5' : separately(groups.words);
}

/** The number that `text` is as a whole, in words or figures; undefined where it is none. */
export function numberFromWords(text: string): number | undefined {
  const figures = figuresForWords(text.trim());
  return new RegExp(`^-?${NUMERAL}$`).test(figures) ? numeral(figures) : undefined;
}

const ORDINALS = (
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth ' +
  'sixteenth seventeenth eighteenth nineteenth twentieth'
).split(' ');

/** 1 for `first` and `1st`; -1 for `last`, -2 for `second to last`; undefined for what is no ordinal. */
export function ordinalFromWord(word: string): number | undefined {
  const lower = word.toLowerCase().trim();
  if (lower === 'last' || lower === 'final') return -1;
  const fromEnd =
    /^(?:(\S+)[\s-](?:to|from)[\s-](?:the[\s-])?(?:last|end)|(penultimate|next[\s-]to[\s-]last))$/.exec(
      lower,
    );
  if (fromEnd !== null)
    return fromEnd[2] === undefined ? -(ordinalFromWord(fromEnd[1] ?? '') ?? 0) || undefined : -2;
  const digits = /^(\d{1,4})(?:st|nd|rd|th)$/.exec(lower);
  if (digits !== null) return Number(digits[1]);
  const at = ORDINALS.indexOf(lower);
  return at < 0 ? undefined : at + 1;
}

/** A pattern for what {@link ordinalFromWord} reads. */
export const ORDINAL_PATTERN = `(?:(?:second|third|2nd|3rd)[\\s-](?:to|from)[\\s-](?:the[\\s-])?(?:last|end)|penultimate|next[\\s-]to[\\s-]last|last|final|\\d{1,4}(?:st|nd|rd|th)|${ORDINALS.join('|')})`;

/** "which one", "one of them": a word that stands for a thing. */
function isPronoun(text: string, start: number, end: number): boolean {
  if (text.slice(start, end).toLowerCase() !== 'one') return false;
  return (
    /\b(?:which|this|that|each|every|the|no|any|another|last|only)\s+$/i.test(
      text.slice(Math.max(0, start - 10), start),
    ) || /^\s+(?:of|another)\b/i.test(text.slice(end, end + 10))
  );
}

/** "three and five" are two numbers, "a hundred and five" is one. */
function separately(words: string): string {
  const whole = cardinal(words);
  if (whole !== undefined) return figure(whole);
  return words
    .split(/(\s+and\s+|\s+)/)
    .map((part) => (/^\s/.test(part) ? part : figure(cardinal(part)) || part))
    .join('');
}

function fraction(count: string | undefined, of: string | undefined): number | undefined {
  const parts = FRACTIONS.get((of ?? '').toLowerCase());
  const counted = count === undefined || /^an?$/i.test(count) ? 1 : cardinal(count);
  return parts === undefined || counted === undefined ? undefined : counted / parts;
}

function cardinal(words: string): number | undefined {
  if (/^\d/.test(words)) return numeral(words);
  const list = words
    .toLowerCase()
    .replace(/^an?\s+/, 'one ')
    .split(/[\s-]+/)
    .filter((word) => word !== '');
  let total = 0;
  let group: number | undefined;
  let last: 'small' | 'tens' | 'hundred' | 'scale' | undefined;
  for (const [index, word] of list.entries()) {
    if (word === 'and') {
      // Between the parts of one number only: "two hundred and five".
      if ((last !== 'hundred' && last !== 'scale') || index === list.length - 1) return undefined;
      continue;
    }
    const small = SMALL.get(word);
    const tens = TENS.get(word);
    if (small !== undefined) {
      if (last === 'small' || (last === 'tens' && (small === 0 || small > 9))) return undefined;
      group = (group ?? 0) + small;
      last = 'small';
    } else if (tens !== undefined) {
      if (last === 'small' || last === 'tens') return undefined;
      group = (group ?? 0) + tens;
      last = 'tens';
    } else if (word === 'hundred') {
      group = (group ?? 1) * 100;
      last = 'hundred';
    } else {
      total += (group ?? 1) * scaleOf(word);
      group = undefined;
      last = 'scale';
    }
  }
  return last === undefined ? undefined : total + (group ?? 0);
}

function scaleOf(word: string): number {
  const lower = word.toLowerCase();
  return lower === 'dozen' ? 12 : lower === 'hundred' ? 100 : (SCALES.get(lower) ?? 1);
}

function numeral(text: string): number {
  return Number(text.replaceAll(',', ''));
}

function figure(value: number | undefined): string {
  return value === undefined ? '' : String(Number(value.toPrecision(15)));
}
