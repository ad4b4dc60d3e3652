import http from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createForeignFetch, NO_ANSWER } from './foreign-messages.ts';

const LOST = 'gaia-mesh/lost';

type Answer = readonly [status: number, headers: http.OutgoingHttpHeaders, body?: string];

describe('the fetch of foreign servers', () => {
  let answers: Answer[] = [];
  let seen: string[] = [];
  const server = http.createServer(async (request, response) => {
    let raw = '';
    for await (const part of request) raw += part;
    seen.push(`${request.method} ${request.url} ${raw}`.trim());
    const [status, headers, body] = answers.shift() ?? [500, {}];
    response.writeHead(status, headers).end(body);
  });
  let origin = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const JSON_TYPE = { 'Content-Type': 'application/json' };
  const EVENTS = { 'Content-Type': 'text/event-stream; charset=utf-8' };
  async function send(given: readonly Answer[], body?: string | Buffer, most = 1000) {
    answers = [...given];
    seen = [];
    const init = body === undefined ? {} : { method: 'POST', body: body as string };
    const response = await createForeignFetch(origin, most)(`${origin}/mcp`, init);
    return { response, text: await response.text() };
  }

  test('sends the digits of numbers as they were, and any other body as it is', async () => {
    const one: Answer = [200, JSON_TYPE, 'null'];
    await send([one], '{"id":{"$number":"2512292042121000001"}}');
    expect(seen).toEqual(['POST /mcp {"id":2512292042121000001}']);
    await send([one], '{ "id": 1 }');
    expect(seen).toEqual(['POST /mcp { "id": 1 }']);
    await send([one], Buffer.from('{"$number":'));
    expect(seen).toEqual(['POST /mcp {"$number":']);
    await send([one]);
    expect(seen).toEqual(['GET /mcp']);
  });

  test('reads a message with all that it has, at the URL, status and headers of the answer', async () => {
    const headers = { ...JSON_TYPE, 'Content-Length': 44, 'Mcp-Session-Id': 's' };
    const body = '{"id":1,"result":{"id":9007199254740993}}   ';
    const { response, text } = await send([[201, headers, body]], '{}');
    expect(JSON.parse(text)).toEqual({ id: 1, result: { id: { $number: '9007199254740993' }, [LOST]: [] } });
    expect(response).toMatchObject({ status: 201, statusText: 'Created', url: `${origin}/mcp` });
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'mcp-session-id': 's' });
    expect(response.headers.get('content-length')).toBeNull();
  });

  test.each<[what: string, answer: Answer]>([
    ['a page', [200, { 'Content-Type': 'text/html' }, '<html>']],
    ['an answer without a type', [200, {}, '{"id":1,"result":{}}']],
    ['a text that only looks like events', [200, { 'Content-Type': 'x-text/event-stream' }, 'data: 1']],
    ['a failure', [404, JSON_TYPE, '{"id":1,"result":{}}']],
    ['no JSON', [200, JSON_TYPE, '{"id":']],
  ])('passes on %s as it is', async (_what, answer) => {
    const { response, text } = await send([answer], '{"id":1}');
    expect([response.status, text]).toEqual([answer[0], answer[2]]);
  });

  test('reads no more than its bound', async () => {
    await expect(send([[200, JSON_TYPE, 'x'.repeat(1001)]], '{}')).rejects.toThrow('at most 1000 bytes');
  });

  describe('of events', () => {
    const RESULT = `{"id":1,"result":{"a":1,"${LOST}":[]}}`;
    const FAILED = `data: {"jsonrpc":"2.0","id":1,"error":{"code":${NO_ANSWER},"message":"the stream of events ended without an answer"}}\n\n`;
    test.each<[what: string, sent: string, read: string]>([
      ['an answer', 'data: {"id":1,"result":{"a":1}}\n\n', `data: ${RESULT}\n\n`],
      ['an answer in two lines', 'data:{"id":1,\ndata: "result":{"a":1}}\n\n', `data: ${RESULT}\n\n`],
      ['an answer without an end', 'data: {"id":1,"result":{"a":1}}', `data: ${RESULT}\n\n`],
      [
        'other lines',
        ': ping\nevent: message\ndata: {"id":1,"result":{"a":1}}\n\n',
        `event: message\ndata: ${RESULT}\n\n`,
      ],
      ['an event that can be resumed', 'id: 7\ndata:\n\n', 'id: 7\ndata: \n\n'],
      ['an event with an id that is none', 'id:\ndata: 1\n\n', `id: \ndata: 1\n\n${FAILED}`],
      [
        'an event with the time to the next try',
        'retry: 10\nid: 7\ndata: 1\n\n',
        'id: 7\nretry: 10\ndata: 1\n\n',
      ],
      ['an id that is not at the start', 'xid: 7\n\n', FAILED],
      ['nothing', '', FAILED],
      [
        'the answer to another request',
        'data: {"id":2,"result":{"a":1}}\n\n',
        `data: ${RESULT.replace('1', '2')}\n\n${FAILED}`,
      ],
      ['a text in two lines', 'data: one\ndata: two\n\n', `data: one\ndata: two\n\n${FAILED}`],
      ['half an answer', 'data: {"id":1,\n\n', `data: {"id":1,\n\n${FAILED}`],
      ['a text with the id in it', 'data: "\\"id\\":1"\n\n', `data: "\\"id\\":1"\n\n${FAILED}`],
    ])('passes on %s, and says where no answer came', async (_what, sent, read) => {
      const { response, text } = await send([[203, EVENTS, sent]], '{"id":1}');
      expect(text).toBe(read);
      expect(response).toMatchObject({
        status: 203,
        statusText: 'Non-Authoritative Information',
        url: `${origin}/mcp`,
      });
    });

    test.each([['[1]'], ['no JSON'], ['{}'], [undefined]])('waits for no answer to %j', async (body) => {
      expect((await send([[200, EVENTS, ': ping\n\n']], body)).text).toBe('');
    });
  });

  describe('of redirects', () => {
    const end: Answer = [200, { 'Content-Type': 'text/plain' }, 'there'];
    const to = (status: number, location = '/other?a=1'): Answer => [status, { Location: location }, 'moved'];

    test('follows five, and not a sixth', async () => {
      const five = Array.from({ length: 5 }, () => to(307));
      expect((await send([...five, end], '{}')).text).toBe('there');
      await expect(send([...five, to(307), end], '{}')).rejects.toThrow(
        `${origin}/other redirects (307) to ${origin}/other: name the URL of the server itself`,
      );
    });
  });
});

const SERVER = 'http://127.0.0.1:1/mcp';

afterEach(() => void vi.unstubAllGlobals());

/** Stands in for the network. */
function answerWith(answer: (init: RequestInit) => Promise<Response> | Response) {
  const fetched = vi.fn(async (_input: unknown, init: RequestInit) => answer(init));
  vi.stubGlobal('fetch', fetched);
  return fetched;
}

describe('an answer of a foreign server', () => {
  test.each([
    [10, true],
    [11, false],
    [1000, false],
  ])('of %i bytes is read where 10 are the bound: %s', async (bytes, isRead) => {
    answerWith(() => new Response('x'.repeat(bytes)));
    const text = (await createForeignFetch(SERVER, 10)(SERVER)).text();
    if (isRead) expect(await text).toHaveLength(bytes);
    else await expect(text).rejects.toMatchObject({ code: 'limit' });
  });

  test.each([{}, { redirect: 'follow' }, { redirect: 'error' }] as const)(
    'leads to no other URL by itself, whatever the caller says: %j',
    async (init) => {
      const fetched = answerWith(() => new Response(''));
      await createForeignFetch(SERVER, 10)(SERVER, init);
      expect(fetched.mock.calls[0]?.[1]).toMatchObject({ redirect: 'manual' });
    },
  );
});

test('requests that wait are bounded, and one that has ended, in whatever way, makes room', async () => {
  const waiting: PromiseWithResolvers<Response>[] = [];
  answerWith(() => {
    const one = Promise.withResolvers<Response>();
    waiting.push(one);
    return one.promise;
  });
  const ask = createForeignFetch(SERVER, 10);
  const asked = Array.from({ length: 256 }, () => ask(SERVER).catch((error: unknown) => error));
  await expect(ask(SERVER)).rejects.toMatchObject({ code: 'limit' });
  waiting[0]?.resolve(new Response(''));
  waiting[1]?.reject(new TypeError('fetch failed'));
  await Promise.all(asked.slice(0, 2));
  const next = [ask(SERVER), ask(SERVER)];
  await expect(ask(SERVER)).rejects.toMatchObject({ code: 'limit' });
  for (const one of waiting) one.resolve(new Response(''));
  expect(await Promise.all(next)).toHaveLength(2);
});

test('another origin is asked for nothing', async () => {
  const fetched = answerWith(() => new Response(''));
  await expect(createForeignFetch(SERVER, 10)('http://127.0.0.1:2/mcp')).rejects.toMatchObject({
    code: 'config',
  });
  expect(fetched).not.toHaveBeenCalled();
});
