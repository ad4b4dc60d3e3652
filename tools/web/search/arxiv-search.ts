import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { DataToolContext } from '../../data-tool.ts';
import { callService } from '../call-service.ts';
import { createSearchTool, cutSnippet, joinLines } from './search-hits.ts';

/** Maximum characters of an abstract, which is longer than other snippets. */
const MAX_ABSTRACT_CHARACTERS = 1300;
const MAX_AUTHORS = 8;

const text = z.string().transform(joinLines);
const entrySchema = z.object({
  id: z.string(),
  title: text,
  summary: text.default(''),
  published: z.string().default(''),
  author: z.array(z.object({ name: text })).default([]),
  comment: text.optional(),
});
const feedSchema = z.object({
  feed: z.object({
    totalResults: z.coerce.number().default(0),
    entry: z.array(entrySchema).default([]),
  }),
});
type Feed = z.infer<typeof feedSchema>['feed'];

/** Searches arXiv's API, an Atom feed, for words, ids (`2104.12255`), or in its own query language (`ti:electron AND cat:cs.CL`). */
export const arxivSearch = createSearchTool({
  name: 'arxiv_search',
  description:
    'Searches arXiv by words, id, or e.g. ti:electron AND submittedDate:[202401010000 TO 202402010000].',
  async search(query, maxResults, context) {
    let feed = await ask(query, maxResults, context);
    // A page may come back empty although there are results; a second request gets them.
    if (feed.entry.length === 0 && feed.totalResults > 0) feed = await ask(query, maxResults, context);
    const hits = feed.entry.map(({ id, title, summary, published, author, comment }) => {
      const names = author.map(({ name }) => name);
      const others = names.length > MAX_AUTHORS ? ` and ${names.length - MAX_AUTHORS} others` : '';
      const about = [
        `${names.slice(0, MAX_AUTHORS).join(', ')}${others}`,
        published.slice(0, 10),
        comment ?? '',
      ];
      return {
        title,
        url: id.replace(/^http:/, 'https:'),
        snippet: `${about.filter((part) => part !== '').join('; ')}. ${cutSnippet(summary, MAX_ABSTRACT_CHARACTERS)}`,
      };
    });
    const total =
      feed.totalResults > hits.length ? [`${feed.totalResults} papers found, the first ${hits.length}:`] : [];
    return { hits, notes: hits.length === 0 ? [] : total };
  },
});

async function ask(query: string, maxResults: number, context: DataToolContext): Promise<Feed> {
  const { text: xml } = await callService(
    {
      service: 'arxiv',
      path: '/api/query',
      query: {
        ...buildArxivQuery(query),
        start: 0,
        max_results: maxResults,
        sortBy: 'relevance',
        sortOrder: 'descending',
      },
      // Its errors are feeds, too.
      accepts: [400],
    },
    context,
  );
  const feed = await readFeed(xml);
  const [first] = feed.entry;
  if (first?.title === 'Error' && first.id.includes('/api/errors')) {
    throw new MeshError(
      'tool',
      `arxiv refused: ${first.summary}; write the query as words, an id, or like ti:electron AND au:curie`,
    );
  }
  return feed;
}

function buildArxivQuery(query: string): Record<string, string> {
  const ids = query.split(/[\s,]+/).map((word) => word.replace(/^arxiv:/i, ''));
  if (ids.every((id) => /^(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?\/\d{7})(v\d+)?$/.test(id)))
    return { id_list: ids.join(',') };
  if (/\b(ti|au|abs|co|jr|cat|rn|id|all|submittedDate):/.test(query)) return { search_query: query };
  // Without a field, arXiv would search for any of the words; phrases stay together.
  const words = query.match(/"[^"]+"|[^\s"()]+/g) ?? [];
  return { search_query: words.map((word) => `all:${word}`).join(' AND ') };
}

async function readFeed(xml: string): Promise<Feed> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  const fault = (why: string) =>
    new MeshError('tool', `arxiv did not reply with an Atom feed: ${cutSnippet(joinLines(why), 200)}`);
  const valid = XMLValidator.validate(xml);
  if (valid !== true) throw fault(valid.err.msg);
  const parser = new XMLParser({
    removeNSPrefix: true,
    // Titles may be numbers.
    parseTagValue: false,
    isArray: (name) => name === 'entry' || name === 'author',
  });
  const result = feedSchema.safeParse(parser.parse(xml));
  if (!result.success) throw fault(formatIssues(result.error));
  return result.data.feed;
}
