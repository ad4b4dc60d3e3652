import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext } from '../../data-tool.ts';
import { callService } from '../call-service.ts';
import { resolveServiceUrl } from '../services.ts';
import { cutSnippet } from './search-hits.ts';

/** Maximum further articles that are named besides the one that is shown. */
const MAX_FOUND = 5;
/** Maximum characters of an article. The longest have some 100 000, but most answers stand further up. */
const MAX_EXTRACT_CHARACTERS = 40_000;
const MAX_OPTIONS = 60;

const input = z.strictObject({
  query: z.string().trim().min(1).max(300).describe('title or words'),
  language: z
    .string()
    // The code becomes part of a host name.
    .regex(/^[a-z]{2,3}(-[a-z]{2,10}){0,2}$/, 'must be the code of a Wikipedia, like en or de')
    .exactOptional()
    .describe('default en'),
});

const searchSchema = z.object({
  query: z.object({ search: z.array(z.object({ title: z.string() })) }),
});

const pageSchema = z.object({
  title: z.string(),
  missing: z.boolean().default(false),
  extract: z.string().default(''),
  pageprops: z.object({ disambiguation: z.string().optional() }).optional(),
  links: z.array(z.object({ title: z.string() })).default([]),
});

const pagesSchema = z.object({ query: z.object({ pages: z.array(pageSchema) }) });

/** Errors come with status 200. */
const errorSchema = z.object({ error: z.object({ code: z.string(), info: z.string() }) });

/** Searches with MediaWiki's action API and returns the best article's text. */
export const wikipedia: DataTool<z.infer<typeof input>> = {
  name: 'wikipedia',
  description: 'Text of a Wikipedia article; fetch_page has its tables.',
  input,
  async run({ query, language = 'en' }, context) {
    const wiki = new Wiki(language, context);
    const { search } = await wiki.search(query);
    const exact = search.find(
      ({ title }) => title.toLowerCase() === query.toLowerCase().replaceAll('_', ' '),
    );
    const title = (exact ?? search[0])?.title;
    const page = title === undefined ? undefined : await wiki.page(title);
    if (page === undefined || page.missing) {
      return {
        text: `not found: the ${language} Wikipedia has no article for ${JSON.stringify(query)}`,
        data: { found: false },
      };
    }
    const url = wiki.formatUrl(page.title);
    if (page.pageprops?.disambiguation !== undefined) {
      const options = await wiki.links(page.title);
      const lines = options.map((option, i) => `${i + 1}. ${option}`);
      return {
        text: `${page.title} may mean several things (${url}). Ask again with one of these titles:\n${lines.join('\n')}`,
        data: { found: false, options },
      };
    }
    const others = search.filter((other) => other.title !== page.title).map((other) => other.title);
    const left = page.extract.length - MAX_EXTRACT_CHARACTERS;
    const rest = left > 0 ? `\n[cut: ${left} more characters; fetch_page ${url} has them]` : '';
    const text = [
      `${page.title}\n${url}`,
      cutSnippet(page.extract.trim() || '(the article has no text)', MAX_EXTRACT_CHARACTERS) + rest,
      ...(others.length === 0 ? [] : [`Other articles: ${others.join('; ')}`]),
    ].join('\n\n');
    return { text, data: { found: true, title: page.title, url } };
  },
};

/** The Wikipedia of one language. */
class Wiki {
  readonly #base: string;
  readonly #place: DataToolContext;

  constructor(language: string, context: DataToolContext) {
    this.#base = resolveServiceUrl('wikipedia', context.environment).replace('{language}', language);
    this.#place = context;
  }

  formatUrl(title: string): string {
    return `${this.#base}/wiki/${encodeURIComponent(title.replaceAll(' ', '_'))}`;
  }

  async search(words: string) {
    const query = { list: 'search', srsearch: words, srlimit: MAX_FOUND, srnamespace: 0 };
    return (await this.#ask(searchSchema, query)).query;
  }

  async page(title: string) {
    const query = {
      prop: 'extracts|pageprops',
      ppprop: 'disambiguation',
      titles: title,
      explaintext: 1,
      exsectionformat: 'wiki',
      redirects: 1,
    };
    return (await this.#ask(pagesSchema, query)).query.pages[0];
  }

  /** Returns the titles of the articles that a page links to. */
  async links(title: string): Promise<string[]> {
    const query = { prop: 'links', titles: title, plnamespace: 0, pllimit: MAX_OPTIONS };
    const pages = (await this.#ask(pagesSchema, query)).query.pages;
    return pages.flatMap(({ links }) => links.map((link) => link.title)).slice(0, MAX_OPTIONS);
  }

  async #ask<Result>(schema: z.ZodType<Result>, query: Record<string, string | number>): Promise<Result> {
    const said = await callService(
      {
        service: 'wikipedia',
        baseUrl: this.#base,
        path: '/w/api.php',
        query: { action: 'query', ...query, format: 'json', formatversion: 2 },
      },
      this.#place,
    );
    const failed = errorSchema.safeParse(said.parse(z.union([errorSchema, schema])));
    if (failed.success) {
      const { code, info } = failed.data.error;
      throw new MeshError('tool', `wikipedia refused: ${info} (${code})`);
    }
    return said.parse(schema);
  }
}
