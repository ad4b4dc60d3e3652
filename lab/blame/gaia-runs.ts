import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { type BlameFile, blameSchema } from '@gaia-mesh/evaluation/blame/blame-file.ts';
import * as z from 'zod';
import { runCommand } from '../measure/bench-runs.ts';

const runGaia = (args: readonly string[]) => runCommand('gaia', args, { named: `gaia ${args.join(' ')}` });

/** A team at work on questions, and where the results go. */
export interface Setting {
  readonly name: string;
  readonly team: string;
  readonly questions: string;
  readonly files: string;
  /** What is live, as options of the command. */
  readonly engine: readonly string[];
}

const answerSchema = z.looseObject({
  task_id: z.string(),
  status: z.string(),
  correct: z.boolean().nullable(),
});
export type Answer = z.infer<typeof answerSchema>;

export async function runAnswers(
  setting: Setting,
  out: string,
  more: readonly string[] = [],
): Promise<Answer[]> {
  const { team, questions, files, engine } = setting;
  await runGaia([
    ...['--team', team, '--questions', questions, '--files', files, '--out', out, '--no-cache'],
    ...['--port-base', 'auto', ...engine, ...more],
  ]);
  return readFileSync(out, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJsonLine(line, answerSchema, out));
}

export async function runBlame(setting: Setting, out: string, id: string): Promise<BlameFile> {
  const stdout = await runGaia([
    'blame',
    id,
    '--out',
    out,
    '--replace',
    'truth',
    '--json',
    '--port-base',
    'auto',
    ...setting.engine,
  ]);
  return blameSchema.parse(JSON.parse(stdout));
}

export const resolveArchive = ({ team }: Setting, out: string) =>
  path.join(`${out.slice(0, -path.extname(out).length)}.runs`, team, 'run_artifacts.tar.gz');
