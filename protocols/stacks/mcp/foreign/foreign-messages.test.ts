import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createForeignFetch, NO_ANSWER, readForeignMessage, readForeignResult } from './foreign-messages.ts';

const WORDS = { type: 'text', text: '42 boats' };
const LOST = 'gaia-mesh/lost';

describe('a message', () => {
  test.each([
    ['{"id":1,"result":{"a":1},"error":null}', { id: 1, result: { a: 1, [LOST]: [] } }],
    ['{"id":1,"result":null,"error":{"code":1}}', { id: 1, error: { code: 1 } }],
    ['{"id":1,"result":{"a":1},"error":{"code":1}}', { id: 1, error: { code: 1 } }],
    ['{"id":1,"result":null}', { id: 1, result: null }],
    ['{"id":1,"result":[1]}', { id: 1, result: [1] }],
    ['{"method":"ping","id":1,"params":{}}', { method: 'ping', id: 1, params: {} }],
    ['{"method":"ping","error":null}', { method: 'ping' }],
    ['[1]', [1]],
    ['"text"', 'text'],
    ['null', null],
  ])('%s is read with its result or its error', (text, expected) => {
    expect(readForeignMessage(text)).toEqual(expected);
  });

  test('names in its result what could not be kept', () => {
    expect(readForeignMessage('{"id":1,"result":{"a":"\\ud83d"}}')).toEqual({
      id: 1,
      result: { a: '\ufffd', [LOST]: [expect.stringContaining('half a character')] },
    });
    expect(() => readForeignMessage('{"id":')).toThrow(SyntaxError);
  });
});

describe('a result', () => {
  const read = (result: object) => readForeignResult(result as never);
  const empty = { texts: [], images: [], data: undefined, isError: false, lost: [] };

  test.each<[result: object, expected: object]>([
    [{ content: [WORDS] }, { texts: ['42 boats'] }],
    [{ content: WORDS }, { texts: ['42 boats'] }],
    [{ content: '42 boats' }, { texts: ['42 boats'] }],
    [{ content: ['42', WORDS] }, { texts: ['42', '42 boats'] }],
    [{ content: null }, {}],
    [{}, {}],
    [{ isError: true }, { isError: true }],
    [{ isError: 'true' }, { isError: true }],
    [{ isError: 'false' }, {}],
    [{ isError: 1 }, {}],
    [{ structuredContent: { a: 1 } }, { data: { a: 1 } }],
    [{ structuredContent: [1] }, { data: { value: [1] } }],
    [{ structuredContent: false }, { data: { value: false } }],
    [{ structuredContent: null }, {}],
    [{ [LOST]: ['why', 7] }, { lost: ['why'] }],
    [{ [LOST]: 'why' }, {}],
  ])('%j is read member by member', (result, expected) => {
    expect(read(result)).toEqual({ ...empty, ...expected });
  });

  test('that is no object has nothing in it', () => {
    for (const result of [null, 7, 'text', [WORDS]]) expect(readForeignResult(result)).toEqual(empty);
  });

  const image = (data: unknown) => ({ type: 'image', mimeType: 'image/png', data });
  const audio = (data: unknown, mimeType: unknown = 'audio/wav') => ({ type: 'audio', mimeType, data });
  const resource = (inside: object) => ({ type: 'resource', resource: inside });
  test.each<[block: unknown, expected: object]>([
    [image('AQID'), { images: [Buffer.from([1, 2, 3])] }],
    [image('data:image/png;base64,AQID'), { images: [Buffer.from([1, 2, 3])] }],
    [image('AQ\r\n ID\n'), { images: [Buffer.from([1, 2, 3])] }],
    [image('-_-_'), { images: [Buffer.from('-_-_', 'base64url')] }],
    [image('+/+/'), { images: [Buffer.from('+/+/', 'base64')] }],
    [image('AQ=='), { images: [Buffer.from([1])] }],
    [image(''), { images: [Buffer.alloc(0)] }],
    [image('AQ==='), { lost: ['content.0: image has no base64 data'] }],
    [image('=AQ'), { lost: ['content.0: image has no base64 data'] }],
    [image('xdata:,AQID'), { lost: ['content.0: image has no base64 data'] }],
    [image('x: AQID'), { lost: ['content.0: image has no base64 data'] }],
    [image(`data:${'x'.repeat(201)},AQID`), { lost: ['content.0: image has no base64 data'] }],
    [image(`data:${'x'.repeat(200)},AQID`), { images: [Buffer.from([1, 2, 3])] }],
    [image(7), { lost: ['content.0: image has no base64 data'] }],
    [image(undefined), { lost: ['content.0: image has no base64 data'] }],
    [audio('AQID'), { texts: ['[audio audio/wav, 3 bytes, which is left out]'] }],
    [audio('AQID', 7), { texts: ['[audio of an unknown kind, 3 bytes, which is left out]'] }],
    [audio('AQID', 'x'.repeat(300)), { texts: [`[audio ${'x'.repeat(256)}, 3 bytes, which is left out]`] }],
    [audio('no base64!'), { lost: ['content.0: audio has no base64 data'] }],
    [
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
      { texts: ['[resource file:///a, which is not read]'] },
    ],
    [{ type: 'resource_link', name: 'a' }, { texts: ['[resource a, which is not read]'] }],
    [{ type: 'resource_link' }, { texts: ['[resource of an unknown kind, which is not read]'] }],
    [resource({ uri: 'file:///a', text: '42 boats', blob: 'AQID' }), { texts: ['42 boats'] }],
    [
      resource({ uri: 'file:///a', blob: 'AQID' }),
      { texts: ['[resource file:///a, 3 bytes, which is left out]'] },
    ],
    [
      resource({ uri: 'file:///a', mimeType: 'x-image/png', blob: 'AQID' }),
      { texts: ['[resource file:///a, 3 bytes, which is left out]'] },
    ],
    [resource({ mimeType: 'image/png', blob: 'AQID' }), { images: [Buffer.from([1, 2, 3])] }],
    [resource({ uri: 'file:///a' }), { lost: ['content.0: resource has neither text nor base64 data'] }],
    [{ type: 'resource' }, { lost: ['content.0: resource has no resource in it'] }],
    [{ type: 'text', text: null }, { lost: ['content.0: text has null in place of a text'] }],
    [{ type: 'text' }, { lost: ['content.0: text has nothing in place of a text'] }],
    [{ type: 'text', text: ['a'] }, { lost: ['content.0: text has a list in place of a text'] }],
    [{ type: 'text', text: {} }, { lost: ['content.0: text has an object in place of a text'] }],
    [{ type: 'text', text: 7 }, { lost: ['content.0: text has a number in place of a text'] }],
    [
      { type: 'card', text: 'a' },
      { texts: ['a'], lost: ['content.0: card is of a kind that is not known here'] },
    ],
    [{ type: 'card', text: 7 }, { lost: ['content.0: card is of a kind that is not known here'] }],
    [
      { type: 'x'.repeat(65) },
      { lost: [`content.0: ${'x'.repeat(64)} is of a kind that is not known here`] },
    ],
    [
      { type: 7, text: 'a' },
      { texts: ['a'], lost: ['content.0: is of a kind that is not known here'] },
    ],
    [null, { lost: ['content.0: is null, not an object'] }],
    [7, { lost: ['content.0: is 7, not an object'] }],
    [['x'.repeat(50)], { lost: [`content.0: is ["${'x'.repeat(38)}, not an object`] }],
  ])('with the block %j keeps what can be read of it', (block, expected) => {
    expect(read({ content: [block] })).toEqual({ ...empty, ...expected });
  });

  test('names a block that is lost by its place, and keeps the others', () => {
    expect(read({ [LOST]: ['before'], content: [WORDS, 7, image('AQID'), WORDS] })).toEqual({
      ...empty,
      texts: ['42 boats', '42 boats'],
      images: [Buffer.from([1, 2, 3])],
      lost: ['before', 'content.1: is 7, not an object'],
    });
  });
});

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

  test('passes on an answer without a body', async () => {
    expect((await send([[202, {}]], '{"id":1}')).response).toMatchObject({ status: 202 });
    expect((await send([[204, JSON_TYPE]], '{"id":1}')).text).toBe('');
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

    test.each([301, 302, 307, 308])(
      'follows %i on the origin of the server, with its body',
      async (status) => {
        const { response, text } = await send([to(status), end], '{"id":1}');
        expect([text, response.url]).toEqual(['there', `${origin}/other?a=1`]);
        expect(seen).toEqual(['POST /mcp {"id":1}', 'POST /other?a=1 {"id":1}']);
      },
    );

    test('follows five, and not a sixth', async () => {
      const five = Array.from({ length: 5 }, () => to(307));
      expect((await send([...five, end], '{}')).text).toBe('there');
      await expect(send([...five, to(307), end], '{}')).rejects.toThrow(
        `${origin}/other redirects (307) to ${origin}/other: name the URL of the server itself`,
      );
    });

    test.each<[what: string, answer: Answer, where: string]>([
      ['to another origin', to(307, 'http://127.0.0.2:9/mcp?key=1'), 'http://127.0.0.2:9/mcp'],
      ['for another kind of request', to(303, '/mcp'), '/mcp'],
      ['to no URL', to(307, 'http://'), 'no URL'],
      ['of a status that is not known', to(399), '/other'],
      ['of the first status', to(300), '/other'],
    ])('follows none %s', async (_what, answer, where) => {
      const shown = where.startsWith('/') ? `${origin}${where}` : where;
      await expect(send([answer], '{}')).rejects.toMatchObject({
        code: 'config',
        message: `${origin}/mcp redirects (${answer[0]}) to ${shown}: name the URL of the server itself`,
      });
    });
  });
});
