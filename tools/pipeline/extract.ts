import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import { extractSentences, viewSentences } from '@gaia-mesh/reader/extract.ts';
import * as z from 'zod';
import { examplePassages } from './examples.ts';
import { keepExisting, numberLines } from './numbered.ts';
import { eventsPayload, MAX_EVENTS, passagesPayload } from './payloads.ts';
import { createStepTool } from './step-tool.ts';

/** Picks the sentences that may hold the answer. */
export const extract: Tool = createStepTool({
  name: 'extract',
  description: 'picks the sentences of the passages that may hold the answer',
  accepts: 'search_docs',
  input: passagesPayload,
  example: examplePassages,
  emits: 'events',
  output: eventsPayload,
  said: ({ events }) => `sentences that matter: ${events.map(({ text }) => text).join(' | ')}`,
  embedded: ({ question, passages }) => ({ question, events: extractSentences(question, passages) }),
  model: {
    prompt: 'extract',
    variables: ({ question, passages }) => ({
      question,
      sentences: numberLines(viewSentences(question, passages).sentences.map(({ text }) => text)),
    }),
    reply: z.object({ sentences: z.array(z.int().min(0).max(9_999)).max(MAX_EVENTS) }),
    output: ({ question, passages }, reply) => {
      const { sentences } = viewSentences(question, passages);
      const chosen = keepExisting(reply.sentences, sentences.length, MAX_EVENTS);
      const kept = chosen.length > 0 ? chosen : [...sentences.keys()].slice(0, MAX_EVENTS);
      // A model ranks but gives no logits: a distance of one unit (100) keeps its order for the following steps.
      const events = kept.map((index, rank) => ({
        ...sentences[index],
        score: 100 * (MAX_EVENTS - rank),
      }));
      return { question, events };
    },
  },
});
