import { createReadStream } from 'node:fs';
import { explainFileFault, MeshError, readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { findScorer, type Scorer } from '@gaia-mesh/evaluation/scorers/scorer.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { type InputLine, readInputLines } from '../command-line/line-input.ts';
import { isRead, printLine } from '../command-line/line-output.ts';

// A JSON number is made text, as the scorers compare texts.
const textSchema = z.union([z.string(), z.number()]).transform(String);

const lineSchema = z.looseObject({
  prediction: textSchema.nullable(),
  truth: textSchema,
  aliases: z.array(textSchema).nullish(),
});

export function evaluate(command: Command): void {
  command
    .requiredOption('--scorer <name>', 'score with exact_rouge, squad, bleu or gaia')
    .requiredOption('--input <file>', 'read predictions from JSON lines (-: standard input)')
    .option('--json', 'print JSON lines (the default)')
    .action(run);
}

/** Scores predictions, one JSON line each, in order. */
async function run(options: { readonly scorer: string; readonly input: string }): Promise<void> {
  const scorer = findScorer(options.scorer);
  const isStandardInput = options.input === '-';
  const file = isStandardInput ? 'standard input' : resolveUserPath(options.input);
  const input: AsyncIterable<Buffer> = isStandardInput ? process.stdin : createReadStream(file);
  try {
    await scoreLines(readInputLines(input), scorer, file);
  } catch (error) {
    // What the stream itself failed with; the rest says already what is wrong.
    if (error instanceof MeshError || readSystemCode(error) === undefined) throw error;
    throw new MeshError('config', `--input ${file}: ${explainFileFault(error)}`, { cause: error });
  }
}

async function scoreLines(lines: AsyncIterable<InputLine>, scorer: Scorer, file: string): Promise<void> {
  for await (const { number, bytes } of lines) {
    const { prediction, truth, aliases } = parseJsonLine(
      bytes.toString('utf8'),
      lineSchema,
      `${file}:${number}`,
    );
    const scores = scorer.score(prediction, [truth, ...(aliases ?? [])]);
    // GAIA's verdict is right or wrong; it is a number inside so that its mean is the accuracy.
    const shown = scorer.name === 'gaia' ? { correct: scores.correct === 1 } : scores;
    if (!isRead()) return;
    await printLine(JSON.stringify(shown));
  }
}
