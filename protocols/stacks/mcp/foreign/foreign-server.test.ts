import http from 'node:http';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connectForeign } from './foreign-server.ts';

const { signal } = new AbortController();

/** What a server answers to a method: a result, an error, or nothing for ever. */
type Answer = JsonObject | { readonly error: JsonObject } | 'silent' | 'hang up' | `{${string}` | number;
interface Asked {
  readonly method: string;
  readonly params: JsonObject;
  readonly token: string | undefined;
}

let answer: (asked: Asked) => Answer;
let asked: Asked[] = [];
/** The answer to GET, with which a server of 2024 opens its stream: a status and the first event. */
let stream: { readonly status: number; readonly event: string } | undefined;
let probes: (string | undefined)[][] = [];
const server = http.createServer(async (request, response) => {
  let raw = '';
  for await (const part of request) raw += part;
  if (raw === '') {
    probes.push([request.headers.accept, request.headers.authorization]);
    if (stream === undefined) return response.writeHead(405).end();
    return response
      .writeHead(stream.status, { 'Content-Type': 'text/event-stream' })
      .end(`event: ${stream.event}\ndata: /messages\n\n`);
  }
  const { id, method, params } = JSON.parse(raw);
  if (id === undefined) return response.writeHead(202).end();
  const one = { method, params, token: request.headers.authorization };
  asked.push(one);
  const own = method === 'initialize' ? initialize(params.protocolVersion) : {};
  const given = answer(one);
  if (given === 'silent') return undefined;
  if (given === 'hang up') return response.destroy();
  if (typeof given === 'number') return response.writeHead(given).end('no');
  if (typeof given === 'string')
    return response.writeHead(200, { 'Content-Type': 'application/json' }).end(given);
  const said = 'error' in given ? given : { result: { ...own, ...given } };
  return response
    .writeHead(200, { 'Content-Type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
});
const initialize = (protocolVersion: string) => ({
  protocolVersion,
  capabilities: { tools: {} },
  serverInfo: { name: 'field', version: '1' },
});

let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp`;
});
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  stream = undefined;
  for (const one of open.splice(0)) await one.close();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const tool = (name: string, more: object = {}) => ({
  name,
  description: 'd',
  inputSchema: { type: 'object' },
  ...more,
});

interface ConnectSettings {
  readonly token?: string;
  readonly startMs?: number;
  readonly maxMessageBytes?: number;
  readonly until?: AbortSignal;
}

/** Connects to a server that answers to these methods so. */
async function connect(answers: Readonly<Record<string, Answer>>, more: ConnectSettings = {}) {
  return connectTo(({ method }) => answers[method] ?? {}, more);
}

async function connectTo(to: typeof answer, { until = signal, ...more }: ConnectSettings = {}) {
  answer = to;
  asked = [];
  probes = [];
  const connected = await connectForeign({ url, maxMessageBytes: 8 * 2 ** 20, ...more }, until);
  open.push(connected);
  return connected;
}
const list = (...tools: readonly object[]) => ({ 'tools/list': { tools } as unknown as JsonObject });

describe('the tools of a server', () => {
  test('are those that can be used, in their order, and the others are named', async () => {
    const { tools, refused, name } = await connect(
      list(
        tool('read'),
        tool('a.b/c-d_1', { description: null, inputSchema: null }),
        tool('read', { description: 'again' }),
        tool('bad name'),
        tool('x'.repeat(129)),
        tool('flat', { inputSchema: { type: 'string' } }),
        tool('list', { inputSchema: [] }),
        tool('open', { inputSchema: { properties: { a: {} } } }),
        { description: 'no name' },
      ),
    );
    expect(name).toBe('field');
    expect(tools).toEqual([
      { name: 'read', description: 'd', inputSchema: { type: 'object' } },
      { name: 'a.b/c-d_1', description: '', inputSchema: { type: 'object' } },
      { name: 'open', description: 'd', inputSchema: { type: 'object', properties: { a: {} } } },
    ]);
    expect(refused).toEqual([
      'read: comes twice',
      expect.stringMatching(/^bad name: name: has a name of other characters/),
      expect.stringMatching(/^x{64}: name: /),
      'flat: inputSchema: must be a schema of an object',
      expect.stringMatching(/^list: inputSchema: must be an object/),
      expect.stringMatching(/^undefined: name/),
    ]);
  });

  test('have descriptions and schemas up to a bound', async () => {
    const schema = (bytes: number) => ({
      type: 'object',
      x: 'x'.repeat(bytes - '{"type":"object","x":""}'.length),
    });
    const most = 64 * 1024;
    const { tools, refused } = await connect(
      list(
        tool('long', { description: `${'x'.repeat(3999)}\ud83d\ude00` }),
        tool('most', { inputSchema: schema(most) }),
        tool('more', { inputSchema: schema(most + 1) }),
      ),
    );
    expect(tools.map(({ name }) => name)).toEqual(['long', 'most']);
    expect(tools[0]?.description).toBe(`${'x'.repeat(3999)}\ufffd`);
    expect(refused).toEqual([`more: its schema has ${most + 1} bytes; the maximum is ${most}`]);
  });

  test('come page by page, on 20 pages at most', async () => {
    const page = ({ method, params }: Asked): Answer => {
      if (method !== 'tools/list') return {};
      const at = Number(params.cursor ?? 0);
      return { tools: [tool(`t${at}`)], nextCursor: at === 2 ? null : `${at + 1}` };
    };
    const three = await connectTo(page);
    expect(three.tools.map(({ name }) => name)).toEqual(['t0', 't1', 't2']);
    expect(three.refused).toEqual([]);
    expect(asked.filter(({ method }) => method === 'tools/list').map(({ params }) => params?.cursor)).toEqual(
      [undefined, '1', '2'],
    );
    const endless = await connectTo(({ params }) => {
      const at = Number(params?.cursor ?? 0);
      return { tools: [tool(`t${at}`)], nextCursor: `${at + 1}` };
    });
    expect(endless.tools).toHaveLength(20);
    expect(endless.refused).toEqual(['more than 20 pages of tools']);
  });

  test('are 500 at most, with those that are refused', async () => {
    const names = Array.from({ length: 501 }, (_, at) => tool(at === 7 ? 'bad name' : `t${at}`));
    const { tools, refused } = await connect(list(...names));
    expect(tools).toHaveLength(499);
    expect(refused).toEqual([expect.stringContaining('bad name'), 'more than 500 tools']);
    const most = await connect(list(...names.slice(0, 500)));
    expect([most.tools.length, most.refused.length]).toEqual([499, 1]);
  });
});

describe('a call', () => {
  const LOOK = list(tool('look'));
  const call = async (reply: Answer, timeoutMs = 5000, traceparent?: string) => {
    const connected = await connect({ ...LOOK, 'tools/call': reply });
    return connected.call('look', { a: 1 }, { signal, timeoutMs, traceparent });
  };

  test('that the server refuses has failed in its own way', async () => {
    await expect(call({ error: { code: -32602, message: 'no such place' } })).rejects.toMatchObject({
      code: 'tool',
      message: expect.stringMatching(/^MCP: look: .*no such place/),
    });
    expect(await call({ content: [], isError: true })).toMatchObject({ isError: true });
  });

  test('without an answer in its time is over', async () => {
    await expect(call('silent', 50)).rejects.toMatchObject({
      code: 'limit',
      message: expect.stringMatching(/^MCP: look: /),
    });
  });

  test('to a server that hangs up has lost the connection', async () => {
    await expect(call('hang up')).rejects.toMatchObject({
      code: 'agent',
      message: expect.stringMatching(/^MCP: look: .*fetch failed/),
    });
  });

  test('after the end has lost the connection', async () => {
    const connected = await connect(LOOK);
    await connected.close();
    await expect(connected.call('look', {}, { signal, timeoutMs: 1000 })).rejects.toMatchObject({
      code: 'agent',
      message: expect.stringMatching(/^MCP: look: /),
    });
  });
});

describe('a session', () => {
  test('is asked for with the token, and without one where there is none', async () => {
    await connect(list(), { token: 'secret' });
    expect(asked.map(({ token }) => token)).toEqual(['Bearer secret', 'Bearer secret']);
    await connect(list());
    expect(asked.map(({ token }) => token)).toEqual([undefined, undefined]);
  });

  test('that is refused is tried once more in the latest revision, and the first reason is told', async () => {
    await expect(
      connect({ initialize: { error: { code: -32000, message: 'not now' } } }),
    ).rejects.toMatchObject({
      code: 'agent',
      message: expect.stringMatching(/^MCP: no session: .*not now/),
    });
    expect(asked.map(({ method }) => method)).toEqual(['initialize', 'server/discover']);
    await expect(connect({ initialize: 404 })).rejects.toMatchObject({ code: 'agent' });
  });

  test('with a server whose reply is of another kind says so in a sentence', async () => {
    await expect(connect({ initialize: '{"ok":true}' })).rejects.toMatchObject({
      code: 'agent',
      message: expect.stringMatching(/^MCP: no session: [^\n]{1,100}$/),
    });
  });

  test('with a server that is silent is given up, and not tried again', async () => {
    await expect(connect({ initialize: 'silent' }, { startMs: 50 })).rejects.toMatchObject({
      code: 'limit',
      message: 'MCP: no session: no answer within 0.05 s',
    });
    expect(asked).toHaveLength(1);
  });

  test('whose list of tools fails or is none ends with the reason', async () => {
    // The session comes before the list, and must not take all of that time on a busy machine.
    await expect(connect({ 'tools/list': 'silent' }, { startMs: 500 })).rejects.toMatchObject({
      code: 'limit',
      message: expect.stringMatching(/^MCP: tools\/list: /),
    });
    await expect(connect({ 'tools/list': { tools: 7 } })).rejects.toThrow(/tools/);
  });

  test.each([
    ['another first event', { status: 200, event: 'message' }],
    ['a status that refuses', { status: 404, event: 'endpoint' }],
  ])('with a server that answers GET by %s is no session, and not one of 2024', async (_, given) => {
    stream = given;
    await expect(connect({ initialize: 404 })).rejects.toMatchObject({
      code: 'agent',
      cause: expect.anything(),
    });
    expect(asked).toHaveLength(2);
  });

  test('whose replies exceed the bound is refused with one prefix, and is not tried again', async () => {
    await expect(connect({}, { maxMessageBytes: 10 })).rejects.toMatchObject({
      message: expect.stringMatching(/^MCP: no session: (?!MCP:).*10/),
      cause: expect.anything(),
    });
  });

  test('that is broken off is not tried again', async () => {
    const abort = new AbortController();
    const connecting = connectTo(
      () => {
        abort.abort();
        return 404;
      },
      { until: abort.signal },
    );
    await expect(connecting).rejects.toThrow();
    expect(asked).toHaveLength(1);
  });
});
