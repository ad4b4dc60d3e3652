import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import { callService } from '../call-service.ts';
import { contentHit, createSearchTool, cutSnippet, joinLines } from './search-hits.ts';

const replySchema = z.object({
  results: z.array(contentHit),
  // Older versions send plain texts.
  answers: z
    .array(z.union([z.string(), z.object({ answer: z.string() }).transform(({ answer }) => answer)]))
    .default([]),
  infoboxes: z
    .array(
      z.object({
        infobox: z.string(),
        content: z.string().nullish(),
        attributes: z.array(z.object({ label: z.string(), value: z.string().nullish() })).default([]),
      }),
    )
    .default([]),
  unresponsive_engines: z.array(z.array(z.string())).default([]),
});

const MAX_NOTE_CHARACTERS = 1500;
const MAX_NOTES = 5;

/** Searches with the user's own SearXNG server, which asks other engines. Its settings must list `json` among `search.formats`. */
export const searxngSearch = createSearchTool({
  name: 'searxng_search',
  description: 'Searches the web by several engines (SearXNG).',
  async search(q, _maxResults, context) {
    const reply = await callService(
      {
        service: 'searxng',
        path: '/search',
        query: { q, format: 'json', categories: 'general', pageno: 1, safesearch: 0 },
        accepts: [403],
      },
      context,
    );
    if (reply.status === 403) {
      throw new MeshError(
        'tool',
        'searxng refused (status 403): its settings.yml must list json among search.formats, and its limiter must let this host in',
      );
    }
    const { results, answers, infoboxes, unresponsive_engines: silent } = reply.parse(replySchema);
    if (results.length === 0 && answers.length === 0 && infoboxes.length === 0 && silent.length > 0) {
      const engines = silent
        .slice(0, 10)
        .map((engine) => engine.join(': '))
        .join('; ');
      throw new MeshError(
        'tool',
        `searxng has no results because its engines failed (${engines}): try again later`,
      );
    }
    const boxes = infoboxes.map(({ infobox, content, attributes }) => {
      const facts = attributes.flatMap(({ label, value }) => (value ? [`${label}: ${value}`] : []));
      return [`${infobox}: ${content ?? ''}`, ...facts].join('; ');
    });
    const notes = [...answers.map((answer) => `Answer: ${answer}`), ...boxes];
    return {
      hits: results,
      notes: notes.slice(0, MAX_NOTES).map((note) => cutSnippet(joinLines(note), MAX_NOTE_CHARACTERS)),
    };
  },
});
