// Step 3: what the sentences state, as (subject, relation, object) with the object a possible answer.
// Every span whose edges may bound an answer is scored by a trained linear model; the best become triples.

import { viewQuestion } from './asked-view.ts';
import { readClause } from './clause.ts';
import { GROUPS } from './feature-sink.ts';
import { parseQuestion } from './question.ts';
import { viewSentence } from './sentence-facts.ts';
import type { Sentence } from './sentence-schema.ts';
import { listSpans, loadSpanModel, type SpanModel, type TokenSpan } from './span-model.ts';
import { SpanScorer } from './span-scorer.ts';
import { tagWords } from './tag-words.ts';
import { MAX_TRIPLES, type Triple, type TripleSet } from './triple-schema.ts';

export { type Triple, type TripleSet, tripleSchema, tripleSetSchema } from './triple-schema.ts';

let model: SpanModel | undefined;

export function proposeTriples(question: string, sentences: readonly Sentence[]): TripleSet {
  model ??= loadSpanModel(new URL('./weights/spans.bin', import.meta.url));
  return proposeWith(question, sentences, model);
}

/** The spans of all sentences, in order: of which sentence, from and to which token, and six scores each. */
type Candidate = { sentence: number; span: TokenSpan; scores: number[]; total: number };

/** The step with the scorer given, as training needs it. */
export function proposeWith(question: string, sentences: readonly Sentence[], scorer: SpanModel): TripleSet {
  const parsed = parseQuestion(question);
  const asked = viewQuestion(parsed, tagWords(parsed.text));
  const spanScorer = new SpanScorer(scorer.weights, asked);
  const bestScore = sentences[0]?.score ?? 0;
  const tokensOf = sentences.map(({ text }) => tagWords(text));
  const candidates: Candidate[] = [];
  for (const [rank, { score, heading }] of sentences.entries()) {
    const tokens = tokensOf[rank] ?? [];
    const facts = viewSentence(tokens, asked, { rank, score, bestScore, heading });
    const spans = listSpans(scorer.edges, tokens);
    const sums = spanScorer.score(facts, spans);
    for (const [index, span] of spans.entries()) {
      const scores: number[] = [];
      let total = 0;
      for (let group = 0; group < GROUPS; group++) {
        const hundredths = Math.round(100 * ((sums[index * GROUPS + group] ?? 0) * scorer.scale));
        scores.push(hundredths);
        total += hundredths;
      }
      candidates.push({ sentence: rank, span, scores, total });
    }
  }
  // Equals stay in the order of the text, in which they were listed.
  candidates.sort((a, b) => b.total - a.total);

  const triples = new Map<string, Triple>();
  for (const { sentence: rank, span, scores } of candidates) {
    const sentence = sentences[rank];
    const tokens = tokensOf[rank];
    if (sentence === undefined || tokens === undefined) continue;
    const start = tokens[span.from]?.start ?? 0;
    const object = sentence.text.slice(start, tokens[span.to]?.end ?? start);
    // The same words in a second sentence are the same answer.
    const key = object.toLowerCase();
    if (triples.has(key)) continue;
    triples.set(key, { ...readClause(sentence, tokens, span), object, sentence: rank, start, scores });
    if (triples.size === MAX_TRIPLES) break;
  }
  return {
    sentences: [...sentences],
    triples: triples.size > 0 ? [...triples.values()] : wholeSentences(sentences),
  };
}

/** Text without a single span that could be an answer still gets one: the sentence itself. */
function wholeSentences(sentences: readonly Sentence[]): Triple[] {
  return sentences.map(({ text, heading }, sentence) => ({
    subject: heading?.slice(0, 80) ?? '',
    relation: '',
    object: text,
    sentence,
    start: 0,
    scores: [0, 0, 0, 0, 0, 0],
  }));
}
