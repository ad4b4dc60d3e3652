import { normalizeAnswer } from '@gaia-mesh/evaluation/scorers/squad.ts';
import { type SentenceFacts, viewSentence } from '@gaia-mesh/reader/features/sentence-facts.ts';
import type { Sentence } from '@gaia-mesh/reader/features/sentence-schema.ts';
import {
  computeEdgeIndex,
  EDGE_TAGS,
  listSpans,
  MAX_SPAN_TOKENS,
  type TokenSpan,
} from '@gaia-mesh/reader/features/span-model.ts';
import { type AskedView, viewQuestion } from '@gaia-mesh/reader/language/asked-view.ts';
import { type Token, tagWords } from '@gaia-mesh/reader/language/tag-words.ts';
import { parseQuestion } from '@gaia-mesh/reader/question.ts';
import type { LabelledQuestion } from './read-questions.ts';

type Candidate = TokenSpan & { facts: SentenceFacts; right: boolean };
export type SpanQuestion = {
  labelled: LabelledQuestion;
  sentences: readonly Sentence[];
  asked: AskedView;
  facts: SentenceFacts[];
  wanted: ReadonlySet<string>;
};

const tagged = new Map<string, readonly Token[]>();
function tagOnce(text: string): readonly Token[] {
  const known = tagged.get(text);
  if (known !== undefined) return known;
  const tokens = tagWords(text);
  tagged.set(text, tokens);
  return tokens;
}

const normalized = new Map<string, string>();
function normalizeCached(text: string): string {
  const known = normalized.get(text);
  if (known !== undefined) return known;
  const normal = normalizeAnswer(text);
  normalized.set(text, normal);
  return normal;
}

export function prepareSpans(labelled: LabelledQuestion, sentences: readonly Sentence[]): SpanQuestion {
  const parsed = parseQuestion(labelled.question);
  const asked = viewQuestion(parsed, tagWords(parsed.text));
  const bestScore = sentences[0]?.score ?? 0;
  const facts = sentences.map(({ text, score, heading }, rank) =>
    viewSentence(tagOnce(text), asked, { rank, score, bestScore, heading }),
  );
  return { labelled, sentences, asked, facts, wanted: new Set(labelled.truths.map(squeeze)) };
}

/** Removes blanks from a normalised answer: tokens and words are cut at different places. */
function squeeze(text: string): string {
  return normalizeAnswer(text).replaceAll(' ', '');
}

/** Lists all candidates of a question, each marked right when it equals an accepted answer. */
export function listCandidates(question: SpanQuestion, edges: Uint8Array): Candidate[] {
  return question.facts.flatMap((facts) =>
    listSpans(edges, facts.tokens).map((span) => ({
      ...span,
      facts,
      right: question.wanted.has(joinNormal(facts.tokens, span)),
    })),
  );
}

function joinNormal(tokens: readonly Token[], span: TokenSpan): string {
  let joined = '';
  for (let at = span.from; at <= span.to; at++) joined += normalizeCached(tokens[at]?.text ?? '');
  return joined;
}

/** Allows the tag pairs at which at least `minShare` of the questions' answers begin or end. */
export function learnEdges(questions: readonly SpanQuestion[], minShare: number): Uint8Array {
  const counts = new Float64Array(2 * EDGE_TAGS * EDGE_TAGS);
  for (const question of questions) {
    for (const { tokens } of question.facts) {
      for (const [from, token] of tokens.entries()) {
        if (normalizeCached(token.text) === '') continue;
        let joined = '';
        for (let to = from; to < Math.min(tokens.length, from + MAX_SPAN_TOKENS); to++) {
          const last = normalizeCached(tokens[to]?.text ?? '');
          joined += last;
          if (last === '' || !question.wanted.has(joined)) continue;
          const left = computeEdgeIndex(0, tokens, from);
          const right = computeEdgeIndex(1, tokens, to);
          counts[left] = (counts[left] ?? 0) + 1;
          counts[right] = (counts[right] ?? 0) + 1;
        }
      }
    }
  }
  return Uint8Array.from(counts, (count) => (count >= minShare * questions.length ? 1 : 0));
}
