import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import { joinPassages, searchPassages } from '@gaia-mesh/reader/search.ts';
import * as z from 'zod';
import { exampleDocument } from './examples.ts';
import { keepExisting, numberLines } from './numbered.ts';
import { documentPayload, passagesPayload } from './payloads.ts';
import { createStepTool } from './step-tool.ts';

// About 5,000 tokens of English: a longer document is narrowed down first because it would not fit a model's context.
const MAX_LISTED_CHUNKS = 48;
// A question about a whole table needs all of its rows, so every listed chunk may be chosen.
const MAX_CHOSEN_CHUNKS = MAX_LISTED_CHUNKS;
/** Chunks that are kept if a model chooses none: with their neighbours they make up as much text as the embedded engine keeps. */
const KEPT_CHUNKS = 8;

/** Finds the parts of the document that may hold the answer. */
export const search: Tool = createStepTool({
  name: 'search',
  description: 'finds the passages of the document that may hold the answer',
  accepts: 'doc_init',
  input: documentPayload,
  example: exampleDocument,
  emits: 'search_docs',
  output: passagesPayload,
  said: ({ passages }) => `reads on in ${passages.length} passages of the document`,
  embedded: ({ question, chunks }) => ({ question, passages: searchPassages(question, chunks) }),
  model: {
    prompt: 'search',
    variables: ({ question, chunks }) => {
      const listed = chooseChunks(question, chunks);
      const texts = listed.map((index) => chunks[index] ?? '');
      return { question, chunks: numberLines(texts, listed) };
    },
    reply: z.object({ chunks: z.array(z.int().min(0).max(999_999)).max(MAX_CHOSEN_CHUNKS) }),
    output: ({ question, chunks }, reply) => {
      const chosen = keepExisting(reply.chunks, chunks.length, MAX_CHOSEN_CHUNKS);
      const kept = chosen.length > 0 ? chosen : [...chunks.keys()].slice(0, KEPT_CHUNKS);
      return { question, passages: joinPassages(kept, chunks) };
    },
  },
});

function chooseChunks(question: string, chunks: readonly string[]): number[] {
  const all = [...chunks.keys()];
  if (chunks.length <= MAX_LISTED_CHUNKS) return all;
  const passages = searchPassages(question, chunks);
  return all.filter((index) => passages.some(({ first, last }) => first <= index && index <= last));
}
