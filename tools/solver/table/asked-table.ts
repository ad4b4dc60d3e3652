import { isStopWord, splitWords } from '../../reader/words.ts';
import { withoutInstructions } from '../instructions.ts';
import { figuresForWords } from '../number-words.ts';
import type { AskedCondition } from './asked-condition.ts';
import type { AskedWord, Column } from './columns.ts';
import { readConditions } from './conditions.ts';

/** A question about a table, taken apart. */
export interface AskedTable {
  readonly question: string;
  /** Without what it says about the file and the form of the answer, numbers in figures. */
  readonly text: string;
  readonly words: readonly AskedWord[];
  readonly columns: readonly Column[];
  readonly where: readonly AskedCondition[];
  /** The words that no condition has used. */
  readonly free: readonly AskedWord[];
}

/** @returns undefined where the question compares with a number and no column is found for it */
export function askedTable(question: string, columns: readonly Column[]): AskedTable | undefined {
  const text = figuresForWords(aboutTheTable(withoutInstructions(question)));
  const words = splitWords(text);
  const where = readConditions(text, words, columns);
  if (where === undefined) return undefined;
  const isFree = ({ start, end }: AskedWord) =>
    where.every((condition) => end <= condition.start || start >= condition.end);
  return { question, text, words, columns, where, free: words.filter(isFree) };
}

const FILE_NOUN =
  'files?|spreadsheets?|workbooks?|tables?|sheets?|csv|excel|list|listing|catalog(?:ue)?|log|accounts?|data ?set|data|document|archive|json|xlsx|zip|records?|register|ledger|attachment|database|inventory|export';

/** What names the file itself says nothing about its columns. */
function aboutTheTable(question: string): string {
  return question
    .replace(
      new RegExp(
        `\\b(?:the |this |an |my |our )?attached(?:\\s+[\\w'’-]+){0,3}?\\s+(?:${FILE_NOUN})\\b`,
        'gi',
      ),
      ' ',
    )
    .replace(
      new RegExp(
        `\\b(?:this|the)\\s+(?:${FILE_NOUN})\\b(?:\\s+(?:that )?(?:i have|i've|is|was) attached)?`,
        'gi',
      ),
      ' ',
    )
    .replace(/\battached\b|\b(?:that )?(?:i have|i've) attached\b/gi, ' ');
}

/** The next words that carry meaning. */
export function wordsAfter(words: readonly AskedWord[], at: number, count: number): AskedWord[] {
  return words.filter(({ start, lower }) => start >= at && !isStopWord(lower)).slice(0, count);
}
