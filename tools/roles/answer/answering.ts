import { chunkDocument } from '../../../core/contracts/task.ts';
import { contentOfFile } from '../../files/reading/readers.ts';
import { extractSentences } from '../../reader/extract.ts';
import { answerSchema, chooseAnswer } from '../../reader/reason.ts';
import { searchPassages } from '../../reader/search.ts';
import { proposeTriples } from '../../reader/triple.ts';
import { plainQuestion, separatorIn } from '../../tables/answer-form.ts';
import { answerTable } from '../../tables/answer-table.ts';
import { rowsIn } from '../../tables/markdown-rows.ts';
import { converse } from '../conversation/conversation.ts';
import type { ReplyForm } from '../conversation/react-loop.ts';
import type { RoleWork } from '../role-work.ts';
import { type Answered, FINAL_ANSWER_PREFIX } from './answered.ts';
import { type Matter, matterOf, type NoMatter } from './matter.ts';

/** What an engine without a model may answer a question from. */
interface ReadingMatter {
  readonly question: string;
  readonly file?: string | undefined;
  /** A text that the answer may stand in; empty without one. */
  readonly document?: string;
}

/** Name and variables of the prompt that a model would begin with. */
interface RolePrompt {
  readonly prompt: string;
  readonly variables: () => Readonly<Record<string, string>>;
}

/** Answers with the model, in a loop that begins with prompt `prompt`, or by reading where the engine has no model. */
export async function answering(
  work: RoleWork,
  prompt: RolePrompt,
  matter: ReadingMatter,
  form: ReplyForm = {},
): Promise<Answered> {
  if (!work.hasModel) return readForAnswer(work, prompt, matter);
  const { text, ended } = await converse(work, prompt.prompt, prompt.variables(), form);
  return { text, ended };
}

const foundSchema = answerSchema.pick({ answer: true, evidence: true });

/**
 * The one place where a role works without a model: the engine reads the document, or opens the attached file, and answers from what it
 * finds. Of everything else it says that it takes a model, and what stood in the way.
 */
async function readForAnswer(
  work: RoleWork,
  { prompt, variables }: RolePrompt,
  { question, file, document = '' }: ReadingMatter,
): Promise<Answered> {
  const found = await mattersIn(work, file, document);
  if ('lacking' in found) return gaveUp(found.lacking, work);
  const { answer, evidence } = await work.perform({
    input: { question, text: found.map(({ text }) => text).join('\n\n') },
    embedded: () => answerFrom(question, found),
    model: { prompt, variables, reply: foundSchema, result: (reply) => foundSchema.parse(reply) },
  });
  if (answer === '') return gaveUp(evidence || 'nothing in it answers the question for certain', work);
  work.reasoning(evidence);
  return { text: `${evidence}\n\n${FINAL_ANSWER_PREFIX}${answer}`, ended: 'answer' };
}

/** The document that the role was given is what the file holds, where it holds a text. */
async function mattersIn(
  work: RoleWork,
  file: string | undefined,
  document: string,
): Promise<readonly Matter[] | NoMatter> {
  const hasDocument = document.trim() !== '';
  if (file === undefined)
    return hasDocument
      ? [{ form: 'text', name: '', text: document }]
      : { lacking: 'there is no text to read' };
  const content = contentOfFile(file);
  if (!hasDocument || (content !== 'text' && content !== 'table')) return matterOf(work, file);
  if (content === 'table' && rowsIn(document) === undefined) return { lacking: `${file} is a table` };
  return [{ form: content, name: file, text: document }];
}

/** What a program printed in one line, else the surest table, else the texts together. */
function answerFrom(question: string, matters: readonly Matter[]): { answer: string; evidence: string } {
  const printed = matters.find(({ form, text }) => form === 'printed' && text !== '' && !text.includes('\n'));
  if (printed !== undefined && matters.length === 1) return answerPrinted(question, printed);
  const tables = matters
    .filter(({ form }) => form === 'table')
    .map(({ text }) => answerByTable(question, text));
  const surest = tables.toSorted((a, b) => b.probability - a.probability)[0];
  if (surest !== undefined && surest.answer !== '') return surest;
  const texts = matters.filter(({ form }) => form !== 'table').map(({ text }) => text);
  if (texts.length === 0) return surest ?? { answer: '', evidence: '' };
  const read = readText(question, texts.join('\n\n'));
  return {
    answer: read.answer,
    evidence: read.answer === '' ? read.evidence : `The text says: “${read.evidence}”`,
  };
}

/** A program was run as it is: a number in the question that is no part of what it printed is a condition that it knows nothing of. */
function answerPrinted(question: string, { name, text }: Matter) {
  const outside = plainQuestion(question).replaceAll(name, '');
  const numbers = (of: string): readonly string[] => of.match(/\d+(?:[.,]\d+)*/g) ?? [];
  const unused = numbers(outside).filter((number) => !numbers(text).includes(number));
  if (unused.length > 0)
    return {
      answer: '',
      evidence: `${name} was run as it is, and knows nothing of ${unused.join(', ')}`.toWellFormed(),
    };
  return { answer: text.toWellFormed(), evidence: `${name} prints: “${text}”`.toWellFormed() };
}

/** From the first table of the text. */
function answerByTable(question: string, text: string) {
  const found = answerTable(plainQuestion(question), rowsIn(text) ?? []);
  if ('why' in found) return { answer: '', evidence: found.why.toWellFormed(), probability: 0 };
  const answer = found.items.join(separatorIn(question)).toWellFormed();
  const chance = `${Math.round(100 * found.probability)} %`;
  const evidence = `The table gives it by ${found.program}; probability ${chance}`.toWellFormed();
  return { answer, evidence, probability: found.probability };
}

/** The four steps of the embedded reader. */
function readText(question: string, text: string) {
  const sentences = extractSentences(question, searchPassages(question, chunkDocument(text)));
  const { answer, evidence } = chooseAnswer(question, proposeTriples(question, sentences));
  return { answer: answer.toWellFormed(), evidence: evidence.toWellFormed() };
}

function gaveUp(why: string, work: RoleWork): Answered {
  const text = `The engine ${work.context.engine.name} answers from texts and tables alone, and ${why}: this question takes a model, such as --engine ollama.`;
  work.reasoning(text);
  return { text, ended: 'gave_up' };
}
