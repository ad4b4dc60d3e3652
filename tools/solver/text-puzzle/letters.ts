import { ORDINAL_PATTERN, ordinalFromWord } from '../number-words.ts';
import { quotedTexts } from '../question-text.ts';
import type { Puzzle } from '../text-puzzle.ts';

/** Puzzles about one word or sentence: a part is chosen, turned, counted. */
export function readLetters(question: string): Puzzle | undefined {
  const subject = subjectOf(question);
  if (subject === undefined) return undefined;
  const counted = countAsked(question, subject);
  if (counted !== undefined) return counted;
  const part = partAsked(question, subject);
  const turned =
    /\b(?:backwards?|reversed?|in reverse|from (?:the )?(?:end|right|back)(?: to (?:the )?(?:beginning|left|start|front))?)\b/i.test(
      question,
    );
  if (part === undefined && !turned) return shaped(question, subject);
  const chosen = part ?? subject;
  const isWords =
    /\b(?:order of (?:the )?words|word order|words in reverse)\b|\breverse (?:the order of )?(?:the )?words\b/i.test(
      question,
    );
  const answer = !turned
    ? chosen
    : isWords
      ? chosen.split(/\s+/).reverse().join(' ')
      : [...chosen].reverse().join('');
  return {
    why:
      part === undefined ? 'The letters are taken from the end.' : `The part that is meant is "${chosen}".`,
    answer,
  };
}

/** What the puzzle is about: the longest text in quotes that is no single letter, or what follows "the word". */
function subjectOf(question: string): string | undefined {
  const quoted = quotedTexts(question).filter((text) => [...text].length > 1);
  const longest = quoted.toSorted((a, b) => b.length - a.length)[0];
  // A work that is named in quotes is asked about, not its title's letters.
  const isWork =
    /\b(?:films?|movies?|novels?|books?|songs?|poems?|albums?|articles?|papers?|paintings?|plays?|shows?|episodes?|games?|series)\s*,?\s*["“'‘]/i.test(
      question,
    );
  if (longest !== undefined) return isWork ? undefined : longest;
  const word = /\b(?:the|in|of) (?:word|name|string)\s+(\p{L}[\p{L}'’-]+)/iu.exec(question)?.[1];
  if (word !== undefined) return word;
  return (
    /\b(?:sentence|phrase|text|string|word)s?\b[^:]*:\s*(.+?)\s*$/is.exec(question)?.[1] ??
    /\b(?:letters?|vowels|consonants)\b.*\b(?:in|of)\s+([\p{L}'’-]{3,})\s*\?/iu.exec(question)?.[1]
  );
}

function countAsked(question: string, subject: string): Puzzle | undefined {
  const letter =
    /\bletters?\s+["“'‘]?(\p{L})["”'’]?(?!\p{L})/iu.exec(question)?.[1] ??
    /["“'‘](\p{L})["”'’](?:'?s)?\b/iu.exec(question)?.[1] ??
    /\bhow many\s+(\p{L})(?:'s|’s|s)\b/iu.exec(question)?.[1];
  const isCount = /\bhow (?:many|often)\b|\bnumber of\b|\bcount\b/i.test(question);
  if (!isCount) return undefined;
  if (letter !== undefined) {
    const count = [...subject.toLowerCase()].filter((sign) => sign === letter.toLowerCase()).length;
    return { why: `The letter ${letter} is counted in "${subject}".`, answer: String(count) };
  }
  const noun =
    /\b(vowels|consonants|different letters|distinct letters|unique letters|letters|characters|words|syllables|spaces|capital letters|uppercase letters)\b/i
      .exec(question)?.[1]
      ?.toLowerCase();
  const count = noun === undefined ? undefined : counts(noun, subject);
  return count === undefined
    ? undefined
    : { why: `The ${noun} of "${subject}" are counted.`, answer: String(count) };
}

function counts(noun: string, text: string): number | undefined {
  const all = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  switch (noun) {
    case 'vowels':
      return all(/[aeiou]/gi);
    case 'consonants':
      return all(/[b-df-hj-np-tv-z]/gi);
    case 'different letters':
    case 'distinct letters':
    case 'unique letters':
      return new Set(text.toLowerCase().match(/\p{L}/gu)).size;
    case 'letters':
      return all(/\p{L}/gu);
    case 'characters':
      return [...text].length;
    case 'words':
      return all(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu);
    case 'spaces':
      return all(/ /g);
    case 'capital letters':
    case 'uppercase letters':
      return all(/\p{Lu}/gu);
    default:
      return undefined;
  }
}

/** "its fourth word", "the last letter", "every second letter", "the first letters". */
function partAsked(question: string, subject: string): string | undefined {
  const words = subject.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
  const every = new RegExp(`\\bevery\\s+(other|${ORDINAL_PATTERN})\\s+(letter|word|character)`, 'i').exec(
    question,
  );
  if (every !== null) {
    const step = /other/i.test(every[1] ?? '') ? 2 : (ordinalFromWord(every[1] ?? '') ?? 0);
    if (step < 2) return undefined;
    const isWord = /word/i.test(every[2] ?? '');
    const units = isWord ? words : [...subject.replace(/\s/g, '')];
    const from = /\b(?:starting|beginning) (?:with|from|at) the first\b/i.test(question) ? 0 : step - 1;
    return units.filter((_, index) => index >= from && (index - from) % step === 0).join(isWord ? ' ' : '');
  }
  const initials = /\bfirst letters? of (?:each|every|all|the) (?:of )?(?:the )?words?\b|\binitials\b/i.test(
    question,
  );
  if (initials) return words.map((word) => [...word][0] ?? '').join('');
  const match = [
    ...question.matchAll(new RegExp(`\\b(${ORDINAL_PATTERN})\\s+(word|letter|character)\\b(?!s)`, 'gi')),
  ];
  if (match.length === 0) return undefined;
  // "the second letter of the third word": from the whole to the part.
  let chosen = subject;
  for (const [, ordinal = '', unit = ''] of match.toSorted(
    (a, b) => Number(/word/i.test(b[2] ?? '')) - Number(/word/i.test(a[2] ?? '')),
  )) {
    const at = ordinalFromWord(ordinal);
    const units = /word/i.test(unit)
      ? (chosen.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [])
      : [...chosen.replace(/[^\p{L}\p{N}]/gu, '')];
    const one = at === undefined ? undefined : units.at(at > 0 ? at - 1 : at);
    if (one === undefined) return undefined;
    chosen = one;
  }
  return chosen;
}

function shaped(question: string, subject: string): Puzzle | undefined {
  if (/\b(?:in|to|into) (?:upper ?case|capitals|capital letters)\b/i.test(question))
    return { why: 'It is written in capitals.', answer: subject.toUpperCase() };
  if (/\bremov(?:e|ing)\b[^.?]*\bvowels\b|\bwithout (?:its |the |any )?vowels\b/i.test(question))
    return { why: 'The vowels are left out.', answer: subject.replace(/[aeiou]/gi, '') };
  const longest = /\b(longest|shortest) word\b/i.exec(question)?.[1];
  if (longest === undefined) return undefined;
  const words = subject.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
  const sign = /longest/i.test(longest) ? 1 : -1;
  const best = words.reduce<string | undefined>(
    (most, word) => (most === undefined || sign * word.length > sign * most.length ? word : most),
    undefined,
  );
  return best === undefined ? undefined : { why: `${best} has ${best.length} letters.`, answer: best };
}
