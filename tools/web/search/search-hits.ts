import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext, DataToolReply } from '../../data-tool.ts';

/** One result of a search. */
interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

const MAX_RESULTS = 20;
const DEFAULT_RESULTS = 5;

const MAX_TITLE_CHARACTERS = 300;
const MAX_SNIPPET_CHARACTERS = 1500;
const MAX_URL_CHARACTERS = 2048;

const input = z.strictObject({
  query: z.string().trim().min(1).max(1000),
  max_results: z.int().min(1).max(MAX_RESULTS).exactOptional().describe(`default ${DEFAULT_RESULTS}`),
});

interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** Lines that come before the hits. */
  readonly notes?: readonly string[];
}

/** A tool that searches with one service. */
interface SearchTool {
  readonly name: string;
  readonly description: string;
  /** @throws MeshError `tool` */
  search(query: string, maxResults: number, context: DataToolContext): Promise<SearchResult>;
}

/** Turns a search into a {@link DataTool}: every search has the same input and the same form of results. */
export function createSearchTool({ name, description, search }: SearchTool): DataTool<z.infer<typeof input>> {
  return {
    name,
    description,
    input,
    async run({ query, max_results: maxResults = DEFAULT_RESULTS }, context) {
      return formatResult(query, maxResults, await search(query, maxResults, context));
    },
  };
}

/**
 * Formats results for a model, numbered: title, URL, snippet. An empty result is stated explicitly (REQ-050), so that models do not make
 * results up.
 */
function formatResult(query: string, maxResults: number, { hits, notes = [] }: SearchResult): DataToolReply {
  const results = hits.slice(0, maxResults).map(({ title, url, snippet }) => ({
    title: cutSnippet(joinLines(title), MAX_TITLE_CHARACTERS) || '(no title)',
    url: cutSnippet(url, MAX_URL_CHARACTERS),
    snippet: cutSnippet(joinLines(snippet), MAX_SNIPPET_CHARACTERS),
  }));
  const lines = results.map(({ title, url, snippet }, i) => {
    const indent = ' '.repeat(`${i + 1}. `.length);
    return [`${i + 1}. ${title}`, `${indent}${url}`, ...(snippet === '' ? [] : [indent + snippet])].join(
      '\n',
    );
  });
  const none =
    results.length === 0 ? [`not found: no results for ${JSON.stringify(shortenReason(query))}`] : [];
  return { text: [...notes, ...none, ...lines].join('\n'), data: { results } };
}

/** A result in the form that several services use. */
export const contentHit = z
  .object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish() })
  .transform(({ url, title, content }): SearchHit => ({ title: title ?? '', url, snippet: content ?? '' }));

/** Replaces line breaks and runs of white space by single spaces. */
export function joinLines(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

export function cutSnippet(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1).toWellFormed()}…`;
}
