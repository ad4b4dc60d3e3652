import { hashWord } from '../hash.ts';
import { rememberTexts } from '../remember.ts';
import { stemWord } from './stem.ts';
import { loadTagger } from './tag-model.ts';
import { findCoarseClass, findFineClass, hashRow } from './vectors.ts';
import { isCapital, MONTHS } from './words.ts';

/** Universal part-of-speech tags, as wink-nlp names them; a tag's number is its index here. */
export const TAGS = [
  'ADJ',
  'ADP',
  'ADV',
  'AUX',
  'CCONJ',
  'DET',
  'INTJ',
  'NOUN',
  'NUM',
  'PART',
  'PRON',
  'PROPN',
  'PUNCT',
  'SCONJ',
  'SYM',
  'VERB',
  'X',
] as const;
export type Tag = (typeof TAGS)[number];

/** One token of a sentence with everything that features need; as numbers, because features are hashed by number. */
export type Token = {
  text: string;
  lower: string;
  stem: string;
  start: number;
  end: number;
  tag: number;
  capital: boolean;
  digit: boolean;
  row: number;
  fine: number;
  coarse: number;
  lowerHash: number;
  stemHash: number;
  /** Bits of MARK: hints at the kind of answer. */
  marks: number;
};

export const MARK = { month: 1, year: 2, money: 4, percent: 8, numeral: 16, quote: 32, list: 64 };

const NUMERALS = new Set(
  (
    'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen ' +
    'nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half'
  ).split(' '),
);
const MONEY = /^(?:[$£€¥]|dollars?|pounds?|euros?|cents?|usd|yen)$/;
const PERCENT = /^(?:%|percent|percentage)$/;
const YEAR = /^(?:1\d{3}|20\d{2})$/;

function classifyMarks(text: string, lower: string, capital: boolean): number {
  let marks = 0;
  if (capital && MONTHS.has(lower)) marks |= MARK.month;
  if (YEAR.test(text)) marks |= MARK.year;
  if (MONEY.test(lower)) marks |= MARK.money;
  if (PERCENT.test(lower)) marks |= MARK.percent;
  if (NUMERALS.has(lower)) marks |= MARK.numeral;
  if (/^["“”]$/.test(text)) marks |= MARK.quote;
  if (lower === ',' || lower === 'and' || lower === 'or') marks |= MARK.list;
  return marks;
}

let tagger: ReturnType<typeof loadTagger> | undefined;
const TAG_NUMBERS = new Map<string, number>(TAGS.map((tag, index) => [tag, index]));

/** Properties of a token that do not depend on its position. */
type TokenForm = Omit<Token, 'start' | 'end' | 'tag'>;

// Maximum remembered token forms. Most words come again; the tagger itself keeps every word it has seen.
const MAX_FORMS = 20_000;
const forms = new Map<string, TokenForm>();

function readTokenForm(text: string): TokenForm {
  const known = forms.get(text);
  if (known !== undefined) return known;
  const lower = text.toLowerCase();
  const lowerHash = hashWord(lower);
  const row = hashRow(lowerHash);
  const root = stemWord(lower);
  const capital = isCapital(text);
  const form = {
    text,
    lower,
    stem: root,
    capital,
    digit: /^\d/.test(text),
    row,
    fine: findFineClass(row),
    coarse: findCoarseClass(row),
    lowerHash,
    stemHash: hashWord(root),
    marks: classifyMarks(text, lower, capital),
  };
  if (forms.size === MAX_FORMS) forms.clear();
  forms.set(text, form);
  return form;
}

/** Cuts a sentence into tagged tokens; offsets are UTF-16. */
export const tagWords: (sentence: string) => readonly Token[] = rememberTexts(readTokens);

function readTokens(sentence: string): Token[] {
  tagger ??= loadTagger();
  const tokens = tagger.readDoc(sentence).tokens();
  const tags = tokens.out(tagger.its.pos);
  const result: Token[] = [];
  let from = 0;
  for (const [index, text] of tokens.out().entries()) {
    const start = sentence.indexOf(text, from);
    if (start < 0) continue;
    from = start + text.length;
    const form = readTokenForm(text);
    result.push({
      text,
      lower: form.lower,
      stem: form.stem,
      start,
      end: from,
      tag: TAG_NUMBERS.get(String(tags[index])) ?? TAGS.length - 1,
      capital: form.capital,
      digit: form.digit,
      row: form.row,
      fine: form.fine,
      coarse: form.coarse,
      lowerHash: form.lowerHash,
      stemHash: form.stemHash,
      marks: form.marks,
    });
  }
  return result;
}
