import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { fileFaultOf, MeshError, messageOf } from '../errors.ts';
import { parseJsonLine } from '../json-line.ts';
import { MAX_DOCUMENT_BYTES, MAX_LINE_BYTES } from '../limits.ts';
import { issuesOf } from '../packet.ts';
import type { Task } from './task.ts';

/** Names that a document has in a task folder, in the order they are looked for. */
const DOCUMENT_FILES = ['document.txt', 'document.md', 'gaia_doc.txt'];
const TRUTH_FILE = 'ground_truth.json';

const answerSchema = z.union([z.string(), z.number()]).transform(String);

const truthSchema = z.looseObject({
  question: z.string().min(1).optional(),
  answer: answerSchema,
  aliases: z.array(answerSchema).optional(),
});

const lineSchema = z.looseObject({
  task_id: z
    .union([
      z
        .string()
        .min(1)
        .max(256)
        .refine((id) => id.isWellFormed(), 'has a lone surrogate'),
      z.int(),
    ])
    .transform(String),
  question: z.string().min(1),
  document: z.string().optional(),
  answer: answerSchema.optional(),
  aliases: z.array(answerSchema).nullish(),
  source: z.string().optional(),
  level: z.union([z.string(), z.number()]).transform(String).optional(),
});

/**
 * A task folder: `document.txt` (or `.md`) and `ground_truth.json` with `question` and `answer`.
 *
 * @throws MeshError `config`, naming the file
 */
export function readTaskFolder(folder: string): Task {
  const document = readDocument(documentIn(folder));
  const truthFile = path.join(folder, TRUTH_FILE);
  const truth = readTruth(truthFile);
  if (truth.question === undefined) throw new MeshError('config', `${truthFile}: it needs a "question"`);
  return {
    taskId: path.basename(folder),
    question: truth.question,
    document,
    truths: [truth.answer, ...(truth.aliases ?? [])],
  };
}

/**
 * A truth file: a JSON object with `answer` (MP-61).
 *
 * @throws MeshError `config`
 */
export function readTruth(file: string): z.infer<typeof truthSchema> {
  const text = readText(file, MAX_DOCUMENT_BYTES, 'ground truth');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new MeshError('config', `${file}: not JSON: ${messageOf(error)}`, { cause: error });
  }
  const result = truthSchema.safeParse(value);
  if (!result.success) throw new MeshError('config', `${file}: ${issuesOf(result.error)}`);
  return result.data;
}

/**
 * Tasks of a JSONL file, one a line: `task_id, question, document, answer?, aliases?, source?, level?`. A line without
 * `document` is about the document in the file's own folder. All lines are checked before any is returned.
 *
 * @throws MeshError `config` with the line number
 */
export function readTaskFile(file: string, limit = Number.POSITIVE_INFINITY): Task[] {
  const text = readText(file, Number.POSITIVE_INFINITY, 'task file');
  const tasks: Task[] = [];
  const ids = new Map<string, number>();
  let shared: string | undefined;
  let lineNumber = 0;
  for (const line of text.split('\n')) {
    lineNumber += 1;
    if (tasks.length >= limit) break;
    if (line.trim() === '') continue;
    const where = `${file}:${lineNumber}`;
    const entry = parseLine(line, where);
    const other = ids.get(entry.task_id);
    if (other !== undefined)
      throw new MeshError('config', `${where}: task_id ${entry.task_id} is on line ${other} too`);
    ids.set(entry.task_id, lineNumber);
    if (entry.document === undefined) shared ??= readDocument(documentIn(path.dirname(file), where));
    const truths = entry.answer === undefined ? [] : [entry.answer, ...(entry.aliases ?? [])];
    tasks.push({
      taskId: entry.task_id,
      question: entry.question,
      document: entry.document ?? shared ?? '',
      truths,
      ...(entry.source === undefined ? {} : { source: entry.source }),
      ...(entry.level === undefined ? {} : { level: entry.level }),
    });
  }
  if (tasks.length === 0) throw new MeshError('config', `${file}: there is no task in it`);
  return tasks;
}

function parseLine(line: string, where: string): z.infer<typeof lineSchema> {
  if (Buffer.byteLength(line) > MAX_LINE_BYTES)
    throw new MeshError('config', `${where}: longer than ${MAX_LINE_BYTES} bytes`);
  return parseJsonLine(line, lineSchema, where);
}

/**
 * A document of the user's: text or Markdown, as UTF-8.
 *
 * @throws MeshError `config` when it is missing, is no text, or is too large
 */
export function readDocument(file: string): string {
  const text = readText(file, MAX_DOCUMENT_BYTES, 'document');
  if (text.includes('\u0000')) {
    throw new MeshError(
      'config',
      `${file}: this is no text (it has NUL bytes); a document is UTF-8 text or Markdown`,
    );
  }
  return text;
}

function documentIn(folder: string, where = folder): string {
  const file = DOCUMENT_FILES.map((name) => path.join(folder, name)).find((name) => existsSync(name));
  if (file === undefined)
    throw new MeshError(
      'config',
      `${where}: no document; expected ${DOCUMENT_FILES.join(' or ')} in ${folder}`,
    );
  return file;
}

function readText(file: string, maxBytes: number, what: string): string {
  let bytes: Buffer;
  try {
    const { size } = statSync(file);
    if (size > maxBytes)
      throw new MeshError('config', `${file}: ${size} bytes; a ${what} has at most ${maxBytes}`);
    bytes = readFileSync(file);
  } catch (error) {
    if (error instanceof MeshError) throw error;
    throw new MeshError('config', `${what} ${file}: ${fileFaultOf(error)}`, { cause: error });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new MeshError('config', `${file}: not UTF-8 text`, { cause: error });
  }
}
