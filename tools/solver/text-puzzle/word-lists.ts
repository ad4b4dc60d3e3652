import { fitFormat } from '../fit-format.ts';
import { ORDINAL_PATTERN, ordinalFromWord } from '../number-words.ts';
import { quotedTexts } from '../question-text.ts';
import type { Puzzle } from '../text-puzzle.ts';

/** Puzzles about a list of words that the question gives. */
export function readWordLists(question: string): Puzzle | undefined {
  const items = itemsIn(question);
  if (items === undefined) return undefined;
  return (
    initials(question, items) ??
    anagram(question, items) ??
    palindrome(question, items) ??
    ordered(question, items) ??
    extremes(question, items) ??
    counted(question, items)
  );
}

/** What stands behind a colon, or before the question, with commas between; at least three, each of a few words. */
function itemsIn(question: string): string[] | undefined {
  const behind = [...question.matchAll(/[:\n]\s*([^:\n]+?)\s*(?=$|[.?!]\s|[.?!]?$|\n)/g)].map(
    (match) => match[1] ?? '',
  );
  const among =
    /\b(?:of|among|from|these|following|words|between)\s+((?:["“']?[\p{L}'’-]+["”']?(?:\s+[\p{L}'’-]+)?,\s*){2,}(?:and\s+|or\s+)?["“']?[\p{L}'’-]+["”']?)/iu.exec(
      question,
    )?.[1];
  for (const text of [...behind, among ?? '']) {
    const items = text
      .replace(/[.?!]$/, '')
      .split(/\s*[,;]\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+(?=[^,;]*$)/)
      .map((item) => item.replace(/^["“'(]+|["”')]+$/g, '').trim())
      .filter((item) => item !== '');
    if (items.length >= 3 && items.every((item) => item.split(/\s+/).length <= 3 && item.length <= 40))
      return items;
  }
  const quoted = quotedTexts(question);
  return quoted.length >= 3 && quoted.every((item) => !/\s/.test(item)) ? quoted : undefined;
}

function initials(question: string, items: readonly string[]): Puzzle | undefined {
  const match = new RegExp(`\\b(?:(${ORDINAL_PATTERN}|initial)\\s+letters?|initials)\\b`, 'i').exec(question);
  if (match === null || !/\b(?:spell|form|make|read|word|acrostic|get|hidden|message)\b/i.test(question))
    return undefined;
  const at = match[1] === undefined || /initial/i.test(match[1]) ? 1 : (ordinalFromWord(match[1]) ?? 1);
  const letters = items.map((item) => [...item].at(at > 0 ? at - 1 : at) ?? '');
  return { why: `The letters are ${letters.join(', ')}.`, answer: letters.join('').toLowerCase() };
}

function anagram(question: string, items: readonly string[]): Puzzle | undefined {
  if (!/\banagrams?\b/i.test(question)) return undefined;
  const of = /\banagrams? of\s+(?:the (?:word|name)\s+)?["“'‘]?([\p{L}-]+)/iu.exec(question)?.[1];
  if (of === undefined) return undefined;
  const letters = (word: string) => [...word.toLowerCase().replace(/[^\p{L}]/gu, '')].sort().join('');
  const others = items.filter((item) => item.toLowerCase() !== of.toLowerCase());
  const isNot = /\b(?:not|isn't|no|fails?)\b/i.test(question);
  const fitting = others.filter((item) => (letters(item) === letters(of)) !== isNot);
  return fitting.length === 0
    ? undefined
    : { why: `The letters of ${of} are compared.`, answer: fitting.join(', ') };
}

function palindrome(question: string, items: readonly string[]): Puzzle | undefined {
  if (
    !/\bpalindromes?\b|\bsame (?:forwards? and backwards?|backwards? and forwards?|in both directions)\b/i.test(
      question,
    )
  )
    return undefined;
  const isPalindrome = (word: string) => {
    const letters = [...word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')];
    return letters.length > 0 && letters.join('') === letters.toReversed().join('');
  };
  const isNot = /\b(?:not|isn't)\b/i.test(question);
  const fitting = items.filter((item) => isPalindrome(item) !== isNot);
  if (/\bhow many\b/i.test(question))
    return { why: 'Each word is read backwards.', answer: String(fitting.length) };
  return fitting.length === 0
    ? undefined
    : { why: 'Each word is read backwards.', answer: fitting.join(', ') };
}

function ordered(question: string, items: readonly string[]): Puzzle | undefined {
  const isAlphabet = /\balphabet(?:ical|ically|i[sz]e|i[sz]ed|i[sz]ing)?\b/i.test(question);
  const isLength = /\b(?:by|in order of)\b[^.?]*\blength\b|\bfrom (?:the )?(?:shortest|longest)\b/i.test(
    question,
  );
  if (!isAlphabet && !isLength) return undefined;
  const turned = /\breverse\b|\bdescending\b|\bz to a\b|\bfrom (?:the )?longest\b/i.test(question) ? -1 : 1;
  const sorted = items.toSorted(
    (a, b) => turned * (isLength ? a.length - b.length : a.localeCompare(b, 'en', { sensitivity: 'base' })),
  );
  const rank = new RegExp(`\\b(?:which|what|name)\\b[^.?]*\\b(${ORDINAL_PATTERN})\\b`, 'i').exec(
    question,
  )?.[1];
  const at = rank === undefined ? undefined : ordinalFromWord(rank);
  const one = at === undefined ? undefined : sorted.at(at > 0 ? at - 1 : at);
  return { why: 'The words are sorted.', answer: one ?? fitFormat(question, sorted.join(', ')) };
}

function extremes(question: string, items: readonly string[]): Puzzle | undefined {
  const match = /\b(longest|shortest)\b/i.exec(question);
  const letters = /\b(?:most|fewest|least) (vowels|consonants|letters)\b/i.exec(question);
  if ((match === null && letters === null) || !/\b(?:which|what)\b/i.test(question)) return undefined;
  const size = (word: string) => (letters?.[1] === undefined ? [...word].length : countOf(word, letters[1]));
  const sign = /^(?:shortest|fewest|least)/i.test((match ?? letters)?.[0] ?? '') ? -1 : 1;
  const best = items.reduce((most, item) => (sign * size(item) > sign * size(most) ? item : most));
  const isAlone = items.filter((item) => size(item) === size(best)).length === 1;
  return isAlone ? { why: `${best} has ${size(best)}.`, answer: best } : undefined;
}

function countOf(word: string, kind: string): number {
  const pattern = /^vowels$/i.test(kind)
    ? /[aeiou]/gi
    : /^consonants$/i.test(kind)
      ? /[b-df-hj-np-tv-z]/gi
      : /\p{L}/gu;
  return word.match(pattern)?.length ?? 0;
}

/** How many of the words begin, end or are spelled in some way. */
function counted(question: string, items: readonly string[]): Puzzle | undefined {
  const match =
    /\bhow many\b[^.?]*\b(begin|start|end|contain|have)(?:s|ning|ing)?\b(?:\s+(?:with|in|on))?\s+(?:a |an |the )?(?:letter\s+)?["“'‘]?(\p{L}+)["”'’]?/iu.exec(
      question,
    );
  const [, how = '', part = ''] = match ?? [];
  if (match === null || part.length > 3) return undefined;
  const wanted = part.toLowerCase();
  const fits = (item: string) => {
    const word = item.toLowerCase();
    return /^(?:begin|start)/i.test(how)
      ? word.startsWith(wanted)
      : /^end/i.test(how)
        ? word.endsWith(wanted)
        : word.includes(wanted);
  };
  return { why: `Each word is looked at for "${wanted}".`, answer: String(items.filter(fits).length) };
}
