import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { DataToolContext } from '../../data-tool.ts';
import { callService } from '../call-service.ts';
import type { ServiceName } from '../services.ts';
import { createSearchTool, cutSnippet, joinLines } from './search-hits.ts';

/** Longest query that the engine accepts. */
const MAX_QUERY_CHARACTERS = 499;
/** Maximum characters parsed. Pages of results have some tens of kilobytes, and parsing time grows with nesting. */
const MAX_PAGE_CHARACTERS = 512 * 1024;
const MAX_ABSTRACT_CHARACTERS = 1000;

/** The user agent of a browser: other clients get a challenge. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/**
 * Searches DuckDuckGo's pages without JavaScript, as it has no API. If one of them shows its challenge for robots, which does
 * not mean that there are no results, the other one is asked.
 */
export const duckduckgoSearch = createSearchTool({
  name: 'duckduckgo_search',
  description: 'Searches the web by DuckDuckGo.',
  async search(query, _maxResults, context) {
    if (query.length > MAX_QUERY_CHARACTERS) {
      throw new MeshError(
        'tool',
        `the query has ${query.length} characters, at most ${MAX_QUERY_CHARACTERS} are searched for: use fewer words`,
      );
    }
    const full = await ask('duckduckgo', '/html/', { q: query, b: '', kl: 'wt-wt' }, context);
    if (!isBlocked(full)) return readHtml(full.text);
    const lite = await ask('duckduckgoLite', '/lite/', { q: query, kl: 'wt-wt' }, context);
    if (!isBlocked(lite)) return readLite(lite.text);
    throw new MeshError(
      'tool',
      'duckduckgo takes this address for a robot and shows no results: try again in some minutes, or use tavily_search, searxng_search or wikipedia',
    );
  },
});

function ask(
  service: ServiceName & `duckduckgo${string}`,
  path: string,
  form: Record<string, string>,
  context: DataToolContext,
) {
  const host = service === 'duckduckgo' ? 'https://html.duckduckgo.com/' : 'https://lite.duckduckgo.com/';
  return callService(
    {
      service,
      path,
      form: new URLSearchParams(form),
      headers: {
        'user-agent': BROWSER,
        referer: host,
        'sec-fetch-dest': 'document',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-site': 'same-origin',
        'sec-fetch-user': '?1',
      },
      accepts: [403],
    },
    context,
  );
}

function isBlocked({ status, text }: { readonly status: number; readonly text: string }): boolean {
  return status === 202 || status === 403 || text.includes('challenge-form');
}

async function readHtml(text: string) {
  const document = await parseResults(text);
  const hits = [...document.querySelectorAll('#links .web-result')].flatMap((result) => {
    const link = result.querySelector('a.result__a');
    return toHit(link, result.querySelector('.result__snippet')?.textContent ?? '');
  });
  const abstract = joinLines(document.querySelector('#zero_click_abstract')?.textContent ?? '');
  const summary = `Summary: ${cutSnippet(abstract, MAX_ABSTRACT_CHARACTERS)}`;
  return { hits, notes: abstract === '' ? [] : [summary] };
}

/** Reads a table in which a row with a link is followed by one with its snippet. */
async function readLite(text: string) {
  const document = await parseResults(text);
  const cells = [...document.querySelectorAll('a.result-link, .result-snippet')];
  const hits = cells.flatMap((cell, i) => {
    if (!cell.classList.contains('result-link')) return [];
    const next = cells[i + 1];
    return toHit(cell, next?.classList.contains('result-snippet') ? (next.textContent ?? '') : '');
  });
  return { hits };
}

interface Link {
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
}

function toHit(link: Link | null | undefined, snippet: string) {
  const url = unwrapLink(link?.getAttribute('href') ?? '');
  return url === undefined ? [] : [{ title: link?.textContent ?? '', url, snippet }];
}

/** Returns the target of a link, which may pass through `duckduckgo.com/l/?uddg=…`; none for advertisements (`y.js`). */
function unwrapLink(href: string): string | undefined {
  const url = URL.parse(href, 'https://duckduckgo.com/');
  if (url === null) return undefined;
  const isOwn = /(^|\.)duckduckgo\.com$/.test(url.hostname);
  if (isOwn && url.pathname === '/y.js') return undefined;
  if (!isOwn || url.pathname !== '/l/') return /^https?:$/.test(url.protocol) ? url.href : undefined;
  const target = URL.parse(url.searchParams.get('uddg') ?? '');
  return target !== null && /^https?:$/.test(target.protocol) ? target.href : undefined;
}

async function parseResults(text: string) {
  const { parseHTML } = await import('linkedom');
  const { document } = parseHTML(text.slice(0, MAX_PAGE_CHARACTERS));
  return document;
}
