// What the reading tools say to one another: the payload of each packet type, stated once. Unknown keys are dropped.
import * as z from 'zod';
import { CHUNK_CHARACTERS } from '../core/limits.ts';
import { answerSchema } from './reader/reason.ts';
import { passageSchema } from './reader/search.ts';
import { MAX_SENTENCES, sentenceSchema } from './reader/sentence-schema.ts';
import { scoresOf, tripleSetSchema } from './reader/triple-schema.ts';

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

// One question on its way through the four tools.
const exampleQuestion = 'Who built the mill at Sandford?';
const exampleText = 'The mill at Sandford was built by Ann Berrow in 1804. It ground corn for 90 years.';
const exampleSentence = {
  chunk: 0,
  text: 'The mill at Sandford was built by Ann Berrow in 1804.',
  score: 100,
};

export const exampleDocument: z.infer<typeof documentPayload> = {
  question: exampleQuestion,
  chunks: [exampleText],
};

export const examplePassages: z.infer<typeof passagesPayload> = {
  question: exampleQuestion,
  passages: [{ first: 0, last: 0, text: exampleText }],
};

export const exampleEvents: z.infer<typeof eventsPayload> = {
  question: exampleQuestion,
  events: [exampleSentence],
};

export const exampleTriples: z.infer<typeof triplesPayload> = {
  question: exampleQuestion,
  sentences: [exampleSentence],
  triples: [
    {
      subject: 'The mill',
      relation: 'built by',
      object: 'Ann Berrow',
      sentence: 0,
      start: 34,
      scores: scoresOf(100),
    },
    { subject: 'The mill', relation: 'in', object: '1804', sentence: 0, start: 48, scores: scoresOf(0) },
  ],
};
