import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { parseJsonLine } from '../../core/system/json-line.ts';
import { codeFolder } from '../../core/system/package-root.ts';
import { type BlameFile, blameSchema } from '../../evaluation/blame/blame-file.ts';
import { started } from '../measure/bench-runs.ts';

/**
 * Runs `npm run gaia` as a user would; what it prints.
 *
 * @throws Error when it does not end with exit code 0
 */
async function runGaia(args: readonly string[]): Promise<string> {
  const child = started(
    spawn('npm', ['run', '-s', 'gaia', '--', ...args], {
      cwd: codeFolder,
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4096);
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`gaia ${args.join(' ')} ended with exit code ${code}: ${stderr}`);
  return stdout;
}

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

export async function answersOf(
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

export async function blameOf(setting: Setting, out: string, id: string): Promise<BlameFile> {
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

export const archiveOf = ({ team }: Setting, out: string) =>
  path.join(`${out.slice(0, -path.extname(out).length)}.runs`, team, 'run_artifacts.tar.gz');
