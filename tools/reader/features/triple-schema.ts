// This file is apart from triple.ts, so that a step which only checks triples does not load the tagger.
import { z } from 'zod';
import { MAX_SENTENCES, sentenceSchema } from './sentence-schema.ts';

export const MAX_TRIPLES = 24;
const SCORES = 6;

export const tripleSchema = z.strictObject({
  subject: z.string().max(80),
  /** The verb group between subject and object; it starts with "~" when the object is the verb's own subject. */
  relation: z.string().max(80),
  /** A candidate answer, word for word from its sentence. */
  object: z.string().min(1).max(1_000),
  /** Index into `sentences`, and UTF-16 offset of the object in that sentence. */
  sentence: z
    .int()
    .min(0)
    .max(MAX_SENTENCES - 1),
  start: z.int().min(0).max(1_000),
  /**
   * Evidence in hundredths of a logit, by feature group: the kind of answer, the words around it, its relation to the
   * question's words.
   */
  scores: z.array(z.int()).length(SCORES),
});
export type Triple = z.infer<typeof tripleSchema>;

/** The triples, best first, point to their source sentences, so that each sentence is sent once. */
export const tripleSetSchema = z.strictObject({
  sentences: z.array(sentenceSchema).max(MAX_SENTENCES),
  triples: z.array(tripleSchema).max(MAX_TRIPLES),
});
export type TripleSet = z.infer<typeof tripleSetSchema>;

/** Returns scores for a triple that has no evidence by group but only a rank: one logit, in hundredths. */
export function createScores(logit: number): number[] {
  return [logit, ...new Array<number>(SCORES - 1).fill(0)];
}
