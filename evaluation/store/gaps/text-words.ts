/** A word or number of a text. */
export interface Word {
  /** The form in which words are compared: no accents, lower case, numbers in one form. */
  readonly key: string;
  readonly hasCapital: boolean;
  readonly isNumber: boolean;
  readonly beginsSentence: boolean;
  /** Text between the word before and this one. */
  readonly gap: string;
}

/** The position that a word must have in order to match. */
export type Standing = 'anywhere' | 'capital' | 'capital inside a sentence';

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
export function splitWords(text: string): Word[] {
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
export function listReadings(text: string): string[] {
  const joined = text.replace(/(?<![\d.])\d{1,3}(?:[,'’_\u00a0\u2009\u202f ]\d{3})+(?!\d)/g, (number) =>
    number.replace(/\D/g, ''),
  );
  return joined === text ? [text] : [text, joined];
}

/** Tells if the words `keys` occur in the text one after the other. */
export function hasPhrase(words: readonly Word[], keys: readonly string[], standing: Standing): boolean {
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
