import { chunkDocument } from '@gaia-mesh/core/contracts/task.ts';
import { createScores } from '@gaia-mesh/reader/features/triple-schema.ts';
import type * as z from 'zod';
import type { documentPayload, eventsPayload, passagesPayload, triplesPayload } from './payloads.ts';

// One question on its way through the four tools: the input of each. It is long enough that a tool which reads it has
// loaded and compiled what a real document needs.
const question = 'Who built the second mill at Sandford after the flood?';

const SENTENCES = [
  'The first mill at Sandford was built by Ann Berrow in 1804, on the left bank of the River Tamble.',
  'It ground corn for ninety years, and at harvest it worked day and night.',
  'In the flood of 12 March 1894 the water rose 4.5 metres within six hours and carried the wheel away.',
  'The miller, Josiah Penhallow, lost two carts, eleven sacks of flour and the whole of his savings.',
  'After the flood the second mill at Sandford was built by the engineer Edith Marlowe, who came from Bristol.',
  'She chose a turbine of cast iron, because it needed less water than the old wheel.',
  'The Sandford Milling Company paid £3,200 for the building and another £850 for the machines.',
  'On 3 May 1897 the first bread from the new mill was sold in the market of Hexley.',
  'According to the parish register, forty-two people worked there before the war.',
  'Its chimney, which was taken down in 1951, could be seen from a distance of 20 kilometres.',
  'Dr Samuel Oyelaran of the University of Leeds has called it “the most honest building in the county”.',
  'Today the house is a museum; about 15,000 visitors come every year, most of them in summer.',
];

/** The document, twice over, so that it has as many chunks as a short article. */
const text = [...SENTENCES, ...SENTENCES].join(' ');

const sentences = SENTENCES.slice(2, 8).map((sentence, index) => ({
  chunk: 0,
  text: sentence,
  score: 100 - 40 * index,
}));

/** Every name and number in the sentences, as a step that proposes answers might list them. */
const triples = sentences.flatMap((sentence, index) =>
  [...sentence.text.matchAll(/\b(?:[A-Z]\w+(?: [A-Z]\w+)*|\d[\d.,]*\d)\b/g)].slice(0, 4).map((match) => ({
    subject: 'The mill',
    relation: 'was built by',
    object: match[0],
    sentence: index,
    start: match.index,
    scores: createScores(50 - 10 * index),
  })),
);

/** The input of each tool. */
export const EXAMPLES: {
  readonly search: z.infer<typeof documentPayload>;
  readonly extract: z.infer<typeof passagesPayload>;
  readonly triple: z.infer<typeof eventsPayload>;
  readonly reason: z.infer<typeof triplesPayload>;
} = {
  search: { question, chunks: chunkDocument(text) },
  extract: { question, passages: [{ first: 0, last: 5, text }] },
  triple: { question, events: sentences },
  reason: { question, sentences, triples },
};
