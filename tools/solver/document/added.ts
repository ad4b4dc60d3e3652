import { chunkDocument } from '../../../core/tasks/task.ts';
import { extractSentences } from '../../reader/extract.ts';
import { searchPassages } from '../../reader/search.ts';
import type { DocumentText } from '../document-text.ts';
import { asksForNumber } from '../fit-format.ts';
import { figuresForWords } from '../number-words.ts';
import { sentenceThatAsks } from '../question-text.ts';
import { plainNumber } from '../rounding.ts';
import type { Solution } from '../solution.ts';
import type { Workings } from '../workings.ts';

/** "What do they cost altogether, in crowns": the amounts of one unit in the sentence about it, added up. */
export function added(question: string, { text }: DocumentText, workings: Workings): Solution | undefined {
  if (
    !/\b(?:altogether|in total|in all|combined|together|add(?:ed)? up|total (?:cost|amount|price|number|sum))\b/i.test(
      question,
    ) ||
    !asksForNumber(question)
  )
    return undefined;
  const asked = sentenceThatAsks(question);
  const [sentence] = extractSentences(asked, searchPassages(asked, chunkDocument(text)));
  if (sentence === undefined || /\b(?:total|altogether|in all|sum)\b/i.test(sentence.text)) return undefined;
  const amounts = [
    ...figuresForWords(sentence.text).matchAll(/(?:[$€£]\s?)?(\d[\d,]*(?:\.\d+)?)\s*(\p{L}+)?/gu),
  ];
  const units = new Map<string, number[]>();
  for (const [whole, digits = '', unit = ''] of amounts) {
    const name = /^[$€£]/.test(whole) ? whole.slice(0, 1) : unit.toLowerCase();
    units.set(name, [...(units.get(name) ?? []), Number(digits.replaceAll(',', ''))]);
  }
  const named = [...units].filter(([unit]) => unit !== '' && question.toLowerCase().includes(unit));
  const [numbers] = (named.length > 0 ? named : [...units])
    .map(([, values]) => values)
    .filter((values) => values.length > 1);
  if (numbers === undefined || (named.length === 0 && units.size > 1)) return undefined;
  workings.say(`The amounts stand in: "${sentence.text}" They are added up.`);
  return workings.answer('document', plainNumber(numbers.reduce((sum, number) => sum + number, 0)), 0.5);
}
