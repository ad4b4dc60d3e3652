// Step 3: turns the sentences into triples (subject, relation, object) whose object may be the answer. A trained linear
// model scores every span whose edges may bound an answer; the best become triples.
import { type AnswerKind, findAnswerKind, listValues } from './answer-kinds.ts';
import { GROUPS } from './features/feature-sink.ts';
import { viewSentence } from './features/sentence-facts.ts';
import type { Sentence } from './features/sentence-schema.ts';
import { listSpans, loadSpanModel, type SpanModel, type TokenSpan } from './features/span-model.ts';
import { SpanScorer } from './features/span-scorer.ts';
import { toTagNumber } from './features/span-shapes.ts';
import { MAX_TRIPLES, type Triple, type TripleSet } from './features/triple-schema.ts';
import { viewQuestion } from './language/asked-view.ts';
import { type Token, tagWords } from './language/tag-words.ts';
import { parseQuestion } from './question.ts';

let model: SpanModel | undefined;

export function proposeTriples(question: string, sentences: readonly Sentence[]): TripleSet {
  model ??= loadSpanModel(new URL('./weights/spans.bin', import.meta.url));
  return proposeScoredTriples(question, sentences, model);
}

/** A sentence with its candidate spans, and six sums of weights for each span. */
type Read = { sentence: Sentence; tokens: readonly Token[]; spans: readonly TokenSpan[]; sums: Int32Array };

/** Proposes triples with the given scorer, as training needs it. */
export function proposeScoredTriples(
  question: string,
  sentences: readonly Sentence[],
  scorer: SpanModel,
): TripleSet {
  const parsed = parseQuestion(question);
  const asked = viewQuestion(parsed, tagWords(parsed.text));
  const spanScorer = new SpanScorer(scorer.weights, asked);
  const bestScore = sentences[0]?.score ?? 0;
  const reads = sentences.map((sentence, rank): Read => {
    const { text, score, heading } = sentence;
    const tokens = tagWords(text);
    const spans = listSpans(scorer.edges, tokens);
    const facts = viewSentence(tokens, asked, { rank, score, bestScore, heading });
    return { sentence, tokens, spans, sums: spanScorer.score(facts, spans) };
  });
  const answerKind = findAnswerKind(parsed);
  const fitting =
    answerKind === undefined
      ? []
      : keepBest(
          reads.map((read) => keepValues(answerKind, read)),
          scorer.scale,
        );
  const triples = fitting.length > 0 ? fitting : keepBest(reads, scorer.scale);
  return { sentences: [...sentences], triples: triples.length > 0 ? triples : toSentenceTriples(sentences) };
}

/**
 * Replaces the spans of a sentence by its values of the kind. A value has the sums of the best span that shares a token
 * with it: spans are cut by parts of speech, which know nothing of units.
 */
function keepValues(kind: AnswerKind, { sentence, tokens, spans, sums }: Read): Read {
  const kept: TokenSpan[] = [];
  const keptSums: number[] = [];
  const values = listValues(kind, sentence.text).map(({ start, end }) => {
    return {
      from: tokens.findIndex((token) => token.end > start),
      to: tokens.findLastIndex((token) => token.start < end),
    };
  });
  if (kind.holds !== 'exact') {
    for (const [index, span] of spans.entries()) {
      const holds = values.some(({ from, to }) => span.from <= to && from <= span.to);
      if (holds !== (kind.holds === 'part')) continue;
      kept.push(span);
      keptSums.push(...sums.subarray(index * GROUPS, (index + 1) * GROUPS));
    }
    return { sentence, tokens, spans: kept, sums: Int32Array.from(keptSums) };
  }
  for (const { from, to } of values) {
    let best = -1;
    for (const [index, span] of spans.entries()) {
      if (span.to < from || span.from > to) continue;
      if (best < 0 || addGroups(sums, index) > addGroups(sums, best)) best = index;
    }
    if (from < 0 || to < from || best < 0) continue;
    kept.push({ from, to });
    keptSums.push(...sums.subarray(best * GROUPS, (best + 1) * GROUPS));
  }
  return { sentence, tokens, spans: kept, sums: Int32Array.from(keptSums) };
}

function addGroups(sums: Int32Array, index: number): number {
  let sum = 0;
  for (let group = 0; group < GROUPS; group++) sum += sums[index * GROUPS + group] ?? 0;
  return sum;
}

// Upper bound on all spans, far above what the longest sentences give: 6 of 1,000 characters, 14 spans from each.
const MAX_SPANS = 2 ** 20;

/** Returns the best candidates; the same words in a second sentence are the same answer. */
function keepBest(reads: readonly Read[], scale: number): Triple[] {
  const triples = new Map<string, Triple>();
  for (const index of iterateBest(reads, scale)) {
    let at = index;
    let rank = 0;
    let read = reads[rank];
    while (read !== undefined && at >= read.spans.length) {
      at -= read.spans.length;
      read = reads[++rank];
    }
    const span = read?.spans[at];
    if (read === undefined || span === undefined) continue;
    const { sentence, tokens, sums } = read;
    const start = tokens[span.from]?.start ?? 0;
    const object = sentence.text.slice(start, tokens[span.to]?.end ?? start);
    const key = object.toLowerCase();
    if (triples.has(key)) continue;
    const scores = Array.from(sums.subarray(at * GROUPS, (at + 1) * GROUPS), (sum) =>
      toHundredths(sum, scale),
    );
    triples.set(key, { ...readClause(sentence, tokens, span), object, sentence: rank, start, scores });
    if (triples.size === MAX_TRIPLES) break;
  }
  return [...triples.values()];
}

/**
 * Yields the numbers of all spans, the best first; equal ones in the order of the text. Score and number are sorted as
 * one number, which is many times faster than sorting with a comparison function.
 */
function* iterateBest(reads: readonly Read[], scale: number): Generator<number> {
  const keys = new Float64Array(reads.reduce((sum, { spans }) => sum + spans.length, 0));
  let index = 0;
  for (const { sums } of reads) {
    for (let at = 0; at < sums.length; at += GROUPS) {
      let total = 0;
      for (let group = 0; group < GROUPS; group++) total += toHundredths(sums[at + group] ?? 0, scale);
      keys[index] = total * MAX_SPANS + MAX_SPANS - 1 - index;
      index++;
    }
  }
  keys.sort();
  for (let at = keys.length - 1; at >= 0; at--) {
    const key = keys[at] ?? 0;
    yield MAX_SPANS - 1 - (key - Math.floor(key / MAX_SPANS) * MAX_SPANS);
  }
}

function toHundredths(sum: number, scale: number): number {
  return Math.round(100 * (sum * scale));
}

/** Returns each sentence itself as a triple, for text without any span that could be an answer. */
function toSentenceTriples(sentences: readonly Sentence[]): Triple[] {
  return sentences.map(({ text, heading }, sentence) => ({
    subject: heading?.slice(0, 80) ?? '',
    relation: '',
    object: text,
    sentence,
    start: 0,
    scores: [0, 0, 0, 0, 0, 0],
  }));
}

type Clause = { subject: string; relation: string };

const MAX_PART_CHARS = 48;
const VERB = toTagNumber('VERB');
const AUX = toTagNumber('AUX');
const PRON = toTagNumber('PRON');
const PUNCT = toTagNumber('PUNCT');

/** Returns subject and relation of the clause that holds the span; the heading above replaces a pronoun subject. */
function readClause(sentence: Sentence, tokens: readonly Token[], span: TokenSpan): Clause {
  const verb = findNearestVerb(tokens, span.from - 1, -1);
  if (verb >= 0) {
    const group = findVerbStart(tokens, verb);
    return {
      subject: findSubject(sentence, tokens, group),
      relation: cutTriple(sentence, tokens, group, span.from - 1),
    };
  }
  const next = findNearestVerb(tokens, span.to + 1, 1);
  if (next < 0) return { subject: sentence.heading?.slice(0, MAX_PART_CHARS) ?? '', relation: '' };
  const rest = Math.min(tokens.length - 1, next + 6);
  return {
    subject: cutTriple(sentence, tokens, next + 1, rest),
    relation: `~${tokens[next]?.text ?? ''}`.slice(0, MAX_PART_CHARS),
  };
}

function findNearestVerb(tokens: readonly Token[], from: number, step: 1 | -1): number {
  for (let at = from; at >= 0 && at < tokens.length; at += step) {
    const tag = tokens[at]?.tag;
    if (tag === VERB || tag === AUX) return at;
  }
  return -1;
}

/** Returns the index of the first word of the verb group ("had been", "was later built") that ends at `verb`. */
function findVerbStart(tokens: readonly Token[], verb: number): number {
  let start = verb;
  while (start > 0 && (tokens[start - 1]?.tag === AUX || tokens[start - 1]?.tag === VERB)) start--;
  return start;
}

function findSubject(sentence: Sentence, tokens: readonly Token[], verb: number): string {
  let start = verb;
  while (start > 0 && verb - start < 8) {
    const tag = tokens[start - 1]?.tag;
    if (tag === VERB || tag === AUX || tag === PUNCT) break;
    start--;
  }
  if (verb - start <= 1 && sentence.heading !== undefined && tokens[start]?.tag === PRON) {
    return sentence.heading.slice(0, MAX_PART_CHARS);
  }
  return cutTriple(sentence, tokens, start, verb - 1);
}

function cutTriple(sentence: Sentence, tokens: readonly Token[], from: number, to: number): string {
  const start = tokens[from]?.start;
  const end = tokens[to]?.end;
  if (start === undefined || end === undefined || end <= start) return '';
  return sentence.text.slice(start, Math.min(end, start + MAX_PART_CHARS));
}
