// The messages between the reading tools: the payload of each packet type, stated once. Unknown keys are dropped.

import { CHUNK_CHARACTERS } from '@gaia-mesh/core/contracts/limits.ts';
import { sentenceSchema } from '@gaia-mesh/reader/features/sentence-schema.ts';
import { tripleSchema } from '@gaia-mesh/reader/features/triple-schema.ts';
import { answerSchema } from '@gaia-mesh/reader/reason.ts';
import { passageSchema } from '@gaia-mesh/reader/search.ts';
import * as z from 'zod';

// Questions are a line or a page of text; far above both, far below what a model could be asked.
const question = z.string().max(100_000);

const passage = passageSchema.extend({
  /** True for a part of a table, which is sent whole. */
  is_table: z.boolean().exactOptional(),
});
const sentence = sentenceSchema.extend({
  /** The answer that a program over the document's tables gives, and the chance that it is right. The last event may have one. */
  computed: z.object({ answer: answerSchema.shape.answer, chance: z.number().min(0).max(1) }).exactOptional(),
});

/** `doc_init`: the document in pieces that join to the whole. A code point is up to two UTF-16 units. */
export const documentPayload = z.object({ question, chunks: z.array(z.string().max(2 * CHUNK_CHARACTERS)) });

/**
 * Maximum sentences and triples that go from step to step. The embedded engine keeps a few, which it ranks; a model may need every row of a
 * table. Up to here, scores stay within their bounds and a model still reads everything.
 */
export const MAX_EVENTS = 96;

/** `search_docs`: the parts of the document that may hold the answer, in the document's order. */
export const passagesPayload = z.object({ question, passages: z.array(passage).max(MAX_EVENTS) });

/** `events`: the sentences that may hold the answer, the most likely one first. */
export const eventsPayload = z.object({ question, events: z.array(sentence).max(MAX_EVENTS) });

/** `triples`: the statements in those sentences; a triple refers to its sentence. A model’s object may be in its own words. */
export const triplesPayload = z.object({
  question,
  triples: z
    .array(
      tripleSchema.extend({
        sentence: z
          .int()
          .min(0)
          .max(MAX_EVENTS - 1),
      }),
    )
    .max(MAX_EVENTS),
  sentences: z.array(sentence).max(MAX_EVENTS),
});

/** Cuts a model's text to the length that `schema` allows. */
export function fitText(text: string, schema: z.ZodString): string {
  return text.trim().slice(0, schema.maxLength ?? undefined);
}
