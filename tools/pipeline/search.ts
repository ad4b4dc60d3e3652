import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import { joinPassages, searchPassages } from '@gaia-mesh/reader/search.ts';
import * as z from 'zod';
import { findTextTables } from '../tables/text-tables.ts';
import { EXAMPLES } from './examples.ts';
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
  example: EXAMPLES.search,
  emits: 'search_docs',
  output: passagesPayload,
  said: ({ passages }) => `reads on in ${passages.length} passages of the document`,
  embedded: ({ question, chunks }) => {
    const passages = searchPassages(question, chunks);
    return { question, passages: [...passages, ...listTablePassages(chunks)] };
  },
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

/** Maximum characters of a table in one passage, and maximum passages of tables: a question about a table needs all of its rows. */
const MAX_TABLE_CHARACTERS = 20_000;
const MAX_TABLE_PASSAGES = 40;

/** Lists the document's tables, each in passages that end with a row. */
function listTablePassages(chunks: readonly string[]) {
  const document = chunks.join('');
  const lines = document.split('\n');
  const last = Math.max(0, chunks.length - 1);
  const passages = findTextTables(document).flatMap(({ start, end }) => {
    const parts: { first: number; last: number; line: number; is_table: true; text: string }[] = [];
    for (const [at, text] of lines.slice(start, end).entries()) {
      const part = parts.at(-1);
      const row = text.slice(0, MAX_TABLE_CHARACTERS);
      if (part !== undefined && part.text.length + row.length < MAX_TABLE_CHARACTERS) part.text += `\n${row}`;
      else parts.push({ first: 0, last, line: start + at + 1, is_table: true, text: row });
    }
    return parts.map((part, at) => (at === 0 ? part : { ...part, text: `\n${part.text}` }));
  });
  return passages.slice(0, MAX_TABLE_PASSAGES);
}

function chooseChunks(question: string, chunks: readonly string[]): number[] {
  const all = [...chunks.keys()];
  if (chunks.length <= MAX_LISTED_CHUNKS) return all;
  const passages = searchPassages(question, chunks);
  return all.filter((index) => passages.some(({ first, last }) => first <= index && index <= last));
}
