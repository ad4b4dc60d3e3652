/**
 * Minimum characters of an answer that is also found inside words ("Guatemala" in "Guatemalan"); a shorter one is inside too many
 * of them.
 */
const MIN_INSIDE_CHARACTERS = 6;

/** Minimum characters of a list item that counts as an answer by itself; shorter ones occur in any text. */
const MIN_ITEM_CHARACTERS = 3;

/**
 * Returns the parts of the correct answer and the names, numbers and quotations of the question that `text` reveals (OV-12,
 * C-12). Case, accents, punctuation and the format of numbers are ignored. An answer that is a common word (no, one, May) counts
 * only in phrases that state it, because any advice may contain the word. This guards the store but proves nothing: a paraphrase
 * passes it.
 */
export function findLeaks(text: string, question: string, answers: readonly string[]): string[] {
  const readings = listReadings(text).map(splitWords);
  const told = [...new Set(answers.flatMap(withItems))].filter((answer) =>
    readings.some((words) => hasAnswer(words, answer)),
  );
  const named = findNames(question).filter((name) =>
    readings.some((words) => hasPhrase(words, name.words, name.isIn)),
  );
  return [...told, ...named.map((name) => name.text)];
}

function withItems(answer: string): string[] {
  const items = answer.split(/[,;]/).map((item) => item.trim());
  return [answer, ...items.filter((item) => item.length >= MIN_ITEM_CHARACTERS && items.length > 1)];
}

function hasAnswer(words: readonly Word[], answer: string): boolean {
  return listReadings(answer).some((reading) => {
    const all = splitWords(reading);
    const sought = all.length > 1 && /^(a|an|the)$/.test(all[0]?.key ?? '') ? all.slice(1) : all;
    const keys = sought.map(({ key }) => key);
    const [only = '', ...others] = keys;
    if (only === '') return false;
    if (others.length === 0 && isCommon(only)) return isStated(words, only);
    const squeezed = keys.join('');
    if (squeezed.length >= MIN_INSIDE_CHARACTERS && /\p{L}/u.test(squeezed))
      return hasSqueezed(words, keys, squeezed);
    return hasPhrase(words, keys, 'anywhere');
  });
}

/**
 * Tells if the letters of an answer occur in order: inside one word ("Guatemalan"), or as a phrase of whole words whose spaces and
 * endings may differ. Letters that begin in the middle of one word and end in another are no phrase.
 */
function hasSqueezed(words: readonly Word[], keys: readonly string[], squeezed: string): boolean {
  if (words.some(({ key }) => key.includes(squeezed))) return true;
  return words.some((_, start) => {
    let joined = '';
    for (let end = start; end < words.length && joined.length < squeezed.length; end++) {
      joined += words[end]?.key ?? '';
      if (joined === squeezed) return true;
      if (end - start + 1 === keys.length && joined.startsWith(squeezed)) return true;
    }
    return false;
  });
}

/** Words that any advice may contain. If one of them is the answer, only a phrase that states it reveals it. */
const COMMON = new Set(
  (
    'may might must more most less least few many much none never only same other others first second last next left right true ' +
    'false two be been being than then so such now long short high low large small new old open close up down over under out off into ' +
    'yes too very will do well per here them his her us me him back even still if them march'
  ).split(' '),
);

/** Tells if a word is common. The key of "two" is 2. */
const isCommon = (key: string) =>
  COMMON.has(key) || STARTERS.has(key) || key === '2' || (key.length === 1 && /\p{L}/u.test(key));

/** Words before an answer that state it, if the sentence ends with it. */
const STATING = new Set(
  'is was be are were been being equals answer answers answered said says say gives gave returns true correct right option choice'.split(
    ' ',
  ),
);

/**
 * Tells if a common word is stated as an answer: between quotation marks or brackets, with a capital inside a sentence, at the end
 * of "… is", or after "option".
 */
function isStated(words: readonly Word[], key: string): boolean {
  return words.some((word, index) => {
    if (word.key !== key) return false;
    const before = words[index - 1]?.key ?? '';
    const after = words[index + 1]?.gap ?? '.';
    const isMarked = /["'“”‘’«»([{*`]$/.test(word.gap) && /^["'“”‘’«»)\]}*`]/.test(after);
    const isEnd = /^\s*[.,;:!?)"\n]/.test(after);
    const isAfterStatement = STATING.has(before) && /^[\s:="'“]*$/.test(word.gap);
    const isChoice = before === 'option' || before === 'choice';
    return (
      isStanding(word, 'capital inside a sentence') || isMarked || isChoice || (isAfterStatement && isEnd)
    );
  });
}

/** A name in a question. */
interface Name {
  readonly text: string;
  readonly words: readonly string[];
  /** Condition under which its words in another text are the same name. */
  readonly isIn: Standing;
}

/** Largest number that counts as common: any advice may contain it ("check two sources"). */
const MAX_COMMON_NUMBER = 9;

/**
 * Maximum words of a quotation that counts as a name. A longer one is a text to work on, and names in its sentences are found by
 * themselves.
 */
const MAX_QUOTED_WORDS = 12;

/** Sources, formats and languages. Advice is about them, and they reveal nothing of a question. */
const GENERAL = new Set(
  (
    'wikipedia google youtube arxiv github internet web excel word powerpoint python javascript java pdf png jpg jpeg gif csv tsv ' +
    'xls xlsx ods xml json jsonl html docx pptx txt zip mp3 mp4 wav url http https api ip ascii unicode ocr sql english i ok'
  ).split(' '),
);

/** Words at the beginning of sentences that are not names. */
const STARTERS = new Set(
  (
    'a an the this that these those there here it its he she they we you i in on at of for from to by with without as if when ' +
    'where while who whom whose what which why how according after before during between among given using consider assume suppose ' +
    'find give list name tell write compute calculate count determine identify return provide answer please can could do does ' +
    'did is are was were will would should has have had my our your and or but not all each every some any no one both let round ' +
    'use look read review examine open attached also only just note hint'
  ).split(' '),
);

const CONNECTORS = new Set([
  'of',
  'the',
  'de',
  'del',
  'della',
  'da',
  'di',
  'la',
  'le',
  'van',
  'von',
  'der',
  'den',
]);

/**
 * Finds the names, numbers, quotations, file names and addresses of a question by their spelling. There is no dictionary and no
 * model here, so a name without a capital is missed, and any other word with a capital counts as one.
 */
function findNames(question: string): Name[] {
  const names = new Map<string, Name>();
  const add = (words: readonly string[], isIn: Standing) => {
    const text = words.join(' ');
    // If a name is found twice, the looser condition applies.
    if (words.length > 0 && (isIn === 'anywhere' || !names.has(text))) names.set(text, { text, words, isIn });
  };
  for (const reading of listReadings(question)) {
    for (const quoted of listSpelledOut(reading)) {
      const keys = splitWords(quoted).map(({ key }) => key);
      const tellsNothing = keys.every((key) => GENERAL.has(key) || STARTERS.has(key));
      if (keys.length <= MAX_QUOTED_WORDS && !tellsNothing) add(keys, 'anywhere');
    }
    const words = splitWords(reading);
    for (const { key, isNumber } of words) {
      const isCode = !isNumber && key.length >= 4 && /\d/.test(key) && /\p{L}/u.test(key);
      if (isCode || (isNumber && !(Number(key) <= MAX_COMMON_NUMBER && Number.isInteger(Number(key))))) {
        add([key], 'anywhere');
      }
    }
    for (const run of groupCapitalRuns(words)) addRun(run, add);
  }
  return [...names.values()];
}

/** Returns quotations, and words with dots inside: `data.xlsx`, `www.example.org`. */
function listSpelledOut(text: string): string[] {
  const quoted = [
    ...text.matchAll(
      /"([^"\n]+)"|“([^”\n]+)”|«([^»\n]+)»|(?<![\p{L}\p{N}])['‘]([^'’\n]+)['’](?![\p{L}\p{N}])/gu,
    ),
  ].map(([, ...groups]) => groups.find((group) => group !== undefined) ?? '');
  const dotted = [...text.matchAll(/[\p{L}\p{N}_-]{2,}(?:\.[\p{L}\p{N}_-]{2,})+/gu)]
    .map(([found]) => found)
    .filter((found) => /\p{L}/u.test(found));
  return [...quoted, ...dotted];
}

function addRun(run: readonly Word[], add: (words: readonly string[], isIn: Standing) => void): void {
  const [first] = run;
  if (first === undefined) return;
  const keys = run.map(({ key }) => key);
  if (!keys.some(isTelling)) return;
  if (keys.length > 1) {
    add(keys, 'anywhere');
    // A part of a name is the name again if it has its capital: "Leicester", but not "a university".
    for (const key of keys)
      if (key.length >= 3 && !CONNECTORS.has(key) && isTelling(key)) add([key], 'capital');
  } else if (first.key.length > 1) {
    const isAnyWord = first.beginsSentence || isCommon(first.key);
    add(keys, isAnyWord ? 'capital inside a sentence' : 'anywhere');
  }
}

function isTelling(key: string): boolean {
  return !GENERAL.has(key) && !STARTERS.has(key) && !/^\d/.test(key);
}

/** Groups capitalized words that belong together: "University of Leicester", "J. K. Rowling". */
function groupCapitalRuns(words: readonly Word[]): Word[][] {
  const lettered = words.filter(({ isNumber }) => !isNumber);
  // Capitals say nothing in a question that is written in capitals.
  if (lettered.length > 4 && lettered.filter(({ hasCapital }) => hasCapital).length > 0.7 * lettered.length)
    return [];
  const runs: Word[][] = [];
  let run: Word[] = [];
  const finish = () => {
    while (CONNECTORS.has(run.at(-1)?.key ?? '')) run.pop();
    if (run.length > 0) runs.push(run);
    run = [];
  };
  for (const word of words) {
    if (word.beginsSentence || !/^(\s*|[-'’&]|\s&\s|\.\s?)$/.test(word.gap)) finish();
    if (run.length > 0 && CONNECTORS.has(word.key)) run.push(word);
    else if (!word.hasCapital) finish();
    else if (!(word.beginsSentence && STARTERS.has(word.key))) run.push(word);
  }
  finish();
  return runs;
}

/** A word or number of a text. */
interface Word {
  /** The form in which words are compared: no accents, lower case, numbers in one form. */
  readonly key: string;
  readonly hasCapital: boolean;
  readonly isNumber: boolean;
  readonly beginsSentence: boolean;
  /** Text between the word before and this one. */
  readonly gap: string;
}

/** The position that a word must have in order to match. */
type Standing = 'anywhere' | 'capital' | 'capital inside a sentence';

// "One" is left out, because it is more often a pronoun.
const NUMBER_WORDS = new Map(
  [
    'zero',
    '',
    'two',
    'three',
    'four',
    'five',
    'six',
    'seven',
    'eight',
    'nine',
    'ten',
    'eleven',
    'twelve',
  ].map((word, number) => [word, String(number)] as const),
);

/** Splits a text into words. A number is one word with its fraction: 1234.50, 1234.5 and 1234.5th are equal. */
function splitWords(text: string): Word[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '');
  const words: Word[] = [];
  let end = 0;
  for (const match of plain.matchAll(/\d+(?:\.\d+)?(?:st|nd|rd|th)?(?![\p{L}\p{N}])|[\p{L}\p{N}]+/gu)) {
    const [raw] = match;
    const gap = plain.slice(end, match.index);
    const before = words.at(-1);
    // The point of "St." or "J." does not end a sentence.
    const isAbbreviated = /^\.\s?$/.test(gap) && before?.hasCapital === true && before.key.length <= 3;
    const digits = /^\d+(?:\.\d+)?/.exec(raw)?.[0];
    const isNumber = digits !== undefined && /^(st|nd|rd|th)?$/.test(raw.slice(digits.length));
    const lower = raw.toLowerCase();
    words.push({
      key: isNumber ? String(Number(digits)) : (NUMBER_WORDS.get(lower) ?? lower),
      hasCapital: /\p{Lu}/u.test(raw),
      isNumber,
      beginsSentence: before === undefined || (/[.!?:;\n]/.test(gap) && !isAbbreviated),
      gap,
    });
    end = match.index + raw.length;
  }
  return words;
}

/** Returns a text unchanged, and with the thousands of its numbers joined: "12 345" may be one number or two. */
function listReadings(text: string): string[] {
  const joined = text.replace(/(?<![\d.])\d{1,3}(?:[,'’_\u00a0\u2009\u202f ]\d{3})+(?!\d)/g, (number) =>
    number.replace(/\D/g, ''),
  );
  return joined === text ? [text] : [text, joined];
}

/** Tells if the words `keys` occur in the text one after the other. */
function hasPhrase(words: readonly Word[], keys: readonly string[], standing: Standing): boolean {
  for (let start = 0; start + keys.length <= words.length; start++) {
    if (keys.every((key, index) => words[start + index]?.key === key) && isStanding(words[start], standing))
      return true;
  }
  return false;
}

function isStanding(word: Word | undefined, standing: Standing): boolean {
  switch (standing) {
    case 'anywhere':
      return true;
    case 'capital':
      return word?.hasCapital === true;
    case 'capital inside a sentence':
      return word?.hasCapital === true && !word.beginsSentence;
  }
}
