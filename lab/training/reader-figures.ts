import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import { extractSentences } from '@gaia-mesh/reader/extract.ts';
import { chooseAnswer } from '@gaia-mesh/reader/reason.ts';
import { searchPassages } from '@gaia-mesh/reader/search.ts';
import { proposeTriples } from '@gaia-mesh/reader/triple.ts';
import { cutChunks, readQuestions, scoreSquad } from './read-questions.ts';

export interface ReaderFigures {
  readonly questions: number;
  readonly exact: number;
  readonly f1: number;
  readonly p95_cpu_ms: number;
}

/** How often the reader is right, by part of a file of labelled questions. */
export function measureReader(file: string): Record<string, ReaderFigures> {
  const scored = readQuestions(file).map(({ part, question, document, truths }) => {
    const before = cpuMs();
    const sentences = extractSentences(question, searchPassages(question, cutChunks(document)));
    const { answer } = chooseAnswer(question, proposeTriples(question, sentences));
    return { part, ms: cpuMs() - before, ...scoreSquad(answer, truths) };
  });
  const parts = Map.groupBy(scored, ({ part }) => part);
  return Object.fromEntries([...parts].map(([part, rows]) => [part, summarizeRows(rows)]));
}

function summarizeRows(rows: readonly { exact: number; f1: number; ms: number }[]): ReaderFigures {
  const mean = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  const times = rows.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    questions: rows.length,
    exact: mean(({ exact }) => exact),
    f1: mean(({ f1 }) => f1),
    p95_cpu_ms: times[Math.floor(0.95 * (times.length - 1))] ?? 0,
  };
}
