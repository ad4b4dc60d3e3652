// What the reading tools say to one another: the payload of each packet type, stated once. Unknown keys are dropped.
import * as z from 'zod';
import { CHUNK_CHARACTERS } from '../../core/contracts/limits.ts';
import { MAX_SENTENCES, sentenceSchema } from '../reader/features/sentence-schema.ts';
import { tripleSetSchema } from '../reader/features/triple-schema.ts';
import { answerSchema } from '../reader/reason.ts';
import { passageSchema } from '../reader/search.ts';

// Questions are a line or a page of text; far above both, far below what a model could be asked.
const question = z.string().max(100_000);

// On the wire an absent heading is an absent key: an adapter could not carry `undefined`.
const passage = passageSchema.extend({ heading: passageSchema.shape.heading.unwrap().exactOptional() });
const sentence = sentenceSchema.extend({ heading: sentenceSchema.shape.heading.unwrap().exactOptional() });

/** `doc_init`: the document in pieces that join to the whole. A code point is up to two UTF-16 units. */
export const documentPayload = z.object({ question, chunks: z.array(z.string().max(2 * CHUNK_CHARACTERS)) });

/** `search_docs`: the parts of the document that may hold the answer, in the document's order. */
export const passagesPayload = z.object({ question, passages: z.array(passage).max(32) });

/** `events`: the sentences that may hold the answer, the most likely one first. */
export const eventsPayload = z.object({ question, events: z.array(sentence).max(MAX_SENTENCES) });

/** `triples`: what those sentences state; a triple points to its sentence. */
export const triplesPayload = z.object({
  question,
  ...tripleSetSchema.shape,
  sentences: z.array(sentence).max(MAX_SENTENCES),
});

/** What `reason` comes to. Only the answer travels; a model gives no confidence. */
export const reasonOutput = answerSchema.extend({
  confidence: answerSchema.shape.confidence.exactOptional(),
});

/** A text of a model's, as far as `schema` has room for it. */
export function fitted(text: string, schema: z.ZodString): string {
  return text.trim().slice(0, schema.maxLength ?? undefined);
}
