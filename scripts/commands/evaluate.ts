import { createReadStream } from 'node:fs';
import { explainFileFault, MeshError, readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { openUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { defineTable, flag, option, text } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { findScorer, type Scorer } from '@gaia-mesh/evaluation/scorers/scorer.ts';
import { printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { defineOptions } from '../command-line/options.ts';

/** Maximum length of a line: a frame in hexadecimal, which is longer than its packet in JSON. */
const MAX_LINE_BYTES = 2 * MAX_FRAME_BYTES;

interface InputLine {
  /** Number of the line, from 1. */
  readonly number: number;
  readonly bytes: Buffer;
}

/**
 * Yields the lines of `input` that are not empty. Only a line feed ends a line: `node:readline` also splits at U+2028,
 * which JSON texts may contain.
 */
async function* readInputLines(input: AsyncIterable<Buffer>): AsyncGenerator<InputLine> {
  let number = 0;
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      begun.push(chunk.subarray(start, end));
      start = end + 1;
      number += 1;
      yield* keepFilled({ number, bytes: Buffer.concat(begun) });
      begun = [];
      begunBytes = 0;
    }
    begun.push(chunk.subarray(start));
    begunBytes += chunk.length - start;
    if (begunBytes > MAX_LINE_BYTES) {
      throw new MeshError('usage', `line ${number + 1}: longer than ${MAX_LINE_BYTES} bytes`);
    }
  }
  yield* keepFilled({ number: number + 1, bytes: Buffer.concat(begun) });
}

function* keepFilled(line: InputLine): Generator<InputLine> {
  if (line.bytes.some((byte) => byte > 0x20)) yield line;
}

const closed = new Promise<void>((resolve) => process.stdout.once('error', () => resolve()));

/** Prints a line and waits while its reader is slower. Prints nothing once the pipe is closed, see {@link isRead}. */
async function printLine(text: string): Promise<void> {
  if (!isRead() || printText(`${text}\n`)) return;
  await Promise.race([new Promise((resolve) => process.stdout.once('drain', resolve)), closed]);
}

function isRead(): boolean {
  return process.stdout.errored === null;
}

// JSON numbers become text, as the scorers compare texts.
const textSchema = z.union([z.string(), z.number()]).transform(String);

const lineSchema = z.looseObject({
  prediction: textSchema.nullable(),
  truth: textSchema,
  aliases: z.array(textSchema).nullish(),
});

const evaluateTable = defineTable({
  options: z.object({
    scorer: option('<name>', 'score with exact_rouge, squad, bleu or gaia', text),
    input: option('<file>', 'read predictions from JSON lines (-: standard input)', text),
    json: flag('print JSON lines (the default)'),
  }),
});

export function evaluate(command: Command): void {
  defineOptions(command, evaluateTable, run);
}

/** Scores predictions, one JSON line each, in order. An input without any is a fault, because a mean over nothing has no value. */
async function run(options: z.output<typeof evaluateTable.options>): Promise<void> {
  const scorer = findScorer(options.scorer);
  const isStandardInput = options.input === '-';
  const file = isStandardInput ? 'standard input' : resolveUserPath(options.input);
  const input: AsyncIterable<Buffer> = isStandardInput
    ? process.stdin
    : createReadStream(file, { fd: openUserFile(file, { what: '--input' }) });
  try {
    const scored = await scoreLines(readInputLines(input), scorer, file);
    if (scored === 0)
      throw new MeshError(
        'usage',
        `--input ${options.input}: expected at least one line with prediction and truth, got none`,
      );
  } catch (error) {
    // Only errors of the stream itself need an explanation; the others have one.
    if (error instanceof MeshError || readSystemCode(error) === undefined) throw error;
    throw new MeshError('config', `--input ${file}: ${explainFileFault(error)}`, { cause: error });
  }
}

/** Prints the scores of each line; returns the number of lines. */
async function scoreLines(lines: AsyncIterable<InputLine>, scorer: Scorer, file: string): Promise<number> {
  let scored = 0;
  for await (const { number, bytes } of lines) {
    const { prediction, truth, aliases } = parseJsonLine(
      bytes.toString('utf8'),
      lineSchema,
      `${file}:${number}`,
    );
    const scores = scorer.score(prediction, [truth, ...(aliases ?? [])]);
    // GAIA's verdict is right or wrong; inside it is a number so that its mean is the accuracy.
    const shown = scorer.name === 'gaia' ? { correct: scores.correct === 1 } : scores;
    scored += 1;
    if (!isRead()) break;
    await printLine(JSON.stringify(shown));
  }
  return scored;
}
