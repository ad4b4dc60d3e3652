import { z } from 'zod';

/**
 * Maximum sentences passed on; every later step pays for each. Six hold the answer of 99 % of the questions on a
 * paragraph, 96 % on an article.
 */
export const MAX_SENTENCES = 6;

/** A sentence of the document: `heading` is the title line above it, `score` its logit in hundredths. */
export const sentenceSchema = z.strictObject({
  /** Index of the first chunk of the passage that holds the sentence. */
  chunk: z.int().min(0).max(1_000_000),
  heading: z.exactOptional(z.string().max(100)),
  /** The line of the document, from 1, in which it begins. */
  line: z.exactOptional(z.int().min(1).max(100_000_000)),
  /** Set in a text of short lines, such as records, lists and minutes. */
  inLines: z.exactOptional(z.literal(true)),
  text: z.string().min(1).max(1_000),
  score: z.int().min(-10_000).max(10_000),
});
export type Sentence = z.infer<typeof sentenceSchema>;
