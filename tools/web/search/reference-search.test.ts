import { describe, expect, test } from 'vitest';
import { dataToolPlace } from '../../fixtures/data-tool-place.ts';
import { serveWeb } from '../testing/serve-web.ts';
import { arxivSearch } from './arxiv-search.ts';
import { wikipedia } from './wikipedia.ts';

describe('wikipedia', () => {
  test('gives the text of the article that fits best, and names others (RA-32, SV-10, REQ-042)', async () => {
    const { place, requests } = await serveWeb();
    const { text, data } = await wikipedia.run({ query: 'height of the lighthouse' }, place);
    const url = `${place.environment.WIKIPEDIA_BASE_URL}/wiki/Vellmar_lighthouse`;
    expect(text).toBe(
      `Vellmar lighthouse\n${url}\n\nThe Vellmar lighthouse is 41 metres tall.\n\n== History ==\nIt was lit in 1871.\n\nOther articles: List of lighthouses`,
    );
    expect(data).toEqual({ found: true, title: 'Vellmar lighthouse', url });
    expect(requests.map(({ path }) => path)).toEqual(['/w/api.php', '/w/api.php']);
    expect(Object.fromEntries(requests[1]?.query ?? [])).toMatchObject({
      titles: 'Vellmar lighthouse',
      explaintext: '1',
      redirects: '1',
    });
    expect(requests[0]?.headers['user-agent']).toMatch(/^gaia-mesh \(.+\)$/);
  });

  test('takes the article of exactly that title', async () => {
    const { place } = await serveWeb();
    expect((await wikipedia.run({ query: 'lamp_' }, place)).text).not.toContain('Lamp may');
    expect((await wikipedia.run({ query: 'Lamp' }, place)).text).toBe(
      `Lamp may mean several things (${place.environment.WIKIPEDIA_BASE_URL}/wiki/Lamp). Ask again with one of these titles:\n1. Oil lamp\n2. Lamp (film)`,
    );
  });

  test('lists what a title may mean (RA-32)', async () => {
    const { place } = await serveWeb();
    const { data } = await wikipedia.run({ query: 'Lamp' }, place);
    expect(data).toEqual({ found: false, options: ['Oil lamp', 'Lamp (film)'] });
  });

  test('says that there is no article: none found, or one that is missing (RA-32, REQ-050)', async () => {
    const { place } = await serveWeb();
    const missing = 'not found: the en Wikipedia has no article for "zzz"';
    expect((await wikipedia.run({ query: 'zzz' }, place)).text).toBe(missing);
    const gone = await serveWeb({
      wikipedia: ({ query }) =>
        query.has('list')
          ? { body: { query: { search: [{ title: 'Gone' }] } } }
          : { body: { query: { pages: [{ ns: 0, title: 'Gone', missing: true }] } } },
    });
    expect((await wikipedia.run({ query: 'zzz' }, gone.place)).text).toBe(missing);
  });

  test('asks the Wikipedia of the language', async () => {
    const { place, requests } = await serveWeb();
    const environment = { WIKIPEDIA_BASE_URL: `${place.environment.WIKIPEDIA_BASE_URL}/{language}` };
    await wikipedia.run({ query: 'x', language: 'de' }, dataToolPlace({ environment }));
    expect(requests[0]?.path).toBe('/de/w/api.php');
  });

  test.each(['evil.example/', 'EN', 'e', '', 'de.', '../x'])('takes no language like %j', (language) => {
    expect(wikipedia.input.safeParse({ query: 'x', language }).success).toBe(false);
  });

  test('passes on errors, which come with status 200', async () => {
    const body = {
      error: { code: 'badvalue', info: 'Unrecognized value for parameter "list".' },
      servedby: 'mw1',
    };
    const { place } = await serveWeb({ wikipedia: [{ body }] });
    await expect(wikipedia.run({ query: 'x' }, place)).rejects.toThrow(
      'wikipedia refused: Unrecognized value for parameter "list". (badvalue)',
    );
  });
});

describe('arxiv_search', () => {
  test('gives papers with authors, date and abstract in one line (RA-34)', async () => {
    const { place, requests } = await serveWeb();
    const { text } = await arxivSearch.run({ query: 'lamps "old keepers"' }, place);
    expect(text).toBe(
      [
        '1. Lamps and their keepers',
        '   https://arxiv.org/abs/2401.00001v2',
        '   Ada Lund, Bo Kern; 2024-01-01; 3 pages. We study lamps & keepers.',
        '2. Lamps and their keepers',
        '   https://arxiv.org/abs/2401.00002v1',
        '   Ada Lund, Bo Kern; 2024-01-01; 3 pages. We study lamps & keepers.',
      ].join('\n'),
    );
    expect(requests[0]?.path).toBe('/api/query');
    expect(requests[0]?.query.get('search_query')).toBe('all:lamps AND all:"old keepers"');
  });

  test.each([
    ['2401.00001', 'id_list', '2401.00001'],
    ['arXiv:2401.00001v2, hep-th/9901001', 'id_list', '2401.00001v2,hep-th/9901001'],
    ['ti:lamp ANDNOT cat:cs.CL', 'search_query', 'ti:lamp ANDNOT cat:cs.CL'],
  ])('asks for %j by %s', async (query, parameter, value) => {
    const { place, requests } = await serveWeb();
    await arxivSearch.run({ query }, place);
    expect(requests[0]?.query.get(parameter)).toBe(value);
  });

  test('says that there are none (RA-34, REQ-050)', async () => {
    const { place } = await serveWeb();
    expect((await arxivSearch.run({ query: '0000.00000' }, place)).text).toBe(
      'not found: no results for "0000.00000"',
    );
  });

  test('passes on the message of an error feed (RA-34)', async () => {
    const { place } = await serveWeb();
    await expect(arxivSearch.run({ query: 'all:x AND bad:y' }, place)).rejects.toThrow(
      'arxiv refused: incorrect field bad',
    );
  });

  test('asks again where a page is empty although there are results', async () => {
    const empty = `<feed xmlns:opensearch="o"><opensearch:totalResults>1</opensearch:totalResults></feed>`;
    const entry = '<entry><id>http://arxiv.org/abs/1</id><title>T</title></entry>';
    const { place, requests } = await serveWeb({
      arxiv: [{ body: empty }, { body: `<feed><totalResults>1</totalResults>${entry}</feed>` }],
    });
    expect((await arxivSearch.run({ query: 'x' }, place)).text).toContain('1. T');
    expect(requests).toHaveLength(2);
  });

  test.each(['not xml', '<html><body>down</body></html>', '<feed><entry></feed>', '{}'])(
    'says that %j is no feed',
    async (body) => {
      const { place } = await serveWeb({ arxiv: [{ body }] });
      await expect(arxivSearch.run({ query: 'x' }, place)).rejects.toThrow(
        /^arxiv did not reply with an Atom feed/,
      );
    },
  );
});
