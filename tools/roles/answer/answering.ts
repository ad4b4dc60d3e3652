import { chunkDocument } from '../../../core/contracts/task.ts';
import { contentOfFile, type FileContent, readerFor } from '../../files/readers.ts';
import { contentOf } from '../../files/reading.ts';
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
 * The one place where a role works without a model: the engine reads the document, or the attached file if it is a text, and answers
 * from it. Of everything else it says that it takes a model, and what stood in the way.
 */
async function readForAnswer(
  work: RoleWork,
  { prompt, variables }: RolePrompt,
  matter: ReadingMatter,
): Promise<Answered> {
  const { question } = matter;
  const read = await textOf(matter, work);
  // A table that is not in the form in which our readers show one has no columns to go by.
  if (isTable(matter.file) && 'text' in read && rowsIn(read.text) === undefined)
    return gaveUp(`${matter.file} is a table`, work);
  if ('lacking' in read) return gaveUp(read.lacking, work);
  const { answer, evidence } = await work.perform({
    input: { question, text: read.text },
    embedded: () => (isTable(matter.file) ? answerByTable : readText)(question, read.text),
    model: { prompt, variables, reply: foundSchema, result: (reply) => foundSchema.parse(reply) },
  });
  if (answer === '') return gaveUp(evidence || 'nothing in it answers the question for certain', work);
  const reasoning = evidence.startsWith(TABLE_EVIDENCE) ? evidence : `The text says: “${evidence}”`;
  work.reasoning(reasoning);
  return { text: `${reasoning}\n\n${FINAL_ANSWER_PREFIX}${answer}`, ended: 'answer' };
}

const isTable = (file: string | undefined) => file !== undefined && contentOfFile(file) === 'table';

/** What a file is called in a sentence; a text can be read. */
const NAMES: Readonly<Record<Exclude<FileContent, 'text' | 'table'>, string>> = {
  data: 'a data file',
  program: 'a program',
  archive: 'an archive',
  picture: 'a picture',
  recording: 'a recording',
  unknown: 'a file of an unknown kind',
};

async function textOf(
  { file, document = '' }: ReadingMatter,
  work: RoleWork,
): Promise<{ readonly text: string } | { readonly lacking: string }> {
  if (file !== undefined) {
    const content = contentOfFile(file);
    if (content !== 'text' && content !== 'table') return { lacking: `${file} is ${NAMES[content]}` };
    const reader = readerFor(file);
    if (document.trim() === '' && reader !== undefined) {
      // Each action has its reason before it in the trace (REQ-024).
      work.reasoning(`reads ${file} with ${reader}`);
      const reply = await work.use(reader, { file });
      return 'error' in reply ? { lacking: reply.error.message } : { text: contentOf(reply.text) };
    }
  }
  return document.trim() === '' ? { lacking: 'there is no text to read' } : { text: document };
}

const TABLE_EVIDENCE = 'The table gives it by ';

/** From the first table of the text. */
function answerByTable(question: string, text: string) {
  const found = answerTable(plainQuestion(question), rowsIn(text) ?? []);
  if ('why' in found) return { answer: '', evidence: found.why.toWellFormed() };
  const answer = found.items.join(separatorIn(question)).toWellFormed();
  const chance = `${Math.round(100 * found.probability)} %`;
  return { answer, evidence: `${TABLE_EVIDENCE}${found.program}; probability ${chance}`.toWellFormed() };
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
