import { formatDate, readDates } from './dates.ts';
import { numberFromWords } from './number-words.ts';
import { roundedText, roundingAsked } from './rounding.ts';

/**
 * The answer in the form that the question asks for (OV-07): `1,234 apples` becomes `1234` where a number is asked, a list
 * gets its separator and order, a date its pattern, a number its decimals. What fits already, or cannot be told, stays.
 */
export function fitFormat(question: string, answer: string): string {
  const given = answer.trim();
  if (asksForList(question)) return fitList(question, given);
  const date = fitDate(question, given);
  if (date !== undefined) return date;
  if (asksForYesOrNo(question)) {
    const word = /^(yes|no)\b/i.exec(given)?.[1]?.toLowerCase();
    if (word !== undefined) return word === 'yes' ? 'Yes' : 'No';
  }
  if (asksForNumber(question) || isRounded(question, given)) return fitNumber(question, given);
  return fitText(question, given);
}

const LIST =
  /\b(?:comma|semi-?colon)[- ](?:separated|delimited)\b|\b(?:separated?|delimited) (?:by|with) (?:a )?(?:comma|semi-?colon)s?\b/i;

export function asksForList(question: string): boolean {
  return LIST.test(question);
}

const QUANTITY =
  'number|count|total|sum|average|mean|median|difference|product|quotient|remainder|percentage|ratio|value|amount|area|volume|' +
  'perimeter|distance|length|height|width|depth|weight|mass|speed|temperature|age|price|cost|population|year|score|elevation|fare';
const NUMBER = new RegExp(
  [
    String.raw`\bhow (?:many|much)\b`,
    String.raw`\bhow (?:long|far|tall|high|deep|wide|old|heavy|fast|large|big) (?:is|are|was|were|does|do|did|will|would|in)\b`,
    String.raw`\b(?:what|which)(?:'s| is| was| are| were| will be| would be)? (?:the |its |their )?(?:[\w-]+ ){0,4}?(?:${QUANTITY})\b`,
    String.raw`\bnumeric(?:al)?\b[^.?!]{0,30}\b(?:answer|output|result|value)\b`,
    String.raw`\b(?:just|only) (?:give |state |write |the |as )*(?:a |the )?(?:plain |bare |whole )?(?:number|figure|integer)\b`,
    String.raw`\b(?:as|with|in) (?:a |an )?(?:plain |single |whole )?(?:number|integer|decimal|figures|digits)\b`,
    String.raw`\bround(?:ed|ing)?\b.{0,60}\b(?:decimal|nearest|significant|integer|whole)\b`,
  ].join('|'),
  'i',
);
/** What looks like a number question and asks for something that is written with digits and more. */
const NO_NUMBER =
  /\b(?:phone|telephone|serial|version|room|flight|licen[cs]e|model|part|award|grant|registration|catalog(?:ue)?|inventory|order|account) numbers?\b|\b(?:zip|postal|country|area|airport|colou?r) codes?\b|\b(?:isbn|issn|doi)\b/i;

export function asksForNumber(question: string): boolean {
  return NUMBER.test(question) && !NO_NUMBER.test(question);
}

/** Who asks for decimals wants a number, however the question is put. */
function isRounded(question: string, answer: string): boolean {
  return roundingAsked(question) !== undefined && /^[-−]?[$€£]?\s?\d[\d,]*(?:\.\d+)?%?$/.test(answer);
}

const KEEPS_UNIT =
  /\b(?:includ\w*|with|use|using|add|state|give)\b[^.?!]{0,30}(?:\bunits?\b|\bcurrency\b|\$|\bdollar sign\b|\bpercent sign\b|%)/i;
const WITHOUT =
  /\b(?:without|no|not|omit|leave out|don't|never)\b[^.?!]{0,30}(?:\bunits?\b|\bcurrency\b|\$|\bdollar sign\b|\bpercent sign\b|%)/i;

function fitNumber(question: string, answer: string): string {
  if (KEEPS_UNIT.test(question) && !WITHOUT.test(question)) return answer;
  const figures = onlyNumber(question, answer);
  if (figures === undefined) return answer;
  const rounding = roundingAsked(question);
  return rounding === undefined ? figures : roundedText(Number(figures), rounding);
}

const FIGURES = /(?<![\w.])[-−–+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?(?!\d)/gi;

/** The one number of the answer in plain figures; undefined where there is none, or more than one. */
function onlyNumber(question: string, answer: string): string | undefined {
  const inWords = numberFromWords(answer) ?? numberFromWords(answer.replace(/\s+[a-z]+[.]?$/i, ''));
  if (inWords !== undefined && !/\d/.test(answer)) return String(inWords);
  const text = answer.replace(/\([^)]*\)/g, ' ').replace(/[$€£¥]\s*/g, '');
  const [found, ...more] = [...text.matchAll(FIGURES)];
  if (found === undefined || more.length > 0) return undefined;
  const figures = found[0].replaceAll(',', '').replace(/^[−–]/, '-').replace(/^\+/, '');
  const scale = /^\s*(thousand|million|billion|trillion)\b/i
    .exec(text.slice(found.index + found[0].length))?.[1]
    ?.toLowerCase();
  // "How many thousand hours" wants 17 for 17 thousand.
  if (scale === undefined || new RegExp(`\\b${scale}s?\\b`, 'i').test(question)) return figures;
  return String(numberFromWords(`${figures} ${scale}`) ?? figures);
}

function fitList(question: string, answer: string): string {
  const items = answer
    .replace(/^[[{(]([^[\](){}]*)[\])}]$/, '$1')
    .split(/\s*[;\n]\s*|\s*,\s+(?:and\s+|&\s+)?|,(?!\d{3}\b)|\s+and\s+(?=[^,;]*$)/)
    .map((item) =>
      item
        .replace(/^(?:[-*•]|\d+[.)])\s+/, '')
        .replace(/^["'“](.*)["'”]$/, '$1')
        .trim(),
    )
    .filter((item) => item !== '');
  const mark = /\bsemi-?colon/i.test(question) ? ';' : ',';
  const gap = /\b(?:without|no) (?:any )?(?:white ?)?spaces?\b/i.test(question) ? '' : ' ';
  return sortedAsAsked(question, items).join(mark + gap);
}

function sortedAsAsked(question: string, items: readonly string[]): string[] {
  const turned =
    /\b(?:reverse|descending|z to a|decreasing|(?:largest|highest|greatest) (?:first|to))\b/i.test(question)
      ? -1
      : 1;
  if (/\balphabeti(?:cal|cally|ze|zed|se|sed)\b/i.test(question)) {
    return items.toSorted((a, b) => turned * a.localeCompare(b, 'en', { sensitivity: 'base' }));
  }
  const isNumeric = items.every((item) => Number.isFinite(Number(item)));
  if (
    isNumeric &&
    /\b(?:ascending|increasing|descending|decreasing|smallest|lowest|largest|highest|numerical) (?:order|first|to)\b/i.test(
      question,
    )
  ) {
    return items.toSorted((a, b) => turned * (Number(a) - Number(b)));
  }
  return [...items];
}

function fitDate(question: string, answer: string): string | undefined {
  const [date, ...more] = readDates(answer);
  if (date === undefined || more.length > 0) return undefined;
  const pattern = /\b(?:YYYY|YY|MM|M|DD|D)([-/.])(?:MM|M|DD|D)\1(?:YYYY|YY|DD|D)\b/.exec(question)?.[0];
  if (pattern !== undefined) return formatDate(date, pattern);
  if (/\b(?:in |of )?(?:what|which) year\b/i.test(question)) return String(date.year);
  return undefined;
}

function asksForYesOrNo(question: string): boolean {
  const last =
    question
      .trim()
      .split(/(?<=[.!?])\s+/)
      .findLast((sentence) => sentence.endsWith('?')) ?? question;
  return (
    /\byes or no\b/i.test(question) ||
    /^(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should)\b/i.test(last)
  );
}

function fitText(question: string, answer: string): string {
  let text = answer;
  if (/\bfirst name\b[^.?!]{0,10}\bonly\b|\b(?:only|just)\b[^.?!]{0,20}\bfirst name\b/i.test(question))
    text = text.split(/\s+/)[0] ?? text;
  if (
    /\b(?:last|family) name\b[^.?!]{0,10}\bonly\b|\bsurname\b[^.?!]{0,10}\bonly\b|\b(?:only|just)\b[^.?!]{0,20}\b(?:last name|surname|family name)\b/i.test(
      question,
    )
  ) {
    text =
      text
        .replace(/,?\s+(?:Jr|Sr)\.?$/, '')
        .split(/\s+/)
        .at(-1) ?? text;
  }
  if (
    /\b(?:city|town)(?: name)?\b[^.?!]{0,10}\b(?:only|without)\b|\b(?:only|just)\b[^.?!]{0,20}\b(?:city|town)\b/i.test(
      question,
    )
  )
    text = text.split(',')[0] ?? text;
  if (/\bwithout (?:any |the )?articles?\b|\bno articles\b/i.test(question))
    text = text.replace(/^(?:the|an?)\s+/i, '');
  if (/\b(?:in|all) (?:upper ?case|capitals|capital letters|caps)\b/i.test(question))
    text = text.toUpperCase();
  if (/\b(?:in|all) lower ?case\b/i.test(question)) text = text.toLowerCase();
  return text;
}
