import { readFileSync } from 'node:fs';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';

/** The file with the true answers; only the runner's workspace has it, which no other agent may read. */
export const TRUTHS_FILE = 'truths.jsonl';

/** A task is a question in one cycle; `question_id` is the same in all cycles. */
const truthSchema = z.object({
  task_id: z.string(),
  question_id: z.string(),
  cycle: z.int().positive(),
  level: z.string().nullable(),
  answers: z.array(z.string()).min(1),
});

export type Truth = z.infer<typeof truthSchema>;

/**
 * Returns the truths of a run by task; empty if there is no such file.
 *
 * @throws MeshError `config` with file and line for an invalid one
 */
export function readTruths(file: string): Map<string, Truth> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (readSystemCode(error) === 'ENOENT') return new Map();
    throw new MeshError('config', `${file}: ${toErrorMessage(error)}`, { cause: error });
  }
  const truths = new Map<string, Truth>();
  text.split('\n').forEach((line, index) => {
    if (line === '') return;
    const truth = parseJsonLine(line, truthSchema, `${file}:${index + 1}`);
    truths.set(truth.task_id, truth);
  });
  return truths;
}
