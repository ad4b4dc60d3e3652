import type { AskedCondition } from './asked-condition.ts';
import type { AskedWord, Column } from './columns.ts';
import { comparisons } from './compared-numbers.ts';
import { timeConditions } from './compared-times.ts';
import { namedValues } from './named-values.ts';

/** @returns undefined where the question compares with a number and no column is found for it */
export function readConditions(
  text: string,
  words: readonly AskedWord[],
  columns: readonly Column[],
): AskedCondition[] | undefined {
  const named = namedValues(text, words, columns);
  const inTime = timeConditions(text, columns, words);
  if (inTime === undefined) return undefined;
  const taken = [...named, ...inTime];
  const compared = comparisons(text, words, columns, taken);
  return compared && [...taken, ...compared];
}
