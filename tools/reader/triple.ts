// Step 3: what the sentences state, as (subject, relation, object) with the object a possible answer.
// Every span whose edges may bound an answer is scored by a trained linear model; the best become triples.

import { viewQuestion } from './asked-view.ts';
import { type Clause, readClause } from './clause.ts';
import { parseQuestion } from './question.ts';
import { viewSentence } from './sentence-facts.ts';
import type { Sentence } from './sentence-schema.ts';
import { listSpans, loadSpanModel, type SpanModel, scoreSpan } from './span-model.ts';
import { tagWords } from './tag-words.ts';
import { MAX_TRIPLES, type Triple, type TripleSet } from './triple-schema.ts';

export { type Triple, type TripleSet, tripleSchema, tripleSetSchema } from './triple-schema.ts';

let model: SpanModel | undefined;

export function proposeTriples(question: string, sentences: readonly Sentence[]): TripleSet {
  model ??= loadSpanModel(new URL('./weights/spans.bin', import.meta.url));
  return proposeWith(question, sentences, model);
}

type Scored = {
  object: string;
  start: number;
  sentence: number;
  scores: number[];
  clause: () => Clause;
};

/** The step with the scorer given, as training needs it. */
export function proposeWith(question: string, sentences: readonly Sentence[], scorer: SpanModel): TripleSet {
  const parsed = parseQuestion(question);
  const asked = viewQuestion(parsed, tagWords(parsed.text));
  const bestScore = sentences[0]?.score ?? 0;
  const scored: Scored[] = [];
  for (const [rank, sentence] of sentences.entries()) {
    const tokens = tagWords(sentence.text);
    const facts = viewSentence(tokens, asked, {
      rank,
      score: sentence.score,
      bestScore,
      heading: sentence.heading,
    });
    for (const span of listSpans(scorer.edges, tokens)) {
      const start = tokens[span.from]?.start ?? 0;
      const scores = scoreSpan(scorer, asked, facts, span);
      scored.push({
        object: sentence.text.slice(start, tokens[span.to]?.end ?? start),
        start,
        sentence: rank,
        scores: scores.map((score) => Math.round(100 * score)),
        clause: () => readClause(sentence, tokens, span),
      });
    }
  }
  scored.sort((a, b) => total(b.scores) - total(a.scores) || a.sentence - b.sentence || a.start - b.start);
  const triples = keepBest(scored).map(({ clause, object, sentence, start, scores }) => ({
    ...clause(),
    object,
    sentence,
    start,
    scores,
  }));
  return { sentences: [...sentences], triples: triples.length > 0 ? triples : wholeSentences(sentences) };
}

function total(scores: readonly number[]): number {
  return scores.reduce((sum, score) => sum + score, 0);
}

/** The best candidates; the same words in a second sentence are the same answer. */
function keepBest(scored: readonly Scored[]): Scored[] {
  const kept = new Map<string, Scored>();
  for (const candidate of scored) {
    const key = candidate.object.toLowerCase();
    if (!kept.has(key)) kept.set(key, candidate);
    if (kept.size === MAX_TRIPLES) break;
  }
  return [...kept.values()];
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
