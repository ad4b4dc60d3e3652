// Runs the four steps in-process over labelled questions and prints exact match, F1 and time by part.
// Usage: node lab/training/measure.ts FILE.jsonl[.gz] [--limit N]
import { parseArgs } from 'node:util';
import { normalizeAnswer } from '../../evaluation/scorers/squad.ts';
import { extractSentences } from '../../tools/reader/extract.ts';
import { chooseAnswer } from '../../tools/reader/reason.ts';
import { searchPassages } from '../../tools/reader/search.ts';
import { proposeTriples } from '../../tools/reader/triple.ts';
import { cutChunks, readQuestions, squadScore } from './read-questions.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { limit: { type: 'string' }, part: { type: 'string' }, misses: { type: 'boolean' } },
});
const [file] = positionals;
if (file === undefined)
  throw new Error('usage: measure.ts FILE.jsonl[.gz] [--limit N] [--part NAME] [--misses]');

type QuestionScore = { exact: number; f1: number; ms: number; bytes: number[]; recalls: number[] };
const parts = new Map<string, QuestionScore[]>();
const questions = readQuestions(file)
  .filter((question) => values.part === undefined || question.part === values.part)
  .slice(0, Number(values.limit ?? Number.POSITIVE_INFINITY));

for (const { part, question, document, truths } of questions) {
  const chunks = cutChunks(document);
  const startMs = performance.now();
  const passages = searchPassages(question, chunks);
  const sentences = extractSentences(question, passages);
  const triples = proposeTriples(question, sentences);
  const result = chooseAnswer(question, triples);
  const ms = performance.now() - startMs;
  const score = squadScore(result.answer, truths);
  const has = (texts: string[]) =>
    texts.some((text) => truths.some((truth) => text.includes(truth))) ? 1 : 0;
  const wanted = new Set(truths.map(normalizeAnswer));
  const objects = triples.triples.map((triple) => (wanted.has(normalizeAnswer(triple.object)) ? 1 : 0));
  const row = {
    ...score,
    ms,
    bytes: [passages, sentences, triples, result].map((payload) => JSON.stringify(payload).length),
    recalls: [
      has(passages.map((passage) => passage.text)),
      has(sentences.map((sentence) => sentence.text)),
      has(sentences.slice(0, 1).map((sentence) => sentence.text)),
      Math.max(0, ...objects),
      Math.max(0, ...objects.slice(0, 5)),
      objects[0] ?? 0,
    ],
  };
  for (const name of [part, 'all']) parts.set(name, [...(parts.get(name) ?? []), row]);
  if (values.misses && score.exact === 0) {
    console.log(
      `${question}\n  got:  ${result.answer}\n  want: ${truths.join(' | ')}\n  in:   ${result.evidence}`,
    );
  }
}

const mean = (numbers: number[]) =>
  numbers.reduce((sum, value) => sum + value, 0) / Math.max(1, numbers.length);
const percent = (value: number) => (100 * value).toFixed(1).padStart(5);
const quantile = (numbers: number[], q: number) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(q * (numbers.length - 1))] ?? 0;

console.log(
  'part         n    EM    F1  p50ms p95ms | in passages, sentences, best sentence | in triples, top 5, top 1 | bytes by step',
);
for (const [part, rows] of parts) {
  const ms = rows.map((row) => row.ms);
  const recalls = [0, 1, 2, 3, 4, 5].map((at) => percent(mean(rows.map((row) => row.recalls[at] ?? 0))));
  const bytes = [0, 1, 2, 3].map((at) => Math.round(mean(rows.map((row) => row.bytes[at] ?? 0))));
  console.log(
    `${part.padEnd(10)}${String(rows.length).padStart(4)} ${percent(mean(rows.map((row) => row.exact)))} ${percent(mean(rows.map((row) => row.f1)))} ` +
      `${quantile(ms, 0.5).toFixed(1).padStart(6)} ${quantile(ms, 0.95).toFixed(1).padStart(5)} | ${recalls.slice(0, 3).join(' ')} | ${recalls.slice(3).join(' ')} | ${bytes.join(' ')}`,
  );
}
