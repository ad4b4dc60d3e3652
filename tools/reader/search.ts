// Step 1: finds the parts of the document that may hold the answer. BM25 (Robertson & Zaragoza, "The Probabilistic
// Relevance Framework: BM25 and Beyond", 2009) over the chunks, then a second hop: names that the best chunks hold and
// the question does not may head the part with the answer.
import { z } from 'zod';
import { splitSentences } from './language/sentence-split.ts';
import { SIGN, splitWords, type Word } from './language/words.ts';
import { parseQuestion, type Question } from './question.ts';

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
const HOP_CHUNKS = 3;
const HOP_WEIGHT = 0.4;
const HEADING_REACH_CHARS = 8_000;
const K1 = 1.2;
const B = 0.5;

export function searchPassages(question: string, chunks: readonly string[]): Passage[] {
  const document = chunks.join('');
  if (document.trim() === '') return [];
  const starts = listChunkStarts(chunks);
  const words = splitWords(document);
  const places = placeWords(words, starts);
  const parsed = parseQuestion(question);

  const scores = scoreBm25(weighQuestion(parsed), words, places, chunks.length);
  addHop(scores, parsed, words, places, chunks.length);
  const lines = listChunkLines(chunks);
  return joinPassages(findTopIndices(scores, TOP_CHUNKS), chunks).map((joined) => {
    const passage = { ...joined, line: lines[joined.first] ?? 1 };
    const heading = findHeading(document, starts[passage.first] ?? 0);
    return heading === '' ? passage : { ...passage, heading };
  });
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

/** Returns the chunk in which each word begins; a word that a chunk's end cuts belongs to the chunk of its start. */
function placeWords(words: readonly Word[], starts: readonly number[]): number[] {
  let chunk = 0;
  return words.map((word) => {
    while (chunk + 1 < starts.length && (starts[chunk + 1] ?? 0) <= word.start) chunk++;
    return chunk;
  });
}

function weighQuestion(question: Question): Map<string, number> {
  return new Map(question.terms.map((term) => [term, question.names.has(term) ? 1.3 : 1]));
}

/** Scores every chunk by BM25; only the query's terms are counted, so that a single question needs no index. */
function scoreBm25(
  query: ReadonlyMap<string, number>,
  words: readonly Word[],
  places: readonly number[],
  chunkCount: number,
): number[] {
  const lengths = new Array<number>(chunkCount).fill(0);
  const counts = new Map<string, Map<number, number>>();
  for (const [index, word] of words.entries()) {
    const chunk = places[index] ?? 0;
    lengths[chunk] = (lengths[chunk] ?? 0) + 1;
    if (!query.has(word.stem)) continue;
    const perChunk = counts.get(word.stem) ?? new Map<number, number>();
    perChunk.set(chunk, (perChunk.get(chunk) ?? 0) + 1);
    counts.set(word.stem, perChunk);
  }
  const meanLength = Math.max(1, words.length / Math.max(1, chunkCount));
  const scores = new Array<number>(chunkCount).fill(0);
  for (const [term, perChunk] of counts) {
    const idf = Math.log(1 + (chunkCount - perChunk.size + 0.5) / (perChunk.size + 0.5));
    for (const [chunk, count] of perChunk) {
      const norm = count + K1 * (1 - B + (B * (lengths[chunk] ?? 0)) / meanLength);
      scores[chunk] = (scores[chunk] ?? 0) + ((query.get(term) ?? 0) * idf * count * (K1 + 1)) / norm;
    }
  }
  return scores;
}

/** Adds the score of a second query: the names in the best chunks that the question does not hold. */
function addHop(
  scores: number[],
  question: Question,
  words: readonly Word[],
  places: readonly number[],
  chunkCount: number,
): void {
  const best = new Set(findTopIndices(scores, HOP_CHUNKS));
  const known = new Set(question.terms);
  const names = new Map<string, number>();
  for (const [index, word] of words.entries()) {
    if (!best.has(places[index] ?? -1) || known.has(word.stem)) continue;
    if ((word.signs & (SIGN.capital | SIGN.stop)) === SIGN.capital) names.set(word.stem, HOP_WEIGHT);
    if (names.size >= 60) break;
  }
  const hop = scoreBm25(names, words, places, chunkCount);
  for (const [chunk, score] of hop.entries()) scores[chunk] = (scores[chunk] ?? 0) + score * HOP_WEIGHT;
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
