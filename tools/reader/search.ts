// Step 1: finds the parts of the document that may hold the answer. BM25 (Robertson & Zaragoza, "The Probabilistic
// Relevance Framework: BM25 and Beyond", 2009) over the chunks.
import { z } from 'zod';
import { splitSentences } from './language/sentence-split.ts';
import { splitWords } from './language/words.ts';
import { parseQuestion, type Question } from './question.ts';
import { rememberTexts } from './remember.ts';

/** Neighbouring chunks joined again: `first` and `last` are chunk indices, `heading` is the title line above. */
export const passageSchema = z.strictObject({
  first: z.int().min(0).max(1_000_000),
  last: z.int().min(0).max(1_000_000),
  heading: z.exactOptional(z.string().max(100)),
  /** The line of the document, from 1, in which it begins. */
  line: z.exactOptional(z.int().min(1).max(100_000_000)),
  text: z.string().min(1).max(40_000),
});
export type Passage = z.infer<typeof passageSchema>;

// Number of best chunks kept. With both neighbours of each, at most 24 chunks (about 10 KB) are sent on, however long
// the document is.
const TOP_CHUNKS = 8;
const HEADING_REACH_CHARS = 8_000;
const K1 = 1.2;
const B = 0.5;

export function searchPassages(question: string, chunks: readonly string[]): Passage[] {
  const document = chunks.join('');
  if (document.trim() === '') return [];
  const index = readIndex(document, chunks);
  const scores = scoreBm25(weighQuestion(parseQuestion(question)), index);
  return joinPassages(findTopIndices(scores, TOP_CHUNKS), chunks).map((joined) => {
    const passage = { ...joined, line: index.lines[joined.first] ?? 1 };
    const heading = index.headingOf(joined.first);
    return heading === '' ? passage : { ...passage, heading };
  });
}

/** The facts about a document that all questions share. */
interface ChunkIndex {
  /** Offset of each chunk, and the line, from 1, in which it begins. */
  readonly starts: readonly number[];
  readonly lines: readonly number[];
  /** Number of words of each chunk, and of all. */
  readonly lengths: readonly number[];
  readonly words: number;
  /** Counts of each stem by chunk. */
  readonly stems: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Returns the heading above a chunk; '' without one. */
  readonly headingOf: (chunk: number) => string;
}

/** Indices by document, with one chunking each: a document is cut in one way only. */
const recallIndex = rememberTexts((): { index?: ChunkIndex } => ({}));

function readIndex(document: string, chunks: readonly string[]): ChunkIndex {
  const known = recallIndex(document);
  const starts = listChunkStarts(chunks);
  const isSame =
    known.index?.starts.length === starts.length &&
    known.index.starts.every((start, chunk) => start === starts[chunk]);
  if (known.index === undefined || !isSame) known.index = indexChunks(document, chunks, starts);
  return known.index;
}

function indexChunks(document: string, chunks: readonly string[], starts: readonly number[]): ChunkIndex {
  const words = splitWords(document);
  const lengths = new Array<number>(chunks.length).fill(0);
  const stems = new Map<string, Map<number, number>>();
  let chunk = 0;
  for (const { stem, start } of words) {
    // A word that a chunk's end cuts belongs to the chunk of its start.
    while (chunk + 1 < starts.length && (starts[chunk + 1] ?? 0) <= start) chunk++;
    lengths[chunk] = (lengths[chunk] ?? 0) + 1;
    const counts = stems.get(stem) ?? new Map<number, number>();
    counts.set(chunk, (counts.get(chunk) ?? 0) + 1);
    stems.set(stem, counts);
  }
  const headings = new Map<number, string>();
  return {
    starts,
    lines: listChunkLines(chunks),
    lengths,
    words: words.length,
    stems,
    headingOf(of) {
      const heading = headings.get(of) ?? findHeading(document, starts[of] ?? 0);
      headings.set(of, heading);
      return heading;
    },
  };
}

/** Finds the last title line that begins before `end`, in a bounded part of the text. */
function findHeading(document: string, end: number): string {
  if (end === 0) return '';
  const from = Math.max(0, end - HEADING_REACH_CHARS);
  // Skips the line that the part begins in: it is cut, and its rest would look like a short line.
  const start = from === 0 ? 0 : document.indexOf('\n', from) + 1;
  if (start === 0 && from > 0) return '';
  const lines = splitSentences(document.slice(start, end + 100)).filter((line) => line.heading);
  const line = lines.findLast((candidate) => start + candidate.start < end);
  return line === undefined
    ? ''
    : document
        .slice(start + line.start, start + line.end)
        .trim()
        .slice(0, 100);
}

function listChunkStarts(chunks: readonly string[]): number[] {
  const starts: number[] = [];
  let at = 0;
  for (const chunk of chunks) {
    starts.push(at);
    at += chunk.length;
  }
  return starts;
}

/** Returns the line, from 1, in which each chunk begins. */
function listChunkLines(chunks: readonly string[]): number[] {
  let line = 1;
  return chunks.map((chunk) => {
    const own = line;
    line += countLineEnds(chunk);
    return own;
  });
}

/** Counts the line ends of a text. */
export function countLineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function weighQuestion(question: Question): Map<string, number> {
  return new Map(question.terms.map((term) => [term, question.names.has(term) ? 1.3 : 1]));
}

/** Scores every chunk by BM25. */
function scoreBm25(query: ReadonlyMap<string, number>, { stems, lengths, words }: ChunkIndex): number[] {
  const meanLength = Math.max(1, words / Math.max(1, lengths.length));
  const scores = new Array<number>(lengths.length).fill(0);
  for (const [term, weight] of query) {
    const counts = stems.get(term);
    if (counts === undefined) continue;
    const idf = Math.log(1 + (lengths.length - counts.size + 0.5) / (counts.size + 0.5));
    for (const [chunk, count] of counts) {
      const norm = count + K1 * (1 - B + (B * (lengths[chunk] ?? 0)) / meanLength);
      scores[chunk] = (scores[chunk] ?? 0) + (weight * idf * count * (K1 + 1)) / norm;
    }
  }
  return scores;
}

function findTopIndices(scores: readonly number[], count: number): number[] {
  return scores
    .map((_, index) => index)
    .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b)
    .slice(0, count);
}

/** Joins the chosen chunks with their neighbours, since chunks are cut anywhere; adjacent ones become one passage. */
export function joinPassages(chosen: readonly number[], chunks: readonly string[]): Passage[] {
  const near = new Set(chosen.flatMap((index) => [index - 1, index, index + 1]));
  const passages: Passage[] = [];
  for (const [index, text] of chunks.entries()) {
    if (!near.has(index)) continue;
    const previous = passages.at(-1);
    if (previous?.last === index - 1) {
      previous.last = index;
      previous.text += text;
    } else {
      passages.push({ first: index, last: index, text });
    }
  }
  return passages.filter(({ text }) => text.trim() !== '');
}
