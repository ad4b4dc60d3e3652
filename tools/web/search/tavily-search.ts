import * as z from 'zod';
import { callService } from '../call-service.ts';
import { requireServiceKey } from '../services.ts';
import { contentHit, createSearchTool } from './search-hits.ts';

const replySchema = z.object({
  answer: z.string().nullish(),
  results: z.array(contentHit),
});

/** Searches with Tavily's API, an index made for models, which needs a key. */
export const tavilySearch = createSearchTool({
  name: 'tavily_search',
  description: 'Searches the web by Tavily: passages too.',
  async search(query, maxResults, context) {
    const key = requireServiceKey('tavily', context.environment, 'duckduckgo_search and wikipedia need none');
    const reply = await callService(
      {
        service: 'tavily',
        path: '/search',
        headers: { authorization: `Bearer ${key}`, 'x-client-source': 'gaia-mesh' },
        json: {
          query,
          search_depth: 'basic',
          topic: 'general',
          max_results: maxResults,
          include_answer: false,
          include_raw_content: false,
          include_images: false,
        },
      },
      context,
    );
    const { answer, results } = reply.parse(replySchema);
    return { hits: results, notes: answer ? [`Answer: ${answer}`] : [] };
  },
});
