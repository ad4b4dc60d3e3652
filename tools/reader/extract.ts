// Step 2: ranks the sentences of the passages by how likely they are to hold the answer.

import { findAnswerKind, listValues } from './answer-kinds.ts';
import { computeSentenceFeatures, type SentenceView } from './features/sentence-features.ts';
import { MAX_SENTENCES, type Sentence } from './features/sentence-schema.ts';
import { splitSentences } from './language/sentence-split.ts';
import { listStems, SIGN, splitWords } from './language/words.ts';
import { parseQuestion } from './question.ts';
import { countLineEnds, type Passage } from './search.ts';
import { type Forest, loadForest, scoreForest } from './trees.ts';

let forest: Forest | undefined;

/**
 * Largest gap to the best sentence, in hundredths of a logit, at which the fourth and later sentences are kept. A gap
 * of 250 is odds of 1 to 12: such a sentence hardly ever holds the answer, and the next step takes as long for it as
 * for any other.
 */
const MAX_SCORE_GAP = 250;
const KEPT = 3;

export function extractSentences(question: string, passages: readonly Passage[]): Sentence[] {
  forest ??= loadForest(new URL('./weights/sentences.bin', import.meta.url));
  const ranked = rankSentences(question, passages, forest);
  const best = ranked[0]?.score ?? 0;
  return ranked.filter(({ score }, rank) => rank < KEPT || best - score <= MAX_SCORE_GAP);
}

/** Ranks sentences with the given ranker, as training needs it; without one, keeps the document's order. */
export function rankSentences(
  question: string,
  passages: readonly Passage[],
  ranker: Forest | undefined,
): Sentence[] {
  const { sentences, features } = viewSentences(question, passages);
  const scores = features.map((row) => (ranker === undefined ? 0 : scoreForest(ranker, row)));
  if (ranker !== undefined) {
    addHops(question, sentences, scores);
    addValues(question, sentences, scores);
  }
  const rounded = scores.map((score) => Math.round(100 * score));
  return sentences
    .map((sentence, index) => ({ sentence, score: rounded[index] ?? 0 }))
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SENTENCES)
    .map(({ sentence, score }) => ({ ...sentence, score }));
}

// Logits added for a hop, and the number of best sentences that may name a heading; chosen on HotpotQA and MuSiQue
// questions.
const HOP_BONUS = 1.5;
const HOP_SOURCES = 3;

/**
 * Follows a second hop: when one of the best sentences names the heading of another part and the question does not,
 * raises the sentences below that heading ("... directed by A" raises those under the title "A").
 */
function addHops(question: string, sentences: readonly Omit<Sentence, 'score'>[], scores: number[]): void {
  const asked = question.toLowerCase();
  const best = scores.map((_, index) => index).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const headings = new Set(sentences.flatMap(({ heading }) => (heading === undefined ? [] : [heading])));
  for (const heading of headings) {
    const name = heading.replace(/\s*\(.*$/, '').toLowerCase();
    if (name.length < 3 || asked.includes(name)) continue;
    const named = best.slice(0, HOP_SOURCES).some((index) => {
      const source = sentences[index];
      return source !== undefined && source.heading !== heading && source.text.toLowerCase().includes(name);
    });
    if (!named) continue;
    for (const [index, sentence] of sentences.entries()) {
      if (sentence.heading === heading) scores[index] = (scores[index] ?? 0) + HOP_BONUS;
    }
  }
}

// Logits added to a sentence with a value of the kind that the question asks for, and for each number of the question.
const KIND_BONUS = 1.5;
const NUMBER_BONUS = 1;

/** Raises the sentences with a value of the kind that is asked for, and those with the question's numbers. */
function addValues(question: string, sentences: readonly Omit<Sentence, 'score'>[], scores: number[]): void {
  const parsed = parseQuestion(question);
  const kind = findAnswerKind(parsed);
  const numbers = parsed.words.flatMap(({ signs, lower }) => ((signs & SIGN.digit) === 0 ? [] : [lower]));
  if (numbers.length === 0 && (kind === undefined || kind.holds === 'none')) return;
  // Other sentences cannot come among the best any more; matching them takes longer than all of their features.
  const least = scores.toSorted((a, b) => b - a)[MAX_SENTENCES - 1] ?? Number.NEGATIVE_INFINITY;
  const reach = KIND_BONUS + numbers.length * NUMBER_BONUS;
  for (const [index, { text }] of sentences.entries()) {
    if ((scores[index] ?? 0) + reach < least) continue;
    const own = numbers.length === 0 ? [] : splitWords(text).map(({ lower }) => lower);
    const named = numbers.filter((number) => own.includes(number)).length;
    const isOfKind = kind !== undefined && kind.holds !== 'none' && listValues(kind, text).length > 0;
    scores[index] = (scores[index] ?? 0) + (isOfKind ? KIND_BONUS : 0) + named * NUMBER_BONUS;
  }
}

/** Average characters of a line up to which lines are short; paragraphs have several hundred. */
const SHORT_LINE = 160;
/** A text of fewer lines is a paragraph with a title. */
const MIN_LINES = 4;

function isOfLines(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.length >= MIN_LINES && text.length / lines.length <= SHORT_LINE;
}

type ViewedSentences = { sentences: Omit<Sentence, 'score'>[]; features: number[][] };

export function viewSentences(question: string, passages: readonly Passage[]): ViewedSentences {
  const sentences: Omit<Sentence, 'score'>[] = [];
  const views: SentenceView[] = [];
  for (const passage of passages) {
    const inLines = isOfLines(passage.text);
    let heading = passage.heading;
    let headingStems = listStems(heading ?? '');
    let line = passage.line ?? 1;
    let lineFrom = 0;
    let position = passage.heading === undefined ? 0 : 3;
    for (const span of splitSentences(passage.text)) {
      const text = passage.text.slice(span.start, span.end).trim();
      views.push({ text, words: splitWords(text), headingStems, position, isHeading: span.heading });
      line += countLineEnds(passage.text.slice(lineFrom, span.start));
      lineFrom = span.start;
      const place = inLines ? ({ chunk: passage.first, inLines } as const) : { chunk: passage.first };
      const sentence = passage.line === undefined ? { ...place, text } : { ...place, line, text };
      sentences.push(heading === undefined ? sentence : { ...sentence, heading });
      position++;
      if (!span.heading) continue;
      heading = text.slice(0, 100);
      headingStems = listStems(heading);
      position = 0;
    }
  }
  return { sentences, features: computeSentenceFeatures(parseQuestion(question), views) };
}
