import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { hashText } from '@gaia-mesh/core/contracts/model-exchange.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import * as z from 'zod';

const DATA = path.join(codeFolder, '..', 'shared', 'data');

/** Questions of WikiTableQuestions, of whose 14,152 a sample of this size is to be asked. */
const ALL_TABLES = 200;

/** Questions asked by one batch. A batch starts all teams, and one that was asked is not asked again. */
const BATCH = 6;

/** Questions of one kind, in the order in which they are asked. */
interface Sample {
  readonly kind: 'texts' | 'tables';
  readonly lines: readonly string[];
  /** Number of questions of which the lines are the first. */
  readonly all: number;
  /** Arguments of the command that asks them. */
  readonly args: readonly string[];
}

/** Reads the questions, `texts` and `tables` at most of each kind. */
export function readSamples({ texts, tables }: Record<Sample['kind'], number>): readonly Sample[] {
  const qa = readFileSync(path.join(DATA, 'qa', 'dev.jsonl'), 'utf8');
  const wtq = gunzipSync(readFileSync(path.join(DATA, 'wtq', 'train.jsonl.gz'))).toString('utf8');
  const allTexts = spreadOverParts(qa.trim().split('\n'));
  const allTables = spreadOverParts(wtq.trim().split('\n')).slice(0, ALL_TABLES);
  return [
    { kind: 'texts', lines: allTexts.slice(0, texts), all: allTexts.length, args: [] },
    {
      kind: 'tables',
      lines: allTables.slice(0, tables),
      all: allTables.length,
      args: ['--format', 'wtq', '--tables', path.join(DATA, 'wtq', 'tables.jsonl.gz')],
    },
  ];
}

const idSchema = z.union([
  z.object({ task_id: z.string() }).transform(({ task_id: id }) => id),
  z.object({ id: z.string() }).transform(({ id }) => id),
]);

/** Returns the part of the development data that a question belongs to, such as `squad-p` or `hotpot`. */
function findPart(id: string): string {
  return /^(squad-[a-z]+|[a-z]+)/.exec(id)?.[1] ?? id;
}

/**
 * Orders questions so that the first ones of any number have the parts in their shares of the whole, and a larger sample holds every
 * smaller one. Within a part they are in the order of their hashes: neighbours in the file are about the same article.
 */
export function spreadOverParts(lines: readonly string[]): string[] {
  const parts = Map.groupBy(
    lines
      .map((line) => ({ line, id: idSchema.parse(tryParseJson(line)) }))
      .map((question) => ({ ...question, hash: hashText(question.id) })),
    ({ id }) => findPart(id),
  );
  const placed = [...parts.values()].flatMap((questions) =>
    questions
      .toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
      .map(({ line }, index) => ({ line, place: (index + 0.5) / questions.length })),
  );
  return placed.toSorted((a, b) => a.place - b.place).map(({ line }) => line);
}

const attemptSchema = z.object({
  task_id: z.string(),
  team: z.string(),
  status: z.string(),
  answer: z.string().nullable(),
  correct: z.boolean().nullable(),
  f1: z.number().nullable(),
  token_sum: z.number(),
  elapsed_ms: z.number(),
});

/** An answer, with who gave it and how. */
export interface Attempt extends z.infer<typeof attemptSchema> {
  readonly kind: Sample['kind'];
  /** Name of the arm. */
  readonly arm: string;
  /** The part of the development data that the question belongs to. */
  readonly part: string;
  /** True if nothing else ran at the same time, so that its time counts. */
  readonly isTimed: boolean;
}

/** Teams with an engine; the embedded engine and a model are two arms. */
interface Arm {
  readonly name: string;
  readonly teams: readonly string[];
  /** The options that choose the engine. */
  readonly args: readonly string[];
}

interface AskOptions {
  readonly folder: string;
  readonly arms: readonly Arm[];
  /** Limit of one question, in seconds. */
  readonly time: number;
  /** Number of batches that run at once. */
  readonly atOnce: number;
}

/**
 * Asks all arms all questions. The first batch of each kind runs alone, so that its times count; of the others, some run at once, each with
 * a model process of its own. Goes on where an earlier call with the same folder was cut off, or asked fewer questions.
 */
export async function askSamples(samples: readonly Sample[], options: AskOptions): Promise<Attempt[]> {
  const batches = samples.flatMap((sample) =>
    Array.from({ length: Math.ceil(sample.lines.length / BATCH) }, (_, index) => ({ sample, index })),
  );
  const attempts: Attempt[] = [];
  const stop = new AbortController();
  const askBatch = async ({ sample, index }: (typeof batches)[number]) => {
    for (const arm of options.arms) {
      const asked = await askArm(sample, index, arm, { ...options, signal: stop.signal });
      for (const attempt of asked)
        attempts.push({
          ...attempt,
          kind: sample.kind,
          arm: arm.name,
          part: findPart(attempt.task_id),
          isTimed: index === 0,
        });
    }
  };
  for (const batch of batches.filter(({ index }) => index === 0)) await askBatch(batch);
  // Texts and tables take turns, so that a run that is cut off has some of both.
  const waiting = batches.filter(({ index }) => index > 0).toSorted((a, b) => a.index - b.index);
  const work = async () => {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) await askBatch(batch);
  };
  try {
    await Promise.all(Array.from({ length: options.atOnce }, work));
  } finally {
    stop.abort();
  }
  return attempts;
}

/** Asks one arm the questions of one batch. */
async function askArm(
  { kind, lines, args }: Sample,
  index: number,
  arm: Arm,
  { folder, time, signal }: AskOptions & { readonly signal: AbortSignal },
): Promise<z.infer<typeof attemptSchema>[]> {
  const questions = `${lines.slice(index * BATCH, (index + 1) * BATCH).join('\n')}\n`;
  const words = [...args, '--team', arm.teams.join(','), ...arm.args, '--question-time', String(time)];
  const stem = path.join(
    folder,
    `${kind}-${index + 1}-${arm.name}-${hashText(JSON.stringify([words, questions]))}`,
  );
  const journal = `${stem}.jsonl.journal`;
  const done = `${stem}.done`;
  // A batch that goes on asks questions again whose time was over, so that a finished one is not gone on with.
  if (existsSync(done)) return readAttempts(journal);
  writeFileSync(`${stem}.questions.jsonl`, questions);
  printError(`${kind}, batch ${index + 1}, ${arm.name} …`);
  // A batch with failed questions ends with an error, and is a result all the same.
  const failure: unknown = await promisify(execFile)(
    process.execPath,
    [
      ...[path.join(codeFolder, 'scripts', 'gaia-mesh.js'), 'gaia', ...words, '--no-cache'],
      ...['--questions', `${stem}.questions.jsonl`, '--out', `${stem}.jsonl`],
      ...['--concurrency', '1', '--port-base', 'auto', ...(existsSync(journal) ? ['--resume'] : [])],
    ],
    { maxBuffer: 64 * 1024 * 1024, signal },
  ).then(
    () => undefined,
    (error: unknown) => error,
  );
  const attempts = existsSync(journal) ? readAttempts(journal) : [];
  const expected = arm.teams.length * questions.trim().split('\n').length;
  if (attempts.length < expected)
    throw new MeshError(
      'engine',
      `${stem}: ${attempts.length} of ${expected} attempts were made; the same command goes on`,
      { cause: failure },
    );
  writeFileSync(done, '');
  return attempts;
}

function readAttempts(journal: string): z.infer<typeof attemptSchema>[] {
  const lines = readFileSync(journal, 'utf8').split('\n');
  return lines.flatMap((line) => attemptSchema.safeParse(tryParseJson(line)).data ?? []);
}
