// Kinds of answers that their form shows: a question about a temperature is answered by a temperature, and a text without
// one does not answer it. Questions after names, places, reasons and things have no such form.
import type { Question } from './question.ts';
import { rememberTexts } from './remember.ts';

/** A kind of answer, and the form of its values. */
export interface AnswerKind {
  /** Its name, for messages. */
  readonly name: string;
  /** Matches the values of the kind in a text without capitals; global. */
  readonly values: RegExp;
  /** `exact`: an answer is a value; `part`: it has one in it; `none`: it has none in it. */
  readonly holds: 'exact' | 'part' | 'none';
  /** Matches what looks like a value and is none, in the text as it is; global. */
  readonly except?: RegExp;
}

/** A value in a text; offsets are UTF-16, `end` is exclusive. */
interface Value {
  readonly start: number;
  readonly end: number;
}

// Each text can be taken in one way only ("twenty-one" is two words), so that a hostile document costs no time.
const NUMBER_WORD =
  '(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|' +
  '(?:twen|thir|for|fif|six|seven|eigh|nine)ty|half|a half|dozens?|hundreds?|thousands?|millions?|billions?)';
const DIGITS = "[-−+]?\\d{1,3}(?:[ ,.’']\\d{3})+(?:[.,]\\d+)?|[-−+]?\\d+(?:[.,:]\\d+)?(?:\\s?[½¼¾])?|[½¼¾]";
const SCALE = '(?:\\s(?:dozen|hundred|thousand|million|billion|trillion|m|bn|k)\\b)?';
const AMOUNT = `(?:(?:${DIGITS})${SCALE}|(?:half|quarter of) an?|${NUMBER_WORD}(?:[ -]${NUMBER_WORD}){0,12})`;
/** A number or a range of numbers. */
const NUMBER = `${AMOUNT}(?:\\s?(?:[-–—]|to|or|and|by|x|×)\\s?${AMOUNT})?`;

/**
 * Compiles the values of a kind: a number with a unit after it, or other forms. The flag `i` would make the compilation, which every
 * agent waits for, take three times as long.
 */
const form = (...parts: string[]): RegExp =>
  new RegExp(`(?<![\\p{L}\\d])(?:${parts.join('|')})(?![\\p{L}\\d])`, 'gu');
const withUnit = (units: string): string => `${NUMBER}(?:\\s|-)?(?:${units})`;

const TIME_UNITS =
  "(?:calendar |working |business )?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|min|hours?|hrs?|h|days?|nights?|weeks?|months?|quarters?|years?|yrs?|decades?|centur(?:y|ies))’?'?";
const LENGTH_UNITS =
  '(?:square |cubic )?(?:mm|cm|dm|m|km|metres?|meters?|kilomet(?:re|er)s?|centimet(?:re|er)s?|millimet(?:re|er)s?|miles?|mi|feet|foot|ft|inch(?:es)?|in|yards?|yd|nautical miles?|acres?|hectares?|ha|m²|km²|m2|km2)';
const WEIGHT_UNITS =
  '(?:mg|g|kg|t|lb|lbs|oz|grams?|grammes?|kilograms?|kilos?|tons?|tonnes?|pounds?|ounces?)';
const CURRENCY = '(?:[$£€¥₹]|us\\$|a\\$|c\\$|(?:usd|eur|gbp|chf|sek|nok|dkk|pln|czk|jpy|inr|cad|aud)\\b)';
const CURRENCY_WORDS =
  '(?:us |canadian |australian )?(?:dollars?|euros?|pounds?|cents?|pence|p|francs?|kron(?:a|or|er)|crowns?|yen|rupees?|zlotys?|marks?|lire|guineas|shillings)';
const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const DAY = '(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tues?|wed|thu(?:rs)?|fri|sat|sun)';
const CLOCK =
  '\\d{1,2}[:.]\\d{2}(?::\\d{2})?(?:\\s?[ap](?:m|\\.m\\.))?|\\d{1,2}\\s?[ap](?:m|\\.m\\.)|noon|midnight';
const DATE = `(?:${DAY},? )?(?:the )?\\d{1,2}(?:st|nd|rd|th)?(?: of)? ${MONTH}\\.?(?:,? \\d{4})?|${MONTH}\\.? \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?|\\d{4}-\\d{2}-\\d{2}|\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}`;

const KINDS = {
  temperature: {
    name: 'temperature',
    values: form(
      withUnit('°\\s?[cfk]?|º\\s?[cf]?|degrees?(?: (?:celsius|fahrenheit|centigrade|[cf]))?|℃|℉'),
      'gas mark \\d+',
    ),
    holds: 'exact',
  },
  duration: {
    name: 'duration',
    values: form(
      withUnit(TIME_UNITS),
      '(?:an?|the whole|all) (?:second|minute|hour|day|night|week|month|year|decade|century)',
    ),
    holds: 'exact',
  },
  length: { name: 'length', values: form(withUnit(LENGTH_UNITS)), holds: 'exact' },
  span: {
    name: 'duration or a length',
    values: form(
      withUnit(`${TIME_UNITS}|${LENGTH_UNITS}`),
      '(?:an?|the whole|all) (?:second|minute|hour|day|night|week|month|year|decade|century)',
    ),
    holds: 'exact',
  },
  weight: { name: 'weight', values: form(withUnit(WEIGHT_UNITS)), holds: 'exact' },
  money: {
    name: 'amount of money',
    values: form(
      `${CURRENCY}\\s?${NUMBER}`,
      withUnit(`${CURRENCY}|${CURRENCY_WORDS}`),
      '\\d+[.,]\\d{2}',
      'free(?: of charge)?',
    ),
    holds: 'exact',
  },
  percentage: {
    name: 'percentage',
    values: form(
      withUnit('%|per ?cent|percentage points'),
      '(?:a |one |two |three )?(?:half|third|quarter|fifth)s?',
    ),
    holds: 'exact',
  },
  phone: {
    name: 'phone number',
    values:
      /(?<![\p{L}\d.:/-])(?!\(?\d{4}-\d\d-\d\d)(?:\+\s?)?\(?\d{2,5}\)?(?:[ /.-]{1,2}\(?\d{2,8}\)?){1,5}(?![\p{L}\d:]|[.-]\d)/gu,
    holds: 'exact',
  },
  email: {
    name: 'e-mail address',
    values: /[\p{L}\d._%+-]{1,64}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){1,8}/gu,
    holds: 'exact',
  },
  clock: { name: 'time of day', values: form(CLOCK), holds: 'exact' },
  year: {
    name: 'year',
    values: form(
      "(?:1\\d|20)\\d\\d(?:[-–/]\\d{2,4})?(?:s|’s|'s)?|\\d{1,4} (?:bce?|ad|ce)|(?:ad|ce) \\d{1,4}",
    ),
    holds: 'exact',
  },
  day: { name: 'day', values: form(DATE, `${DAY}(?:[-–]${DAY})?`, `${MONTH}\\.? \\d{4}`), holds: 'exact' },
  number: {
    name: 'number',
    values: form(NUMBER, 'no|none|several|many|few|both'),
    holds: 'exact',
    // Dates, and numbers that are part of a name: "§ 7", "Weir Lane 3".
    except: new RegExp(
      `(?<![\\p{L}\\d])(?i:${DATE}|(?:in|since|from|until|during|after|before|between) (?:1\\d|20)\\d\\d(?![\\d,.]\\d))(?![\\p{L}\\d])|§+ ?\\d+|(?<=\\S )\\p{Lu}\\p{Ll}{1,20} \\d{1,3}(?!\\d|[,.]\\d| \\p{Ll})`,
      'gu',
    ),
  },
  age: {
    name: 'age',
    values: form(`${withUnit(TIME_UNITS)}(?:[ -](?:old|of age))?`, '(?<![\\d–-])\\d{1,3}(?![\\d–-])'),
    holds: 'exact',
  },
  moment: {
    name: 'date or a time',
    values: form(
      CLOCK,
      DATE,
      DAY,
      `${MONTH}\\.?`,
      '(?:1\\d|20)\\d\\d(?:s|’s)?|\\d{1,4} (?:bce?|ad|ce)|(?:ad|ce|c\\.?) ?\\d{1,4}',
      '(?:early |mid-?|late )?(?:\\d{1,2}(?:st|nd|rd|th)|\\p{L}+th|first|second|third) (?:century|millennium)',
      'spring|summer|autumn|winter|today|tomorrow|yesterday|tonight|morning|afternoon|evening|night|daily|weekly|monthly|annually|yearly',
      `${NUMBER} (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|centuries)`,
      'after|before|during|until|since|when|while|once|upon|every|time|era|period|age|week|month|year|decade|century',
    ),
    holds: 'part',
  },
  reason: {
    name: 'reason',
    values:
      /(?<=\b(?:because(?: of)?|due to|owing to|thanks to|on account of|as a result of)\s)(?!of\b)[^.;]+|(?<=[^\d\s]: )[^.;:]+$/gu,
    holds: 'exact',
  },
  person: {
    name: 'person',
    values:
      /\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|febr)uary|july|(?:sept|nov|dec)ember|october)\b/gu,
    holds: 'none',
  },
  place: { name: 'place', values: form(CLOCK, DATE, `${CURRENCY}\\s?${NUMBER}`), holds: 'none' },
} as const satisfies Record<string, AnswerKind>;

const FOCUS_KINDS: readonly (readonly [RegExp, AnswerKind])[] = [
  [/^temperatures?$/, KINDS.temperature],
  [
    /^(?:prices?|costs?|fees?|fares?|rent|salary|wages?|deposit|surcharge|premium|revenues?|budget)$/,
    KINDS.money,
  ],
  [/^(?:percentage|percent)$/, KINDS.percentage],
  [/^(?:duration)$/, KINDS.duration],
  [/^(?:population|attendance)$/, KINDS.number],
  [/^(?:height|width|depth|distance|diameter)$/, KINDS.length],
  [/^weight$/, KINDS.weight],
  [/^age$/, KINDS.age],
  [/^year$/, KINDS.year],
  [/^(?:date|weekday)$/, KINDS.day],
];

/** Returns the kind of the answer to a question; undefined if the form of the answer does not show it. */
export function findAnswerKind({ kind, focus, next, text }: Question): AnswerKind | undefined {
  const asked = text.toLowerCase();
  const has = (pattern: RegExp): boolean => pattern.test(asked);
  if (kind === 'degree') {
    if (next === 'hot' || next === 'cold') return KINDS.temperature;
    if (next === 'long') return has(/\bhow long (?:has|have|had)\b/) ? undefined : KINDS.span;
    if (
      has(
        /\bhow (?:high|large|big) (?:is|are|was|were) (?:the |a |an )?(?:\S+ ){0,3}(?:price|cost|fee|fare|rent|salary|wage|deposit|surcharge|premium|fine|penalty)s?\b/,
      )
    )
      return KINDS.money;
    if (/^(?:far|tall|high|wide|deep)$/.test(next)) return KINDS.length;
    if (next === 'old') return KINDS.age;
    if (/^(?:large|big)$/.test(next)) return KINDS.number;
    if (next === 'heavy') return KINDS.weight;
    return undefined;
  }
  if (kind === 'count') {
    if (/^degrees?$/.test(focus)) return KINDS.temperature;
    return /^per ?cent$/.test(focus) ? KINDS.percentage : KINDS.number;
  }
  if (kind === 'amount')
    return /^(?:money|dollars?|euros?|pounds?)$/.test(focus) ||
      has(/\bhow much (?:is|are|was|were)\b/) ||
      has(
        /\bhow much (?:money|(?:do|does|did|will|would|must|should|can) .*\b(?:cost|costs|pay|paid|charged?|spend|spent|price|priced|worth|earn|earned|owe|owed|sell|sold|fined?)\b)/,
      )
      ? KINDS.money
      : undefined;
  if (kind === 'when') return has(/\b(?:what|which)\b/) ? undefined : KINDS.moment;
  if (kind === 'who') return KINDS.person;
  if (kind === 'why') return KINDS.reason;
  if (kind === 'where') return KINDS.place;
  if (kind === 'how')
    return has(/\bhow (?:hot|cold|warm)\b/)
      ? KINDS.temperature
      : has(/\bby (?:tele)?phone\b/)
        ? KINDS.phone
        : undefined;
  if (kind !== 'what') return undefined;
  if (has(/\b(?:phone|telephone|fax|mobile) number\b|\bnumber\b.*\b(?:call|dial|ring|phone)\b/))
    return KINDS.phone;
  if (has(/\be-?mail address\b/)) return KINDS.email;
  if (has(/\bwhat time\b|\bwhich time of day\b/)) return KINDS.clock;
  if (
    /^(?:sum|amount)$/.test(focus) &&
    has(/\b(?:pa(?:y|id)|cost|charged?|billed|invoiced?|owed?|refund|liab|donat|invest|fund|fine)/)
  )
    return KINDS.money;
  if (has(/\bwhat (?:do|does|did|will|would) .*\bcosts?\b/)) return KINDS.money;
  if (has(/\b(?:what|which) day of the (?:week|month)\b/)) return KINDS.day;
  return FOCUS_KINDS.find(([pattern]) => pattern.test(focus))?.[1];
}

/** Lists the values of a kind in a sentence. */
export function listValues(kind: AnswerKind, sentence: string): readonly Value[] {
  let list = listsOfKinds.get(kind);
  if (list === undefined) {
    list = rememberTexts((text) => {
      const others = kind.except === undefined ? [] : findAll(kind.except, text);
      return findAll(kind.values, lowerCase(text)).filter(
        ({ start, end }) => !others.some((other) => start < other.end && other.start < end),
      );
    });
    // V8 compiles an expression twice, for its first and for later uses; for a long text it takes the second way at once.
    for (const pattern of [kind.values, kind.except]) pattern?.test(LONG_BLANK);
    listsOfKinds.set(kind, list);
  }
  return list(sentence);
}

const LONG_BLANK = ' '.repeat(1000);

function findAll(pattern: RegExp, text: string): Value[] {
  const found: Value[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
    found.push({ start: match.index, end: pattern.lastIndex });
  return found;
}

/** Writes a text in lower case without moving a character, and an old s as a new one, as the flag `i` of an expression does. */
function lowerCase(text: string): string {
  return text.replaceAll('İ', 'ı').toLowerCase().replaceAll('ſ', 's');
}

const listsOfKinds = new Map<AnswerKind, (sentence: string) => readonly Value[]>();

/** Returns true if a cell may answer: its unit may stand in the column's title, so that a number does for most kinds. */
export function mayAnswer({ kind, values }: { kind: AnswerKind; values: readonly string[] }): boolean {
  const has = (text: string): boolean => listValues(kind, text).length > 0;
  if (kind.holds === 'none') return !values.some((text) => /^[\d.,:\s]+$/.test(text));
  return values.every((text) => has(text) || (kind.holds === 'exact' && /\d/.test(text)));
}
