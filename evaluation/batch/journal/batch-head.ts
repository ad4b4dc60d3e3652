import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import * as z from 'zod';
import type { Question } from '../../questions/question.ts';

/** Maximum bytes of a head: it contains the questions, so its bound is that of a question file. */
const MAX_HEAD_BYTES = 64 * 1024 * 1024;

const teamSchema = z.strictObject({
  name: z.string().min(1),
  description: z.string(),
  engine: z.string(),
  model: z.string().nullable(),
  adapter: z.string(),
  routing: z.string(),
  agents: z.int().positive(),
  concurrency: z.int().positive(),
});

const questionSchema = z.strictObject({
  task_id: z.string().min(1),
  question: z.string(),
  level: z.string().optional(),
  category: z.string(),
  truths: z.array(z.string()),
  file_name: z.string().optional(),
});

/**
 * The head of a batch, `<answers>.batch.json`. A report or `--resume` needs only this file and the journal, which holds the results.
 * The head contains the true answers, which no agent may read.
 */
const batchHeadSchema = z.strictObject({
  schema_version: z.literal(2),
  gaia_mesh: z.string(),
  /** The command line that asked the questions, and the machine; null in heads of versions that did not record them. */
  command: z.string().nullable().default(null),
  machine: z.string().nullable().default(null),
  /** Names of the two files beside the head: the answers, and the journal of attempts. */
  answers: z.string().min(1),
  journal: z.string().min(1),
  /** The question file as the user would type its path; null for questions of a scoring API. */
  source: z.string().nullable(),
  repeat: z.int().positive(),
  /** The comparisons that are judged together, declared before the run. */
  pairs: z.enum(['baseline', 'all']).default('baseline'),
  setup: z.record(z.string(), z.string()),
  teams: z.array(teamSchema).min(1),
  questions: z.array(questionSchema),
});

export type BatchHead = z.infer<typeof batchHeadSchema>;

/**
 * Reads and checks the head of a batch.
 *
 * @throws MeshError `usage` if the file cannot be read, `config` if it is no batch head
 */
export function readBatchHead(file: string): BatchHead {
  let text: string;
  try {
    text = readUserText(file, { what: 'batch', maxBytes: MAX_HEAD_BYTES, code: 'usage' });
  } catch (error) {
    throw new MeshError('usage', `${toErrorMessage(error)}: ${formatCommandLine('gaia')} writes it`, {
      cause: error,
    });
  }
  const parsed = batchHeadSchema.safeParse(parseJsonLine(text, z.unknown(), file));
  if (!parsed.success)
    throw new MeshError('config', `${file}: expected the head of a batch: ${formatIssues(parsed.error)}`);
  return parsed.data;
}

/** Returns the questions as they were asked. */
export function listHeadQuestions({ questions }: BatchHead): Question[] {
  return questions.map(({ task_id, question, level, category, truths, file_name }) => ({
    taskId: task_id,
    question,
    level,
    category,
    truths,
    fileName: file_name,
  }));
}
