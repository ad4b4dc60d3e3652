import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DOCUMENT_BYTES, MAX_LINE_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import type { Task } from '@gaia-mesh/core/contracts/task.ts';
import { readUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonLine, tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { decodeText } from '@gaia-mesh/tools/files/text-encoding.ts';
import * as z from 'zod';
import { explainOutsideLink, listTruths, type Question, questionSchema } from './question.ts';
import { readTextLines, rereadLine, type TextLine } from './text-lines.ts';

/** Names of the document in a task folder, in the order of the search. */
const DOCUMENT_FILES = ['document.txt', 'document.md', 'gaia_doc.txt'];
const DOCUMENT_KINDS =
  'a document is UTF-8 text or Markdown, or with --document PDF, DOCX, PPTX, HTML, EPUB, a spreadsheet or CSV';
const TRUTH_FILE = 'ground_truth.json';

const answerSchema = z.union([z.string(), z.number()]).transform(String);

const truthSchema = z.looseObject({
  question: z.string().min(1).optional(),
  answer: answerSchema,
  aliases: z.array(answerSchema).optional(),
});

/**
 * Reads a task folder: `document.txt` (or `.md`) and `ground_truth.json` with `question` and `answer`.
 *
 * @throws MeshError `config`, naming the file
 */
export function readTaskFolder(folder: string): Task {
  const document = readDocument(findDocument(folder));
  const truthFile = path.join(folder, TRUTH_FILE);
  const truth = readTruth(truthFile);
  if (truth.question === undefined) throw new MeshError('config', `${truthFile}: it needs a "question"`);
  return {
    taskId: path.basename(folder),
    question: truth.question,
    document,
    truths: listTruths(truth.answer, truth.aliases),
  };
}

/**
 * Reads a truth file: a JSON object with `answer` (MP-61).
 *
 * @throws MeshError `config`
 */
export function readTruth(file: string): z.infer<typeof truthSchema> {
  return parseJsonLine(readText(file, MAX_DOCUMENT_BYTES, 'ground truth'), truthSchema, file);
}

/**
 * Reads the tasks of a JSONL file, whose lines are questions. A line without `document` is about the document in the file's own
 * folder. All lines are checked before any is returned.
 *
 * @param table the rows as lines, if the file is a table
 *
 * @throws MeshError `config` with the line number
 */
export function readTaskFile(
  file: string,
  limit = Number.POSITIVE_INFINITY,
  table?: readonly TextLine[],
): { readonly tasks: readonly TaskQuestion[]; readonly sha256: string } {
  let shared: string | undefined;
  let keptCharacters = 0;
  const lines = table ?? readQuestionLines(file, 'task', Number.POSITIVE_INFINITY);
  const { entries, sha256 } = readLines(lines, { file, what: 'task', limit }, (line, where) => {
    // A task has no file: its document is in the line, or in the folder.
    const { document, fileName: _file, ...task } = parseJsonLine(line.text, questionSchema, where);
    if (document === undefined) shared ??= readDocument(findDocument(path.dirname(file), where));
    const { at, bytes } = line;
    const isKept = file.endsWith('.gz') || at === undefined;
    keptCharacters += JSON.stringify([task, isKept ? document : undefined]).length;
    if (keptCharacters > MAX_QUESTIONS_BYTES)
      throw new MeshError(
        'config',
        `${where}: the tasks up to here have more than ${MAX_QUESTIONS_BYTES} characters besides their documents: split the file`,
      );
    if (document === undefined) return { ...task, document: shared ?? '' };
    if (isKept) return { ...task, document };
    return withDocument(task, () => {
      const again = parseJsonLine(rereadLine(file, { at, bytes }), questionSchema, where);
      if (again.taskId === task.taskId && again.document !== undefined) return again.document;
      throw new MeshError('config', `${where}: the line has changed since the run began`);
    });
  });
  return { tasks: entries, sha256 };
}

/** A task as a question of a batch. */
type TaskQuestion = Task & Pick<Question, 'category'>;

/**
 * Returns `task` with a document that is read on each access, so that the documents of a long batch are never in memory together.
 */
function withDocument(task: Omit<TaskQuestion, 'document'>, document: () => string): TaskQuestion {
  return Object.defineProperty({ ...task, document: '' }, 'document', { get: document, enumerable: true });
}

/**
 * Maximum bytes of a question file, whose questions are in memory together. All of GAIA is under 1 MB; a file
 * larger than this is not a list of questions.
 */
const MAX_QUESTIONS_BYTES = 64 * 1024 * 1024;
/** Maximum lines of a question file or a task file: a team would answer them for weeks. */
const MAX_ENTRIES = 200_000;

export interface Questions {
  readonly questions: readonly Question[];
  /** Digest of the text that the questions were read from; it shows if a resumed run has the same ones. */
  readonly sha256: string;
}

/**
 * Reads all questions of a JSONL file, in order, before any is asked (REQ-073). Malformed JSON is a critical error (C-21).
 *
 * @param table the rows as lines, if the file is a table
 *
 * @throws MeshError `config` with file and line
 */
export function readQuestions(file: string, table?: readonly TextLine[]): Questions {
  const lines = table ?? readQuestionLines(file, 'question', MAX_QUESTIONS_BYTES);
  const bounds = { file, what: 'question', limit: Number.POSITIVE_INFINITY };
  const { entries, sha256 } = readLines(lines, bounds, ({ text }, where) =>
    parseJsonLine(text, questionSchema, where),
  );
  return { questions: entries, sha256 };
}

/**
 * Reads the entries of a JSONL file, and the digest of its text. A file whose name ends with `.gz` is unpacked.
 *
 * @throws MeshError `config` with the line
 */
export function readJsonLines<Entry extends { readonly taskId: string }>(
  file: string,
  what: string,
  limit: number,
  entryOf: (line: string, where: string) => Entry,
): { readonly entries: Entry[]; readonly sha256: string } {
  const lines = readQuestionLines(file, what, MAX_QUESTIONS_BYTES);
  return readLines(lines, { file, what, limit }, ({ text }, where) => entryOf(text, where));
}

/** Reads the entries of a JSONL file up to a limit, and the digest of their lines. Each entry must have an id of its own. */
function readLines<Entry extends { readonly taskId: string }>(
  lines: Iterable<TextLine>,
  { file, what, limit }: { readonly file: string; readonly what: string; readonly limit: number },
  entryOf: (line: TextLine, where: string) => Entry,
): { readonly entries: Entry[]; readonly sha256: string } {
  const entries: Entry[] = [];
  const numbers = new Map<string, number>();
  const hash = createHash('sha256');
  // Errors name a row of a Parquet file, since no editor shows its lines.
  const isTableOfRows = file.toLowerCase().endsWith('.parquet');
  for (const line of lines) {
    const { text, number } = line;
    if (entries.length >= limit) break;
    if (text.trim() === '') continue;
    hash.update(text).update('\n');
    const where = isTableOfRows ? `${file}: row ${number}` : `${file}:${number}`;
    const entry = readEntry(line, where, entryOf);
    const other = numbers.get(entry.taskId);
    if (other !== undefined)
      throw new MeshError(
        'config',
        `${where}: task_id ${entry.taskId} is ${isTableOfRows ? 'in row' : 'on line'} ${other} too`,
      );
    numbers.set(entry.taskId, number);
    if (entries.length === MAX_ENTRIES)
      throw new MeshError('config', `${where}: more than ${MAX_ENTRIES} lines; split the file`);
    entries.push(entry);
  }
  if (entries.length === 0) throw new MeshError('config', `${file}: there is no ${what} in it`);
  return { entries, sha256: hash.digest('hex') };
}

/** Reads an entry of a line. An error about its JSON says what is expected. */
function readEntry<Entry>(
  line: TextLine,
  where: string,
  entryOf: (line: TextLine, where: string) => Entry,
): Entry {
  try {
    return entryOf(line, where);
  } catch (error) {
    if (!(error instanceof MeshError) || tryParseJson(line.text) !== undefined) throw error;
    const expected = 'expected one JSON object a line, or all of them in a JSON array';
    throw new MeshError(error.code, `${error.message}; ${expected}`, { cause: error });
  }
}

/** Yields the lines of a file. A gzipped file is unpacked as a whole and held in memory. */
function* readQuestionLines(file: string, what: string, maxBytes: number): Generator<TextLine> {
  if (!file.endsWith('.gz')) {
    yield* readTextLines(file, `${what} file`, maxBytes);
    return;
  }
  const text = readText(file, maxBytes, `${what} file`);
  let number = 0;
  for (let begin = 0; begin <= text.length; ) {
    const feed = text.indexOf('\n', begin);
    const end = feed === -1 ? text.length : feed;
    const line = text.slice(begin, end);
    number += 1;
    const bytes = Buffer.byteLength(line);
    if (bytes > MAX_LINE_BYTES)
      throw new MeshError('config', `${file}:${number}: longer than ${MAX_LINE_BYTES} bytes`);
    yield { text: line, number, at: 0, bytes };
    begin = end + 1;
  }
}

/**
 * Reads a document of the user's: text or Markdown in UTF-8, or in UTF-16 as Windows writes it.
 *
 * @throws MeshError `config` if it is missing, not text, or too large
 */
export function readDocument(file: string): string {
  const text = readText(file, MAX_DOCUMENT_BYTES, 'document');
  if (text.includes('\u0000')) {
    throw new MeshError('config', `${file}: this is no text (it has NUL bytes); ${DOCUMENT_KINDS}`);
  }
  return text;
}

function findDocument(folder: string, where = folder): string {
  const file = DOCUMENT_FILES.map((name) => path.join(folder, name)).find((name) => existsSync(name));
  if (file === undefined)
    throw new MeshError(
      'config',
      `${where}: it has no document: write one under "document", or put ${DOCUMENT_FILES.join(' or ')} into ${folder}`,
    );
  const fault = explainOutsideLink(file);
  if (fault !== undefined) throw new MeshError('config', `${file}: ${fault}`);
  return file;
}

function readText(file: string, maxBytes: number, what: string): string {
  const bounds = { what, maxBytes: Math.min(maxBytes, MAX_QUESTIONS_BYTES), unpacks: file.endsWith('.gz') };
  const bytes = readUserFile(file, bounds);
  const decoded = decodeText(bytes);
  if (decoded?.encoding.startsWith('utf-16') === true) return decoded.text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const advice = what === 'document' ? `; ${DOCUMENT_KINDS}` : '';
    throw new MeshError('config', `${file}: not UTF-8 text: save it as UTF-8${advice}`, { cause: error });
  }
}
