import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import { extractSentences, viewSentences } from '@gaia-mesh/reader/extract.ts';
import { sentenceSchema } from '@gaia-mesh/reader/features/sentence-schema.ts';
import { answerSchema } from '@gaia-mesh/reader/reason.ts';
import * as z from 'zod';
import { answerTextTables } from '../tables/text-tables.ts';
import { EXAMPLES } from './examples.ts';
import { keepExisting, numberLines } from './numbered.ts';
import { eventsPayload, MAX_EVENTS, passagesPayload } from './payloads.ts';
import { createStepTool } from './step-tool.ts';

/** Returns the answer that the document's tables give, as an event. */
function computeFromTables(
  question: string,
  tables: readonly { readonly text: string }[],
  beside: readonly string[],
) {
  // The next part of a table begins with a line end, and a table with none.
  const text = tables
    .map((table) => (table.text.startsWith('\n') ? table.text : `\n\n${table.text}`))
    .join('');
  const [best] = answerTextTables(question, text, { beside }).given;
  if (best === undefined) return [];
  const answer = best.items.join(', ').slice(0, answerSchema.shape.answer.maxLength ?? undefined);
  const why = `The table gives it by ${best.program}: ${answer}`.slice(
    0,
    sentenceSchema.shape.text.maxLength ?? undefined,
  );
  return [{ chunk: 0, text: why, score: 0, computed: { answer, chance: best.chance } }];
}

/** Picks the sentences that may hold the answer. */
export const extract: Tool = createStepTool({
  name: 'extract',
  description: 'picks the sentences of the passages that may hold the answer',
  accepts: 'search_docs',
  input: passagesPayload,
  example: EXAMPLES.extract,
  emits: 'events',
  output: eventsPayload,
  said: ({ events }) => `sentences that matter: ${events.map(({ text }) => text).join(' | ')}`,
  embedded: ({ question, passages }) => {
    const tables = passages.filter(({ is_table }) => is_table === true);
    const texts = passages.filter(({ is_table }) => is_table !== true);
    const rows = new Set(tables.flatMap(({ text }) => text.split('\n')));
    const blank = (text: string) =>
      text
        .split('\n')
        .map((line) => (rows.has(line) ? '' : line))
        .join('\n');
    const prose = texts.map((passage) => ({ ...passage, text: blank(passage.text) }));
    const read = prose.filter(({ text }) => text.trim() !== '');
    const events = extractSentences(question, read.length === 0 ? texts : read);
    return {
      question,
      events: [
        ...events,
        ...computeFromTables(
          question,
          tables,
          read.map(({ text }) => text),
        ),
      ],
    };
  },
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
