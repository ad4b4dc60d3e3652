import { describe, expect, test } from 'vitest';
import { serveWeb } from '../testing/serve-web.ts';
import { duckduckgoSearch } from './duckduckgo-search.ts';
import { searxngSearch } from './searxng-search.ts';
import { tavilySearch } from './tavily-search.ts';

describe('duckduckgo_search', () => {
  test('gives numbered results without advertisements, links unwrapped (RA-30, REQ-041)', async () => {
    const { place, pages, requests } = await serveWeb();
    const { text, data } = await duckduckgoSearch.run({ query: 'vellmar lighthouse' }, place);
    expect(text).toBe(
      [
        'Summary: A lighthouse in Vellmar. More',
        '1. Vellmar & its lighthouse — facts',
        `   ${pages}/lighthouse?a=1&b=2`,
        "   The lighthouse is 41 m tall 'today'.",
        '2. Table of lighthouses',
        `   ${pages}/data.csv`,
        '   Names and heights.',
      ].join('\n'),
    );
    expect(data?.results).toHaveLength(2);
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', path: '/html/' });
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      q: 'vellmar lighthouse',
      b: '',
      kl: 'wt-wt',
    });
    expect(request?.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/);
    expect(request?.headers['user-agent']).toMatch(/^Mozilla/);
  });

  test('gives as many as were asked for', async () => {
    const { place } = await serveWeb();
    const { data } = await duckduckgoSearch.run({ query: 'vellmar', max_results: 1 }, place);
    expect(data?.results).toHaveLength(1);
  });

  test('says that there are none (REQ-050)', async () => {
    const { place } = await serveWeb();
    const { text } = await duckduckgoSearch.run({ query: 'nothing' }, place);
    expect(text).toContain('not found: no results for "nothing"');
  });

  const riddle = '<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html"></form>';
  test.each([
    [202, riddle],
    [403, ''],
    [200, riddle],
  ])('asks the lite page where it is taken for a robot (status %i)', async (status, body) => {
    const { place, pages, requests } = await serveWeb({ duckduckgo: [{ status, body }] });
    const { text } = await duckduckgoSearch.run({ query: 'vellmar' }, place);
    expect(text).toBe(
      [
        '1. Vellmar lighthouse',
        `   ${pages}/lighthouse?q=100%25`,
        '   About 41 metres & white',
        '2. No snippet',
        '   https://example.net/b',
      ].join('\n'),
    );
    expect(requests.map(({ service }) => service)).toEqual(['duckduckgo', 'duckduckgoLite']);
  });

  test('says that it is blocked, not that there is nothing, where both pages block', async () => {
    const blocked = [{ status: 202, body: riddle }];
    const { place } = await serveWeb({ duckduckgo: blocked, duckduckgoLite: blocked });
    await expect(duckduckgoSearch.run({ query: 'x' }, place)).rejects.toThrow(
      /takes this address for a robot .* use tavily_search, searxng_search or wikipedia/,
    );
  });

  test('does not ask with 500 characters, and does with 499', async () => {
    const { place, requests } = await serveWeb();
    await expect(duckduckgoSearch.run({ query: 'x'.repeat(500) }, place)).rejects.toThrow(
      /500 characters, at most 499/,
    );
    expect(requests).toHaveLength(0);
    await duckduckgoSearch.run({ query: 'x'.repeat(499) }, place);
    expect(requests).toHaveLength(1);
  });
});

describe('tavily_search', () => {
  test('gives numbered results (RA-31, SV-10, REQ-041)', async () => {
    const { place, pages, requests } = await serveWeb();
    const { text } = await tavilySearch.run({ query: 'vellmar', max_results: 7 }, place);
    expect(text).toBe(
      [
        '1. Vellmar lighthouse',
        `   ${pages}/lighthouse`,
        '   It is 41 metres tall.',
        '2. Table of lighthouses',
        `   ${pages}/data.csv`,
        '   Names and heights.',
      ].join('\n'),
    );
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', path: '/search' });
    expect(request?.headers.authorization).toBe('Bearer tvly-invented-key-1');
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      query: 'vellmar',
      max_results: 7,
      search_depth: 'basic',
    });
  });

  test('gives the answer where the service has one', async () => {
    const { place } = await serveWeb({
      tavily: [{ body: { answer: '41 metres', results: [], images: [{ url: 'x' }] } }],
    });
    const { text } = await tavilySearch.run({ query: 'vellmar' }, place);
    expect(text).toBe('Answer: 41 metres\nnot found: no results for "vellmar"');
  });

  test('without a key says which variable to set, and asks nobody (RA-31)', async () => {
    const { place, requests } = await serveWeb();
    const keyless = { ...place, environment: { ...place.environment, TAVILY_API_KEY: '' } };
    await expect(tavilySearch.run({ query: 'x' }, keyless)).rejects.toThrow(
      'no key: set TAVILY_API_KEY (in .env); duckduckgo_search and wikipedia need none',
    );
    expect(requests).toHaveLength(0);
  });

  test.each([
    [400, "Invalid topic. Must be 'general' or 'news'."],
    [401, 'Unauthorized: missing or invalid API key.'],
    [432, 'This request exceeds your plan’s set usage limit.'],
    [433, 'This request exceeds the pay-as-you-go limit.'],
  ])('passes on status %i and its words, and asks once', async (status, error) => {
    const { place, requests } = await serveWeb({ tavily: [{ status, body: { detail: { error } } }] });
    await expect(tavilySearch.run({ query: 'x' }, place)).rejects.toThrow(`status ${status}: ${error}`);
    expect(requests).toHaveLength(1);
  });

  test.each([['<html>'], ['{"results":[{"title":"no url"}]}'], ['[]']])(
    'says that the reply is strange: %s',
    async (body) => {
      const { place } = await serveWeb({ tavily: [{ body }] });
      await expect(tavilySearch.run({ query: 'x' }, place)).rejects.toThrow(
        /^tavily sent an undocumented reply/,
      );
    },
  );
});

describe('searxng_search', () => {
  test('gives answers of both versions, infoboxes and results (REQ-041)', async () => {
    const { place, pages, requests } = await serveWeb();
    const { text } = await searxngSearch.run({ query: 'vellmar' }, place);
    expect(text).toBe(
      [
        'Answer: 41 m',
        'Answer: forty-one metres',
        'Vellmar lighthouse: A lighthouse; Height: 41 m',
        '1. Vellmar lighthouse',
        `   ${pages}/lighthouse`,
        '   Built in 1871',
      ].join('\n'),
    );
    expect(Object.fromEntries(requests[0]?.query ?? [])).toMatchObject({ q: 'vellmar', format: 'json' });
  });

  test('does not take engines that failed for a proof that nothing exists', async () => {
    const body = {
      results: [],
      answers: [],
      infoboxes: [],
      unresponsive_engines: [
        ['a', 'timeout'],
        ['b', 'CAPTCHA'],
      ],
    };
    const { place } = await serveWeb({ searxng: [{ body }] });
    await expect(searxngSearch.run({ query: 'x' }, place)).rejects.toThrow(
      'its engines failed (a: timeout; b: CAPTCHA)',
    );
  });

  test('says that there are none (REQ-050)', async () => {
    const { place } = await serveWeb({ searxng: [{ body: { results: [], number_of_results: 0 } }] });
    expect((await searxngSearch.run({ query: 'x' }, place)).text).toBe('not found: no results for "x"');
  });

  test('says which setting is missing where JSON is refused', async () => {
    const { place } = await serveWeb({ searxng: [{ status: 403, body: '<html>Forbidden</html>' }] });
    await expect(searxngSearch.run({ query: 'x' }, place)).rejects.toThrow(
      /must list json among search\.formats/,
    );
  });

  test('passes on its errors', async () => {
    const { place } = await serveWeb({ searxng: [{ status: 400, body: { error: 'No query' } }] });
    await expect(searxngSearch.run({ query: 'x' }, place)).rejects.toThrow(
      'searxng answered with status 400: No query',
    );
  });
});
