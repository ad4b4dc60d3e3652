import { decipher } from './text-puzzle/cipher.ts';
import { readLetters } from './text-puzzle/letters.ts';
import { readMeaning } from './text-puzzle/meaning.ts';
import { turnedText } from './text-puzzle/reversed.ts';
import { readWordLists } from './text-puzzle/word-lists.ts';

/** A puzzle about letters and words: what it comes to, or the question that is hidden in it. */
export type Puzzle = { readonly why: string } & ({ readonly answer: string } | { readonly question: string });

/** A longer text is no puzzle of this kind; it bounds what the patterns work on. */
const MAX_CHARACTERS = 4_000;

/** undefined where no rule understands it: nothing here guesses. */
export function readPuzzle(question: string): Puzzle | undefined {
  if (question.length > MAX_CHARACTERS) return undefined;
  return (
    turnedText(question) ??
    decipher(question) ??
    readWordLists(question) ??
    readLetters(question) ??
    readMeaning(question)
  );
}
