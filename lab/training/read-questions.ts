import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { scoreSquadEm, scoreSquadF1 } from '@gaia-mesh/evaluation/scorers/squad.ts';
import { z } from 'zod';

export type LabelledQuestion = {
  part: string;
  question: string;
  document: string;
  truths: string[];
};

const single = z.object({
  task_id: z.string(),
  question: z.string(),
  document: z.string(),
  answer: z.string(),
  aliases: z.array(z.string()).optional(),
});
const grouped = z.object({
  doc_id: z.string(),
  document: z.string(),
  qas: z.array(
    z.object({
      question: z.string(),
      answer: z.string(),
      aliases: z.array(z.string()).optional(),
    }),
  ),
});
const lineSchema = z.union([single, grouped]);

/** Reads labelled questions from a .jsonl or .jsonl.gz file, one a line or grouped by document. */
export function readQuestions(path: string): LabelledQuestion[] {
  return readLines(path, lineSchema).flatMap((row) => {
    const isSingle = 'task_id' in row;
    const part = isSingle
      ? row.task_id.replace(/^(squad-[a-z]+|[a-z]+).*$/, '$1')
      : row.doc_id.replace(/^([a-z_]+).*$/, '$1');
    return (isSingle ? [row] : row.qas).map(({ question, answer, aliases = [] }) => {
      return { part, question, document: row.document, truths: [answer, ...aliases] };
    });
  });
}

/** Reads the lines of a .jsonl or .jsonl.gz file, each of which fits the schema. */
export function readLines<T>(path: string, schema: z.ZodType<T>): T[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

/** Cuts the document every 400 code points, as the team's first agent receives it. */
export function cutChunks(document: string, chunkChars = 400): string[] {
  const points = [...document];
  const chunks: string[] = [];
  for (let at = 0; at < points.length; at += chunkChars)
    chunks.push(points.slice(at, at + chunkChars).join(''));
  return chunks;
}

/** Returns exact match and F1 of a prediction against the accepted answer that it fits best. */
export function scoreSquad(prediction: string, truths: readonly string[]): { exact: number; f1: number } {
  return {
    exact: Math.max(0, ...truths.map((truth) => scoreSquadEm(prediction, truth))),
    f1: Math.max(0, ...truths.map((truth) => scoreSquadF1(prediction, truth))),
  };
}
