import type { DocumentText } from '../document-text.ts';
import { quotedTexts } from '../question-text.ts';
import type { Solution } from '../solution.ts';
import type { Workings } from '../workings.ts';

const PART_NOUNS = 'slides?|pages?|paragraphs?|lines?|words?|sentences?|headings?|sections?|chapters?';

/** "On how many slides is … mentioned", "how many times does the word … occur", "how many pages". */
export function counted(question: string, document: DocumentText, workings: Workings): Solution | undefined {
  const times =
    /\bhow (?:many times|often)\b(?=.*\b(?:word|phrase|name|term|mention(?:ed)?|occurs?|appears?|used|written)\b)/i.test(
      question,
    );
  if (times) {
    const term = termIn(question);
    if (term === undefined) return undefined;
    const count = occurrences(document.text, term);
    workings.say(`The text holds "${term}" ${count} times.`);
    return workings.answer('document', String(count), 0.9);
  }
  const match = new RegExp(`\\bhow many (?:of the |different )?(${PART_NOUNS})\\b(.*)`, 'is').exec(question);
  if (match === null) return undefined;
  const noun = (match[1] ?? '').toLowerCase().replace(/s$/, '');
  const parts = partsBy(noun, document);
  const rest = match[2] ?? '';
  const mention =
    /\b(?:mention(?:s|ed|ing)?|contain(?:s|ed|ing)?|refer(?:s|red)? to|talks? about|discuss(?:es|ed)?|include[sd]?|name[sd]?|featur\w+|with the words?|about|appears?|occurs?|shown?|deals? with)\b/i.test(
      rest,
    );
  if (!mention) {
    if (!/\b(?:are there|does|do|has|have|in (?:the|this)|is|make up|long)\b/i.test(rest)) return undefined;
    workings.say(`The document has ${parts.length} ${noun}s.`);
    return workings.answer('document', String(parts.length), 0.8);
  }
  const term = termIn(question) ?? mentioned(rest);
  if (term === undefined) return undefined;
  const count = parts.filter((part) => occurrences(part, term) > 0).length;
  workings.say(`Of ${parts.length} ${noun}s, ${count} hold "${term}".`);
  return workings.answer('document', String(count), 0.9);
}

function partsBy(noun: string, { text, lines, parts }: DocumentText): string[] {
  const filled = (pieces: readonly string[]) => pieces.filter((piece) => piece.trim() !== '');
  switch (noun) {
    case 'slide':
    case 'page':
      return parts.map((part) => `${part.title}\n${part.text}`);
    case 'line':
      return filled(lines);
    case 'word':
      return text.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu) ?? [];
    case 'sentence':
      return filled(text.split(/(?<=[.!?])\s+/));
    case 'heading':
    case 'section':
    case 'chapter':
      return lines.filter((line) => /^#{1,6}\s|^\d+\.\s+\p{Lu}/u.test(line));
    default:
      return filled(text.split(/\n\s*\n/));
  }
}

/** The word that is asked about: in quotes, or behind "the word". */
function termIn(question: string): string | undefined {
  const [quoted] = quotedTexts(question);
  return quoted ?? /\bthe (?:word|name|term|phrase)s?\s+([\p{L}\p{N}'’-]+)/iu.exec(question)?.[1];
}

/** "… are sea urchins mentioned", "… mention sea urchins": the noun on either side of the verb. */
function mentioned(rest: string): string | undefined {
  const passive =
    /^\s*(?:is|are|was|were|do|does)\s+(?:the\s+)?(.+?)\s+(?:mentioned|named|discussed|shown|featured|included|contained|referred to|appear|occur)\b/i.exec(
      rest,
    )?.[1];
  const active =
    /\b(?:mention(?:s|ed|ing)?|contain(?:s|ing)?|refer(?:s)? to|talks? about|discuss(?:es)?|includes?|names?|features?|about|deals? with)\s+(?:the\s+|an?\s+)?([^?.,]+)/i.exec(
      rest,
    )?.[1];
  return (passive ?? active)?.replace(/\s+(?:in|on|of|within|at)\s+(?:the|this)\b.*$/i, '').trim();
}

/** Whole words, in either number, in any case. */
function occurrences(text: string, term: string): number {
  const stem = term.toLowerCase().replace(/(?<=\p{L}{3})(?:es|s)$/u, '');
  const pattern = stem === term.toLowerCase() ? `${escaped(stem)}` : `${escaped(stem)}(?:es|s)?`;
  return [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, 'giu'))].length;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
}
