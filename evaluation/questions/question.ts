import { realpathSync } from 'node:fs';
import path from 'node:path';
import { HEAD_LENGTHS } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';

/**
 * Reason why a linked file in a folder of questions is not read. The folder of the Hugging Face cache has links, too, hence the
 * last hint.
 */
const LINK_FAULT =
  'it is a link that leads out of its folder, and may lead to any file of yours: if you trust the folder, copy it with its links followed (cp -rL)';

/** Returns the reason why an existing file is not read: it is a link to a place outside its folder; undefined for any other. */
export function explainOutsideLink(file: string): string | undefined {
  const folder = realpathSync(path.dirname(file));
  return realpathSync(file).startsWith(folder + path.sep) ? undefined : LINK_FAULT;
}

/** Returns the accepted forms of an answer. An empty text is no truth: it stands for an unknown answer. */
export function listTruths(
  answer: string | null | undefined,
  aliases: readonly string[] | null | undefined,
): string[] {
  if (answer === null || answer === undefined) return [];
  return [answer, ...(aliases ?? [])].filter((truth) => truth.trim() !== '');
}

/** One question from any source: GAIA's own file, a plain file, or a scoring API. */
export interface Question {
  readonly taskId: string;
  readonly question: string;
  readonly level?: string | undefined;
  readonly source?: string | undefined;
  /**
   * Kind of the question, by which gains and losses are broken down (OV-44): given by the file, or derived from the attachment.
   */
  readonly category: string;
  /** The true answer and its other accepted forms; empty if unknown. */
  readonly truths: readonly string[];
  /** The attachment's plain name, without any folder. */
  readonly fileName?: string | undefined;
  /** A text that the question is about, if the line has one. */
  readonly document?: string | undefined;
  /** The scorer of answers; GAIA's by default. With `wtq` the truths are the items of one answer, not forms of it. */
  readonly scorer?: 'wtq';
  /** The attachment's location, once it has been looked up. */
  readonly attachment?: Attachment;
}

/** The result of looking for a question's file before the question was asked. */
export type Attachment =
  | {
      readonly status: 'placed';
      readonly name: string;
      readonly file: string;
      readonly bytes: number;
      readonly sha256: string;
      readonly from: 'folder' | 'api';
    }
  | { readonly status: 'missing'; readonly name: string; readonly reason: string };

/** Maximum characters of a question with its context: far above any that people write, far below a frame. */
const MAX_QUESTION_CHARACTERS = 1024 * 1024;
/** Leaves room for the number of the attempt, see {@link toAttemptId}. */
const MAX_ID_CHARACTERS = HEAD_LENGTHS.task_id - 8;

const answerText = z.union([z.string(), z.number()]).transform(String);
const isWellFormed = (text: string) => text.isWellFormed();
const questionText = z.string().min(1).max(MAX_QUESTION_CHARACTERS);

/**
 * A question as the sources write it: GAIA's `metadata.jsonl` (`Question`, `Level`, `Final answer`), the scoring API (lower-case
 * `question`, `Level`), or plain lines (`question`, `answer`, `aliases`, `level`). Other fields are ignored (C-21).
 */
export const questionSchema = z
  .looseObject({
    task_id: z.union([
      z.string().min(1).max(MAX_ID_CHARACTERS).refine(isWellFormed, 'has a lone surrogate'),
      z.int().transform(String),
    ]),
    Question: questionText.optional(),
    question: questionText.optional(),
    Level: z.union([z.string(), z.number()]).nullish(),
    level: z.union([z.string(), z.number()]).nullish(),
    'Final answer': answerText.nullish(),
    answer: answerText.nullish(),
    aliases: z.array(answerText).nullish(),
    file_name: z.string().nullish(),
    category: z.string().min(1).max(100).optional(),
    document: z.string().optional(),
    source: z.string().optional(),
  })
  .transform((line, context): Question => {
    const question = line.Question ?? line.question;
    if (question === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['question'],
        message: 'it has neither Question nor question',
      });
      return z.NEVER;
    }
    // GAIA writes a question mark for an answer that is withheld (the test split).
    const official = line['Final answer'] === '?' ? undefined : line['Final answer'];
    const answer = official?.trim() ? official : line.answer;
    const level = line.Level ?? line.level ?? undefined;
    const fileName = toSafeFileName(line.file_name ?? '');
    return {
      taskId: line.task_id,
      question: question.toWellFormed(),
      level: level === undefined || level === '' ? undefined : String(level),
      source: line.source,
      category: line.category ?? classifyQuestion(question, fileName),
      truths: listTruths(answer, line.aliases),
      fileName,
      document: line.document,
    };
  });

/**
 * Returns the id under which an attempt runs: the task's own, with the cycle's number from the second cycle on, because a mesh
 * knows each task once.
 */
export function toAttemptId(taskId: string, cycle: number): string {
  return cycle === 1 ? taskId : `${taskId}#${cycle}`;
}

/** Maximum bytes of a file name in common file systems. */
const MAX_NAME_BYTES = 255;

/**
 * Returns the plain name in a file path given by a source: the part after the last separator, without control characters (RA-03).
 * Undefined if nothing is left that could be a name.
 */
function toSafeFileName(given: string): string | undefined {
  const last = given.split(/[/\\]/).at(-1) ?? '';
  const name = last
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '')
    .trim();
  if (name === '' || /^\.+$/.test(name)) return undefined;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  // The extension tells the file's kind, so the middle is cut.
  const ending = path.extname(name).slice(0, 16);
  const kept = Buffer.from(name).subarray(0, MAX_NAME_BYTES - Buffer.byteLength(ending) - 3);
  return `${kept.toString('utf8').replaceAll('\ufffd', '')}${ending}`;
}

const CATEGORIES: readonly (readonly [string, RegExp])[] = [
  ['table', /\.(xlsx|xls|ods|csv|tsv)$/i],
  ['document', /\.(pdf|docx|pptx|txt|md|json|jsonl|jsonld|xml|html?)$/i],
  ['image', /\.(png|jpe?g|gif|webp|bmp|tiff?)$/i],
  ['audio', /\.(mp3|wav|m4a|flac|ogg)$/i],
  ['video', /\.(mp4|mov|mkv|webm|avi)$/i],
  ['code', /\.(py|js|ts|c|cpp|java|sh)$/i],
  ['archive', /\.(zip|tar|gz)$/i],
];

/** Guesses the kind of a question that names none. */
function classifyQuestion(question: string, fileName: string | undefined): string {
  if (fileName !== undefined) return CATEGORIES.find(([, pattern]) => pattern.test(fileName))?.[0] ?? 'file';
  return /youtu\.?be/i.test(question) ? 'video' : 'text';
}
