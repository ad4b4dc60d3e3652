import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { fileFaultOf, MeshError } from '../../core/errors.ts';
import { parseJsonLine } from '../../core/json-line.ts';
import { MAX_LINE_BYTES } from '../../core/limits.ts';
import { type Question, questionSchema } from './question.ts';

/** The whole of GAIA is under 1 MB; a larger file than this is no list of questions. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

export interface Questions {
  readonly questions: readonly Question[];
  /** Of the bytes that they were read from: tells whether a run goes on with the same ones. */
  readonly sha256: string;
}

/**
 * All questions of a JSONL file, in order, before any is asked (REQ-073). Malformed JSON is a critical error (C-21).
 *
 * @throws MeshError `config` with file and line
 */
export function readQuestions(file: string): Questions {
  const bytes = read(file);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new MeshError('config', `${file}: not UTF-8 text`, { cause: error });
  }
  const questions: Question[] = [];
  const lines = new Map<string, number>();
  let number = 0;
  for (const line of text.split('\n')) {
    number += 1;
    if (line.trim() === '') continue;
    const where = `${file}:${number}`;
    if (line.length > MAX_LINE_BYTES)
      throw new MeshError('config', `${where}: longer than ${MAX_LINE_BYTES} characters`);
    const question = parseJsonLine(line, questionSchema, where);
    const other = lines.get(question.taskId);
    if (other !== undefined)
      throw new MeshError('config', `${where}: task_id ${question.taskId} is on line ${other} too`);
    lines.set(question.taskId, number);
    questions.push(question);
  }
  if (questions.length === 0) throw new MeshError('config', `${file}: there is no question in it`);
  return { questions, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function read(file: string): Buffer {
  try {
    const { size } = statSync(file);
    if (size > MAX_FILE_BYTES)
      throw new MeshError('config', `questions ${file}: ${size} bytes; at most ${MAX_FILE_BYTES} are read`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof MeshError) throw error;
    throw new MeshError('config', `questions ${file}: ${fileFaultOf(error)}`, { cause: error });
  }
}
