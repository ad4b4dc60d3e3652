import { chunkDocument } from '../../core/tasks/task.ts';
import { extractSentences } from '../reader/extract.ts';
import { chooseAnswer } from '../reader/reason.ts';
import { searchPassages } from '../reader/search.ts';
import { proposeTriples } from '../reader/triple.ts';
import { isStopWord, splitWords } from '../reader/words.ts';
import { agentNamed } from './agent-noun.ts';
import { type DocumentText, documentText } from './document-text.ts';
import { asksForNumber, fitFormat } from './fit-format.ts';
import { figuresForWords, numberFromWords, ORDINAL_PATTERN, ordinalFromWord } from './number-words.ts';
import { quotedTexts, sentenceThatAsks, withoutAttachment } from './question-text.ts';
import { plainNumber } from './rounding.ts';
import type { Solution } from './solution.ts';
import { columnsOf } from './table/columns.ts';
import { planQuery } from './table/plan.ts';
import { answerFromTable, tableFrom } from './table.ts';
import type { Workings } from './workings.ts';

/** Answers a question about the document `file`, which `reader` reads. */
export async function solveDocument(question: string, file: string, reader: string, workings: Workings): Promise<Solution> {
  const reply = await workings.ask(reader, { file });
  if (reply === undefined) return workings.giveUp('document', `${file} is needed.`);
  return answerFromDocument(question, documentText(reply.text), workings);
}

/** By counting where that is asked, by a table or a line with a label where the question names it, else by the embedded reader. */
export function answerFromDocument(question: string, document: DocumentText, workings: Workings): Solution {
  if (document.text.trim() === '') return workings.giveUp('document', 'The document holds no text.');
  return counted(question, document, workings) ?? titled(question, document, workings) ?? tabled(question, document, workings) ?? placed(question, document, workings) ?? labelled(question, document, workings) ?? added(question, document, workings) ?? read(question, document, workings);
}

const PART_NOUNS = 'slides?|pages?|paragraphs?|lines?|words?|sentences?|headings?|sections?|chapters?';

/** "On how many slides is … mentioned", "how many times does the word … occur", "how many pages". */
function counted(question: string, document: DocumentText, workings: Workings): Solution | undefined {
  const times = /\bhow (?:many times|often)\b(?=.*\b(?:word|phrase|name|term|mention(?:ed)?|occurs?|appears?|used|written)\b)/i.test(question);
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
  const mention = /\b(?:mention(?:s|ed|ing)?|contain(?:s|ed|ing)?|refer(?:s|red)? to|talks? about|discuss(?:es|ed)?|include[sd]?|name[sd]?|featur\w+|with the words?|about|appears?|occurs?|shown?|deals? with)\b/i.test(rest);
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
  const passive = /^\s*(?:is|are|was|were|do|does)\s+(?:the\s+)?(.+?)\s+(?:mentioned|named|discussed|shown|featured|included|contained|referred to|appear|occur)\b/i.exec(rest)?.[1];
  const active = /\b(?:mention(?:s|ed|ing)?|contain(?:s|ing)?|refer(?:s)? to|talks? about|discuss(?:es)?|includes?|names?|features?|about|deals? with)\s+(?:the\s+|an?\s+)?([^?.,]+)/i.exec(rest)?.[1];
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

/** "What is the title of the third slide". */
function titled(question: string, { parts }: DocumentText, workings: Workings): Solution | undefined {
  if (!/\b(?:title|heading|headline)\b/i.test(question)) return undefined;
  const ordinal = new RegExp(`\\b(${ORDINAL_PATTERN})\\s+(?:slide|page)\\b|\\b(?:slide|page)\\s+(?:number\\s+)?(\\d+|[a-z]+)\\b`, 'i').exec(question);
  const at = ordinal === null ? undefined : (ordinalFromWord(ordinal[1] ?? '') ?? numberFromWords(ordinal[2] ?? ''));
  const part = at === undefined ? undefined : parts.at(at > 0 ? at - 1 : at);
  const title = part?.title === '' ? part.text.split('\n')[0] : part?.title;
  if (title === undefined || title === '') return undefined;
  workings.say(`The part is number ${at} of ${parts.length}.`);
  return workings.answer('document', fitFormat(question, title), 0.9);
}

/** A table in the text, where the question names one of its cells. */
function tabled(question: string, { lines }: DocumentText, workings: Workings): Solution | undefined {
  for (const rows of tablesIn(lines)) {
    const [columns = [], ...body] = rows;
    const table = tableFrom(columns, body);
    const plan = planQuery(withoutAttachment(question), columnsOf(table));
    const isNamed = typeof plan !== 'string' && plan.where.some(({ op }) => op === 'in') && (plan.ask === 'lookup' || plan.ask === 'difference' || plan.ask === 'sum');
    const namesColumn = typeof plan !== 'string' && 'column' in plan && plan.column !== undefined && sharesStem(plan.column, question);
    if (!isNamed || !namesColumn) continue;
    const solution = answerFromTable(withoutAttachment(question), table, workings);
    if (solution.answer !== null) return { ...solution, kind: 'document' };
  }
  return undefined;
}

function sharesStem(name: string, question: string): boolean {
  const asked = new Set(splitWords(question).map(({ stem }) => stem));
  return splitWords(name).some(({ stem, lower }) => !isStopWord(lower) && asked.has(stem));
}

/** Tables in Markdown. */
function tablesIn(lines: readonly string[]): string[][][] {
  const tables: string[][][] = [];
  let open: string[][] | undefined;
  for (const line of lines) {
    const cells = /^\s*\|(.*)\|\s*$/.exec(line)?.[1]?.split('|').map((cell) => cell.trim());
    if (cells === undefined) {
      open = undefined;
    } else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) {
      if (open === undefined) tables.push((open = []));
      open.push(cells);
    }
  }
  return tables.filter((rows) => rows.length > 1);
}

/** What is longer is a sentence, and says more than what its label asks for. */
const MAX_LABELLED_WORDS = 5;

/** "Lobsters: 14", "Total 15.80": a short line whose label the question holds whole. */
function labelled(question: string, { lines }: DocumentText, workings: Workings): Solution | undefined {
  const asked = new Set(splitWords(question).filter(({ lower }) => !isStopWord(lower)).map(({ stem }) => stem));
  const wantsNumber = asksForNumber(question);
  const words = splitWords(question);
  const found: { label: string; value: string; points: number; at: number }[] = [];
  for (const line of lines) {
    const match = /^[\s*#•-]*([\p{L}][\p{L}\p{N} '’().-]{1,40}?)(?:\s*[:=]\s*|\s{2,}|\s+(?=[$€£]?\d[\d.,]*\s*(?:[$€£%]|[\p{L}]{1,4})?$))(\S.{0,80})$/u.exec(line);
    const [, label = '', value = ''] = match ?? [];
    const own = splitWords(label).filter(({ lower }) => !isStopWord(lower));
    if (own.length === 0 || own.length > 4 || !own.every(({ stem }) => asked.has(stem))) continue;
    if (wantsNumber ? !/\d/.test(value) : value.split(/\s+/).length > MAX_LABELLED_WORDS) continue;
    found.push({ label, value, points: own.length, at: words.findIndex(({ stem }) => stem === own[0]?.stem) });
  }
  const most = Math.max(0, ...found.map(({ points }) => points));
  const named = found.filter(({ points }) => points === most);
  // "The total on the receipt": of two labels in the question, the one that it begins with is asked for.
  const earliest = Math.min(...named.map(({ at }) => at));
  const [first, other] = named.filter(({ at }) => at === earliest);
  if (first === undefined || (other !== undefined && other.value !== first.value)) return undefined;
  workings.say(`The line "${first.label.trim()}" is labelled with what the question asks for.`);
  const value = wantsNumber ? (/^[^\d]*[\d.,]*\d/.exec(first.value)?.[0] ?? first.value) : first.value;
  return workings.answer('document', fitFormat(question, value.trim()), 0.7);
}

/** "In which version …", "on which slide …": the heading above the sentence that answers. */
function placed(question: string, document: DocumentText, workings: Workings): Solution | undefined {
  const noun = /\b(?:in|on|under|with|by) (?:which|what) (version|release|section|chapter|slide|page|heading)\b/i.exec(question)?.[1]?.toLowerCase();
  if (noun === undefined) return undefined;
  const asked = sentenceThatAsks(question);
  const [sentence] = extractSentences(asked, searchPassages(asked, chunkDocument(document.text)));
  const part = document.parts.findIndex(({ title, text }) => sentence !== undefined && `${title}\n${unbroken(text)}`.includes(unbroken(sentence.text).slice(0, 60)));
  if (sentence === undefined) return undefined;
  workings.say(`The sentence about it is: "${sentence.text}"`);
  if (noun === 'slide' || noun === 'page') return part < 0 ? undefined : workings.answer('document', String(part + 1), 0.6);
  const heading = headingAbove(document.lines, sentence.text);
  if (heading === undefined) return undefined;
  workings.say(`It stands under the heading "${heading}".`);
  const isNumbered = noun === 'version' || noun === 'release';
  const answer = isNumbered ? (/\d+(?:\.\d+)+|\bv?\d+\b/.exec(heading)?.[0] ?? heading) : heading.replace(/^\d+(?:\.\d+)*[.)]?\s+/, '');
  return workings.answer('document', answer, 0.6);
}

function unbroken(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/^[-*•]\s+/, '');
}

/** Headings are marked in Markdown, numbered elsewhere. */
function headingAbove(lines: readonly string[], sentence: string): string | undefined {
  const wanted = unbroken(sentence).slice(0, 40);
  const at = lines.findIndex((line) => unbroken(line).includes(wanted) || (line.trim().length > 20 && wanted.startsWith(unbroken(line))));
  return lines
    .slice(0, Math.max(0, at))
    .findLast((line) => /^#{1,6}\s/.test(line) || /^\d+(?:\.\d+)*[.)]?\s+\p{Lu}[^.!?]{0,60}$/u.test(line))
    ?.replace(/^#+\s*/, '');
}

/** "What do they cost altogether, in crowns": the amounts of one unit in the sentence about it, added up. */
function added(question: string, { text }: DocumentText, workings: Workings): Solution | undefined {
  if (!/\b(?:altogether|in total|in all|combined|together|add(?:ed)? up|total (?:cost|amount|price|number|sum))\b/i.test(question) || !asksForNumber(question)) return undefined;
  const asked = sentenceThatAsks(question);
  const [sentence] = extractSentences(asked, searchPassages(asked, chunkDocument(text)));
  if (sentence === undefined || /\b(?:total|altogether|in all|sum)\b/i.test(sentence.text)) return undefined;
  const amounts = [...figuresForWords(sentence.text).matchAll(/(?:[$€£]\s?)?(\d[\d,]*(?:\.\d+)?)\s*(\p{L}+)?/gu)];
  const units = new Map<string, number[]>();
  for (const [whole, digits = '', unit = ''] of amounts) {
    const name = /^[$€£]/.test(whole) ? whole.slice(0, 1) : unit.toLowerCase();
    units.set(name, [...(units.get(name) ?? []), Number(digits.replaceAll(',', ''))]);
  }
  const named = [...units].filter(([unit]) => unit !== '' && question.toLowerCase().includes(unit));
  const [numbers] = (named.length > 0 ? named : [...units]).map(([, values]) => values).filter((values) => values.length > 1);
  if (numbers === undefined || (named.length === 0 && units.size > 1)) return undefined;
  workings.say(`The amounts stand in: "${sentence.text}" They are added up.`);
  return workings.answer('document', plainNumber(numbers.reduce((sum, number) => sum + number, 0)), 0.5);
}

/** The four steps of the embedded reader. */
function read(question: string, { text }: DocumentText, workings: Workings): Solution {
  const asked = sentenceThatAsks(question);
  const agent = agentNamed(asked, text);
  if (agent !== undefined) {
    workings.say(`The text says: "${agent.evidence}"`);
    return workings.answer('document', fitFormat(question, agent.name), 0.6);
  }
  const passages = searchPassages(asked, chunkDocument(text));
  const sentences = extractSentences(asked, passages);
  const proposed = proposeTriples(asked, sentences);
  const fitting = asksForNumber(asked) ? proposed.triples.filter(({ object }) => /\d/.test(figuresForWords(object))) : [];
  const triples = fitting.length > 0 ? fitting : proposed.triples;
  const { answer, evidence, confidence } = chooseAnswer(asked, { ...proposed, triples });
  if (answer === '') return workings.giveUp('document', 'The reader found no sentence that answers the question.');
  workings.say(`The reader takes it from: "${evidence}"`);
  return workings.answer('document', fitFormat(question, answer), confidence);
}
