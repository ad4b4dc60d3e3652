import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { FINAL_ANSWER } from '@gaia-mesh/core/contracts/packet.ts';
import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import { answerSchema, chooseAnswer, chooseMinChance, explainUnsure } from '@gaia-mesh/reader/reason.ts';
import * as z from 'zod';
import { ANSWER_FORMAT } from '../answers/answer-format.ts';
import { cleanAnswer, findNonAnswer } from '../answers/clean-answer.ts';
import { EXAMPLES } from './examples.ts';
import { numberLines } from './numbered.ts';
import { fitText, triplesPayload } from './payloads.ts';
import { createStepTool } from './step-tool.ts';

/** The number of no sentence: there are fewer (`MAX_EVENTS`). */
const NO_SENTENCE = 99;

/** Maximum characters of the text that a model gives besides its answer; only the record has it. */
const MAX_THOUGHTS_CHARACTERS = 4_000;

/** Only the answer is sent; a model gives no confidence, but its thoughts and its answer verbatim. */
const outputSchema = answerSchema.extend({
  confidence: answerSchema.shape.confidence.exactOptional(),
  thoughts: z.string().max(MAX_THOUGHTS_CHARACTERS).exactOptional(),
  raw_answer: answerSchema.shape.answer.exactOptional(),
});

/** Chooses the answer and ends the task with it (MP-24, MP-25). */
export const reason: Tool = createStepTool({
  name: 'reason',
  description: 'chooses the triple that answers the question, and sends the final answer',
  accepts: 'triples',
  input: triplesPayload,
  example: EXAMPLES.reason,
  emits: 'data_event',
  output: outputSchema,
  said: ({ thoughts = '', evidence, raw_answer = '' }) =>
    [thoughts, evidence === '' ? '' : `It rests on: “${evidence}”`, raw_answer]
      .filter((part) => part !== '')
      .join('\n'),
  embedded: ({ question, triples, sentences }) => {
    const read = sentences.filter(({ computed }) => computed === undefined);
    const answer = chooseAnswer(question, { triples, sentences: read });
    const table = sentences.find(({ computed }) => computed !== undefined);
    if (table?.computed !== undefined && table.computed.chance >= answer.confidence)
      return { answer: table.computed.answer, evidence: table.text, confidence: table.computed.chance };
    if (answer.answer === '') throw new MeshError('reply', 'there is no text to read');
    if (answer.confidence < chooseMinChance(read))
      throw new MeshError('reply', explainUnsure(question, answer));
    return answer;
  },
  model: {
    prompt: 'reason',
    variables: ({ question, sentences, triples }) => ({
      question,
      sentences: numberLines(sentences.map(({ text }) => text)),
      answer_format: ANSWER_FORMAT,
      triples: triples.map((t) => `[${t.sentence}] ${t.subject} | ${t.relation} | ${t.object}`).join('\n'),
    }),
    // The sentence comes first: a model that has pointed to its evidence answers from it.
    reply: z.object({
      thoughts: z.string().optional(),
      sentence: z.int().min(0).max(NO_SENTENCE).default(NO_SENTENCE),
      answer: z.string(),
    }),
    output: ({ sentences }, { thoughts, sentence, answer }) => {
      if (findNonAnswer(answer) === 'refusal')
        throw new MeshError('reply', `the model refused to answer: “${answer.slice(0, 300).toWellFormed()}”`);
      const output = {
        answer: fitText(cleanAnswer(answer) ?? '', outputSchema.shape.answer),
        evidence: sentences[sentence]?.text ?? '',
        raw_answer: fitText(answer, outputSchema.shape.answer),
      };
      if (thoughts === undefined) return output;
      return { ...output, thoughts: fitText(thoughts, outputSchema.shape.thoughts.unwrap()) };
    },
  },
  // The record has the reasons for the answer; the wire carries the answer alone.
  payload: ({ answer }) => ({ answer }),
  emission: { tag: FINAL_ANSWER, log: 'reason.log' },
});
