import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import type { Sentence } from '@gaia-mesh/reader/features/sentence-schema.ts';
import { createScores, type Triple, tripleSchema } from '@gaia-mesh/reader/features/triple-schema.ts';
import { proposeTriples } from '@gaia-mesh/reader/triple.ts';
import * as z from 'zod';
import { EXAMPLES } from './examples.ts';
import { numberLines } from './numbered.ts';
import { eventsPayload, fitText, MAX_EVENTS, triplesPayload } from './payloads.ts';
import { createStepTool } from './step-tool.ts';

const replySchema = z.object({
  triples: z
    .array(
      z.object({
        sentence: z.int().min(0).max(99),
        subject: z.string(),
        relation: z.string(),
        object: z.string(),
      }),
    )
    .max(MAX_EVENTS),
});
type Claim = z.infer<typeof replySchema>['triples'][number];

/** States the sentences as triples, whose objects are possible answers. */
export const triple: Tool = createStepTool({
  name: 'triple',
  description: 'states the sentences as (subject, relation, object) with possible answers as objects',
  accepts: 'events',
  input: eventsPayload,
  example: EXAMPLES.triple,
  emits: 'triples',
  output: triplesPayload,
  said: ({ triples }) =>
    `facts: ${triples.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`.trim()).join('; ')}`,
  embedded: ({ question, events }) => {
    const read = events.filter(({ computed }) => computed === undefined);
    return { question, triples: proposeTriples(question, read).triples, sentences: events };
  },
  model: {
    prompt: 'triple',
    variables: ({ question, events }) => ({
      question,
      sentences: numberLines(events.map(({ text }) => text)),
    }),
    reply: replySchema,
    output: ({ question, events }, reply) => {
      const found = reply.triples.flatMap((claim, rank) => locate(claim, events, rank));
      return {
        question,
        sentences: events,
        triples: found.length > 0 ? found : events.map(toSentenceTriple),
      };
    },
  },
});

/** Finds the sentence of a claim. Its object is copied from a sentence, or derived from the one that it names: a sum, a count, another form of a name. */
function locate(claim: Claim, sentences: readonly Sentence[], rank: number): Triple[] {
  const object = fitText(claim.object, tripleSchema.shape.object);
  if (object === '') return [];
  const copiedFrom = sentences.findIndex(({ text }) => text.includes(object));
  const isNamed = copiedFrom < 0 || sentences[claim.sentence]?.text.includes(object) === true;
  const named = claim.sentence < sentences.length ? claim.sentence : 0;
  const sentence = isNamed ? named : copiedFrom;
  const from = sentences[sentence];
  if (from === undefined) return [];
  const start = Math.max(0, from.text.indexOf(object));
  const subject = fitText(claim.subject, tripleSchema.shape.subject);
  const relation = fitText(claim.relation, tripleSchema.shape.relation);
  // A model ranks but gives no evidence of three kinds: a distance of one logit keeps its order for the following steps.
  return [{ subject, relation, object, sentence, start, scores: createScores(100 * (MAX_EVENTS - rank)) }];
}

function toSentenceTriple({ text }: Sentence, sentence: number): Triple {
  return { subject: '', relation: '', object: text, sentence, start: 0, scores: createScores(0) };
}
