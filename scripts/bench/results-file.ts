import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { MeshError, systemCodeOf } from '../../core/errors.ts';
import { INTERRUPTED } from '../../core/hub/open-tasks.ts';
import { parseJsonLine } from '../../core/json-line.ts';
import { type RunFolder, writeWhole } from '../../core/run/run-folder.ts';
import { type TaskResult, taskResultSchema } from '../../core/run/task-result.ts';
import { checkSetup, type Setup } from '../batch-setup.ts';
import type { Plan } from './plan.ts';

type Files = Pick<RunFolder, 'resultsFile' | 'setupFile'>;

const setupSchema = z.record(z.string(), z.string());

/**
 * `results.jsonl` of a batch: a line for each task, in the file as soon as the task is finished. What the batch is lies beside
 * it, so that one whose process was killed can be gone on with (`--resume`).
 */
export class ResultsFile {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  /** Begins the file anew, with the results that are kept of an earlier run. */
  static begin(files: Files, plan: Plan, kept: readonly TaskResult[]): ResultsFile {
    writeWhole(files.setupFile, `${JSON.stringify(setupOf(plan), null, 2)}\n`);
    writeWhole(files.resultsFile, kept.map(lineOf).join(''));
    return new ResultsFile(files.resultsFile);
  }

  append(result: TaskResult): void {
    appendFileSync(this.#file, lineOf(result));
  }
}

/**
 * What a run of the same batch had finished when it was cut short. A line that was being written then is left out, and so are tasks
 * that were interrupted: they had no end of their own.
 *
 * @throws MeshError `usage` where there is none, it was another batch, or it is finished; `config` for a damaged line
 */
export function finishedBefore(files: Files, plan: Plan): TaskResult[] {
  const { resultsFile, setupFile } = files;
  checkSetup(resultsFile, readSetup(setupFile), setupOf(plan));
  const lines = readText(resultsFile).split('\n').slice(0, -1);
  const finished = lines
    .map((line, index) => parseJsonLine(line, taskResultSchema, `${resultsFile}, line ${index + 1}`))
    .filter((result) => result.reason !== INTERRUPTED);
  if (finished.length >= plan.tasks.length) {
    throw new MeshError(
      'usage',
      `--resume: all ${plan.tasks.length} tasks in ${resultsFile} are finished; without --resume they are run anew`,
    );
  }
  return finished;
}

function setupOf({ team, tasks }: Plan): Setup {
  return {
    team: team.name,
    adapter: team.adapter,
    engine: team.engine,
    model: team.model ?? 'none',
    scorer: team.scorer,
    'team file': digestOf(team),
    tasks: digestOf(tasks),
  };
}

function digestOf(value: unknown): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(value)).digest('hex')}`;
}

function readSetup(file: string): Setup {
  const text = readText(file);
  try {
    return setupSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new MeshError(
      'config',
      `${file}: it does not say what batch this is; begin anew without --resume`,
      {
        cause: error,
      },
    );
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new MeshError(
      'usage',
      `--resume: there is no batch to go on with: ${file} cannot be read (${systemCodeOf(error)})`,
      { cause: error },
    );
  }
}

function lineOf(result: TaskResult): string {
  return `${JSON.stringify(result)}\n`;
}
