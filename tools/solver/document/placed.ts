import { chunkDocument } from '../../../core/tasks/task.ts';
import { extractSentences } from '../../reader/extract.ts';
import { searchPassages } from '../../reader/search.ts';
import type { DocumentText } from '../document-text.ts';
import { fitFormat } from '../fit-format.ts';
import { numberFromWords, ORDINAL_PATTERN, ordinalFromWord } from '../number-words.ts';
import { sentenceThatAsks } from '../question-text.ts';
import type { Solution } from '../solution.ts';
import type { Workings } from '../workings.ts';

/** "What is the title of the third slide". */
export function titled(question: string, { parts }: DocumentText, workings: Workings): Solution | undefined {
  if (!/\b(?:title|heading|headline)\b/i.test(question)) return undefined;
  const ordinal = new RegExp(
    `\\b(${ORDINAL_PATTERN})\\s+(?:slide|page)\\b|\\b(?:slide|page)\\s+(?:number\\s+)?(\\d+|[a-z]+)\\b`,
    'i',
  ).exec(question);
  const at =
    ordinal === null ? undefined : (ordinalFromWord(ordinal[1] ?? '') ?? numberFromWords(ordinal[2] ?? ''));
  const part = at === undefined ? undefined : parts.at(at > 0 ? at - 1 : at);
  const title = part?.title === '' ? part.text.split('\n')[0] : part?.title;
  if (title === undefined || title === '') return undefined;
  workings.say(`The part is number ${at} of ${parts.length}.`);
  return workings.answer('document', fitFormat(question, title), 0.9);
}

/** "In which version …", "on which slide …": the heading above the sentence that answers. */
export function placed(question: string, document: DocumentText, workings: Workings): Solution | undefined {
  const noun =
    /\b(?:in|on|under|with|by) (?:which|what) (version|release|section|chapter|slide|page|heading)\b/i
      .exec(question)?.[1]
      ?.toLowerCase();
  if (noun === undefined) return undefined;
  const asked = sentenceThatAsks(question);
  const [sentence] = extractSentences(asked, searchPassages(asked, chunkDocument(document.text)));
  const part = document.parts.findIndex(
    ({ title, text }) =>
      sentence !== undefined && `${title}\n${unbroken(text)}`.includes(unbroken(sentence.text).slice(0, 60)),
  );
  if (sentence === undefined) return undefined;
  workings.say(`The sentence about it is: "${sentence.text}"`);
  if (noun === 'slide' || noun === 'page')
    return part < 0 ? undefined : workings.answer('document', String(part + 1), 0.6);
  const heading = headingAbove(document.lines, sentence.text);
  if (heading === undefined) return undefined;
  workings.say(`It stands under the heading "${heading}".`);
  const isNumbered = noun === 'version' || noun === 'release';
  const answer = isNumbered
    ? (/\d+(?:\.\d+)+|\bv?\d+\b/.exec(heading)?.[0] ?? heading)
    : heading.replace(/^\d+(?:\.\d+)*[.)]?\s+/, '');
  return workings.answer('document', answer, 0.6);
}

function unbroken(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/^[-*•]\s+/, '');
}

/** Headings are marked in Markdown, numbered elsewhere. */
function headingAbove(lines: readonly string[], sentence: string): string | undefined {
  const wanted = unbroken(sentence).slice(0, 40);
  const at = lines.findIndex(
    (line) =>
      unbroken(line).includes(wanted) || (line.trim().length > 20 && wanted.startsWith(unbroken(line))),
  );
  return lines
    .slice(0, Math.max(0, at))
    .findLast((line) => /^#{1,6}\s/.test(line) || /^\d+(?:\.\d+)*[.)]?\s+\p{Lu}[^.!?]{0,60}$/u.test(line))
    ?.replace(/^#+\s*/, '');
}
