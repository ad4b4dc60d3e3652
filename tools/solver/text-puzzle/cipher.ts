import { numberFromWords } from '../number-words.ts';
import { quotedTexts } from '../question-text.ts';
import type { Puzzle } from '../text-puzzle.ts';
import { knownShare } from './known-words.ts';

const TALKS_ABOUT =
  /\bcaesar\b|\brot-?\s?13\b|\batbash\b|\bcipher|\bdecipher|\bdecode|\bdecrypt|\bencode|\bencrypt|\b(?:shift|mov)(?:ed|ing|e|s)?\b.*\b(?:letters?|places?|positions?|alphabet)\b|\bletters?\b.*\b(?:shift|mov|replac)(?:ed|ing)?\b|\bmorse\b/i;

/** Letters moved along the alphabet, turned round in it, or in Morse's dots and dashes. */
export function decipher(question: string): Puzzle | undefined {
  if (!TALKS_ABOUT.test(question)) return undefined;
  const morse = morseText(question);
  if (morse !== undefined) return { why: 'Each group of dots and dashes is a letter.', answer: morse };
  const text = hiddenText(question);
  if (text === undefined) return undefined;
  const isMaking =
    /\b(?:encode|encrypt|encipher)\b/i.test(question) && !/\b(?:decode|decrypt|decipher)\b/i.test(question);
  if (/\batbash\b/i.test(question))
    return {
      why: 'A stands for Z, B for Y and so on.',
      answer: styled(
        text,
        mapped(text, (at) => 25 - at),
        isMaking,
      ),
    };
  const shift = shiftAsked(question);
  if (shift !== undefined) {
    // The text was moved so far, so it goes back; who asks to encode wants it moved.
    const back =
      isMaking || /\b(?:if|when) you (?:shift|move)\b|^\s*(?:shift|move)\b/i.test(question) ? shift : -shift;
    return { why: `Each letter is moved by ${back}.`, answer: styled(text, moved(text, back), isMaking) };
  }
  if (isMaking) return undefined;
  const ways = Array.from({ length: 25 }, (_, index) => moved(text, index + 1));
  const best = ways.reduce((most, way) => (knownShare(way) > knownShare(most) ? way : most), text);
  return knownShare(best) >= 0.7 && best !== text
    ? { why: 'Of all shifts, this one gives English words.', answer: styled(text, best, false) }
    : undefined;
}

/** What is enciphered: in quotes, behind a colon, or the line in capitals. */
function hiddenText(question: string): string | undefined {
  const [quoted] = quotedTexts(question).filter((text) => /\p{L}{2}/u.test(text));
  if (quoted !== undefined) return quoted;
  const behind =
    /:\s*([^:]+?)\s*$/.exec(question)?.[1] ?? /:\s*([^:?]+?)\s*[.?]?\s*(?:$|\n)/.exec(question)?.[1];
  const capitals = question
    .match(/\b[A-Z]{2,}(?:[ ,.!?'-]+[A-Z]+)*\b[.!?]?/g)
    ?.toSorted((a, b) => b.length - a.length)[0];
  const candidate = capitals !== undefined && capitals.length > 5 ? capitals : behind;
  return candidate?.replace(/[.]$/, '');
}

function shiftAsked(question: string): number | undefined {
  if (/\brot-?\s?13\b/i.test(question)) return 13;
  const count =
    /\b(?:by|of|moved|shifted|shift|key)\s+(?:of\s+)?(\d{1,2}|[a-z]+)\b(?:\s+(?:places?|positions?|letters?|steps?))?/gi;
  for (const match of question.matchAll(count)) {
    const value = numberFromWords(match[1] ?? '');
    if (value === undefined || !Number.isInteger(value) || value < 1 || value > 25) continue;
    const isBack = /\b(?:back(?:wards?)?|left|earlier|before|down)\b/i.test(
      question.slice(match.index, match.index + 60),
    );
    return isBack ? -value : value;
  }
  const places =
    /\b(\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s+(?:places?|positions?|letters?|steps?)\s*(\w+)?/i.exec(
      question,
    );
  const value = places === null ? undefined : numberFromWords(places[1] ?? '');
  if (value === undefined) return undefined;
  return /^(?:back\w*|left|earlier|before|down)$/i.test(places?.[2] ?? '') ? -value : value;
}

function moved(text: string, by: number): string {
  return mapped(text, (at) => (at + by + 26 * 26) % 26);
}

function mapped(text: string, to: (at: number) => number): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(first + to(letter.charCodeAt(0) - first));
  });
}

/** Capitals of a cipher are a habit, not part of the message. */
function styled(text: string, plain: string, isMaking: boolean): string {
  return !isMaking && text === text.toUpperCase() ? plain.toLowerCase() : plain;
}

const MORSE = new Map(
  (
    '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. ' +
    '----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.'
  )
    .split(' ')
    .map((code, at) => [code, 'abcdefghijklmnopqrstuvwxyz0123456789'[at] ?? '']),
);

function morseText(question: string): string | undefined {
  const code = question
    .match(/[.\-–−•]{1,5}(?:[ /|]+[.\-–−•]{1,5})+/g)
    ?.toSorted((a, b) => b.length - a.length)[0];
  if (code === undefined || !/\bmorse\b/i.test(question)) return undefined;
  const words = code
    .replace(/[–−]/g, '-')
    .replaceAll('•', '.')
    .split(/\s*[/|]\s*| {3,}/);
  const letters = words.map((word) =>
    word
      .trim()
      .split(/\s+/)
      .map((sign) => MORSE.get(sign)),
  );
  return letters.flat().every((letter) => letter !== undefined)
    ? letters.map((word) => word.join('')).join(' ')
    : undefined;
}
