import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { connectForeign } from '@gaia-mesh/stacks/mcp/foreign/foreign-server.ts';
import type { DataTool } from '@gaia-mesh/tools/data-tool.ts';
import type { ForeignPeer } from '@gaia-mesh/tools/foreign/foreign.ts';
import { createMcpTool } from '@gaia-mesh/tools/foreign/mcp.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Results and servers of MCP as people report them. To add a case, add a row: the result as it is sent, and what is made of it. */

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const boats = '{"type":"text","text":"42 boats"}';

interface Case {
  readonly name: string;
  /** The member `result` of the reply, as a text. */
  readonly result: string;
  readonly text?: string | RegExp;
  readonly data?: JsonObject;
  /** The parts that a warning names as lost. */
  readonly lost?: readonly string[];
}

const RESULTS: readonly Case[] = [
  { name: 'a text', result: `{"content":[${boats}]}` },
  {
    name: 'half a character',
    result:
      '{"content":[{"type":"text","text":"42 boats \\ud83d"}],"structuredContent":{"boats":42,"note":"cut \\ud83d"}}',
    text: '42 boats \ufffd',
    data: { boats: 42, note: 'cut \ufffd' },
    lost: ['content.0.text: half a character', 'structuredContent.note: half a character'],
  },
  {
    name: '__proto__',
    result: `{"content":[${boats}],"structuredContent":{"boats":42,"__proto__":{"x":1}}}`,
    data: { boats: 42 },
    lost: ['structuredContent.__proto__: a member of this name'],
  },
  {
    name: 'numbers that JavaScript rounds',
    result: `{"content":[${boats}],"structuredContent":{"id":2512292042121000001,"far":1e400,"near":0.1}}`,
    data: { id: { $number: '2512292042121000001' }, far: { $number: '1e400' }, near: 0.1 },
  },
  {
    name: 'numbers in data without a text',
    result: '{"content":[],"structuredContent":{"id":2512292042121000001}}',
    text: '{"id":2512292042121000001}',
    data: { id: { $number: '2512292042121000001' } },
  },
  {
    name: 'a list as data',
    result: `{"content":[${boats}],"structuredContent":[40,42]}`,
    data: { value: [40, 42] },
  },
  { name: 'null as data', result: `{"content":[${boats}],"structuredContent":null,"isError":null}` },
  {
    name: 'an image as a data URI',
    result: `{"content":[${boats},{"type":"image","mimeType":"image/png","data":"data:image/png;base64,${PIXEL.toString('base64')}"}]}`,
    text: new RegExp(`^42 boats\\n\\[image \\w+\\.png, ${PIXEL.length} bytes: kept`),
  },
  {
    name: 'audio in the alphabet of URLs',
    result: `{"content":[${boats},{"type":"audio","mimeType":"audio/wav","data":"-__--_8"}]}`,
    text: '42 boats\n[audio audio/wav, 5 bytes, which is left out]',
  },
  {
    name: 'base64 with line ends',
    result: `{"content":[${boats},{"type":"audio","mimeType":"audio/wav","data":"AAEC\\r\\nAwQF\\n"}]}`,
    text: '42 boats\n[audio audio/wav, 6 bytes, which is left out]',
  },
  {
    name: 'an image that is not base64',
    result: `{"content":[${boats},{"type":"image","mimeType":"image/png","data":"not base64!"}]}`,
    lost: ['content.1: image has no base64 data'],
  },
  {
    name: 'a kind that is not known',
    result: `{"content":[${boats},{"type":"video","data":"AAAA"},{"type":"card","text":"and a card"}]}`,
    text: '42 boats\nand a card',
    lost: ['content.1: video is of a kind', 'content.2: card is of a kind'],
  },
  {
    name: 'no text where one should be',
    result: `{"content":[${boats},{"type":"text","text":null},{"type":"text"},null,7]}`,
    lost: [
      'content.1: text has null',
      'content.2: text has nothing',
      'content.3: is null',
      'content.4: is 7',
    ],
  },
  { name: 'one block in place of a list', result: `{"content":${boats}}` },
  { name: 'a text in place of a list', result: '{"content":"42 boats"}' },
  {
    name: 'a link and a resource',
    result: `{"content":[{"type":"resource","resource":{"uri":"file:///a.txt","text":"42 boats"}},{"type":"resource_link","uri":"file:///b.csv"}]}`,
    text: '42 boats\n[resource file:///b.csv, which is not read]',
  },
  {
    name: 'a resource with nothing in it',
    result: `{"content":[${boats},{"type":"resource","resource":{"uri":"file:///a"}},{"type":"resource"}]}`,
    lost: ['content.1: resource has neither', 'content.2: resource has no resource'],
  },
];

const SERVER = `import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const [kind, file] = process.argv.slice(2);
const { tools, results } = JSON.parse(readFileSync(file, 'utf8'));
if (kind === 'exit') { process.stderr.write('API_KEY is missing'); process.exit(1); }
let first = kind === 'bom' ? '\\ufeff' : '';
if (kind === 'noise') process.stdout.write('Starting…\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const say = (text) => { process.stdout.write(first + '{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"error":null,"result":' + text + '}\\n'); first = ''; };
  if (kind === 'silent' || id === undefined) return;
  if (method === 'initialize') say(JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'cases', version: '1' } }));
  else if (method === 'tools/list') say(JSON.stringify({ tools, nextCursor: null }));
  else if (params.name === 'echo') say(JSON.stringify({ content: [{ type: 'text', text: line }] }));
  else say(results[params.name]);
});`;

const places: ForeignPeer[] = [];
const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const peer of places) await peer.close();
  for (const end of ends) await end();
});

/** Starts an agent with the tool `mcp`, and collects its warnings. */
function startAgent(options: JsonObject) {
  const warnings: string[] = [];
  const tool: DataTool<JsonObject> = createMcpTool({
    async connectMcp(where, signal) {
      const peer = await connectForeign(where, signal);
      places.push(peer);
      return peer;
    },
  });
  const context = {
    workspace: temporaryFolder(),
    files: undefined,
    store: undefined,
    taskId: 't',
    options: { ...options, asks_models: false },
    environment: { PATH: process.env.PATH },
    warn: ({ lost, where, why }: { lost: string; where: string; why: string }) =>
      warnings.push(lost === 'part' ? why : `${lost} of ${where}: ${why}`),
    signal: new AbortController().signal,
  };
  return { warnings, ask: (input: JsonObject) => tool.run(input, context) };
}

const toTool = (name: string) => name.replace(/\W+/g, '_');
const schema = { type: 'object' };
let place = '';
beforeAll(() => {
  const folder = temporaryFolder();
  const tools = [
    ...RESULTS.map(({ name }) => ({ name: toTool(name), description: name, inputSchema: schema })),
    { name: 'echo', description: null, title: null, annotations: null, inputSchema: schema },
    { name: 'bare' },
    { name: 'flat', inputSchema: { type: 'string' } },
  ];
  const results = Object.fromEntries(RESULTS.map(({ name, result }) => [toTool(name), result]));
  writeFileSync(path.join(folder, 'cases.json'), JSON.stringify({ tools, results }));
  writeFileSync(path.join(folder, 'server.mjs'), SERVER);
  place = folder;
});
const startServer = (kind: string, more: JsonObject = {}) =>
  startAgent({
    ...more,
    command: process.execPath,
    args: [path.join(place, 'server.mjs'), kind, path.join(place, 'cases.json')],
  });

describe('a result of MCP', () => {
  let server: ReturnType<typeof startServer>;
  beforeAll(() => {
    server = startServer('plain');
  });

  test.each(RESULTS.map((row) => [row.name, row] as const))(
    'with %s',
    async (name, { text = '42 boats', data, lost = [] }) => {
      server.warnings.splice(0);
      const reply = await server.ask({ tool: toTool(name), arguments: {} });
      if (typeof text === 'string') expect(reply.text).toBe(text);
      else expect(reply.text).toMatch(text);
      expect(reply.data).toEqual(data);
      expect(server.warnings).toEqual(lost.map((why) => expect.stringContaining(why)));
    },
  );

  test('comes after arguments whose digits are those of the model', async () => {
    const { text } = await server.ask({
      tool: 'echo',
      arguments: { id: { $number: '2512292042121000001' }, ratio: 0.1 },
    });
    expect(text).toContain('"arguments":{"id":2512292042121000001,"ratio":0.1}');
  });

  test('comes of a tool whose description is null; a schema of another type costs that tool alone', async () => {
    server.warnings.splice(0);
    const { tools } = Object((await server.ask({})).data);
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['echo', 'bare']));
    expect(server.warnings).toEqual(['tool of cases: flat: inputSchema: must be a schema of an object']);
  });
});

describe('a server of MCP on its pipes', () => {
  test.each(['bom', 'noise'])('is understood: %s', async (kind) => {
    expect((await startServer(kind).ask({ tool: 'a_text', arguments: {} })).text).toBe('42 boats');
  });

  test('that ends is named with its last words', async () => {
    const { ask, warnings } = startServer('exit');
    await expect(ask({})).rejects.toThrow('API_KEY is missing');
    expect(warnings).toEqual([
      expect.stringMatching(/^server of mcp: MCP: no session: .*API_KEY is missing/),
    ]);
  });

  test('that is silent is given up', async () => {
    const { ask, warnings } = startServer('silent', { start_s: 0.5 });
    await expect(ask({})).rejects.toThrow('MCP: no session: no answer within 0.5 s');
    expect(warnings).toHaveLength(1);
  });
});

/** Answers a request of MCP over HTTP as a plain server does. */
function answer(raw: string): string | undefined {
  const { id, method, params } = JSON.parse(raw);
  if (id === undefined) return undefined;
  const ok = (result: string) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  if (method === 'initialize')
    return ok(
      JSON.stringify({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'http', version: '1' },
      }),
    );
  if (method === 'tools/list')
    return ok(JSON.stringify({ tools: [{ name: 'raw', inputSchema: { type: 'object' } }] }));
  return ok(
    JSON.stringify({ content: [{ type: 'text', text: raw }] }).replace(
      '}]',
      '}],"structuredContent":{"id":9007199254740993}',
    ),
  );
}

type Handler = (request: http.IncomingMessage, raw: string, response: http.ServerResponse) => void;

async function serveHttp(handle: Handler): Promise<string> {
  const server = http.createServer(async (request, response) => {
    let raw = '';
    for await (const chunk of request) raw += chunk;
    if (request.method !== 'POST' && request.url !== '/sse') return response.writeHead(405).end();
    return handle(request, raw, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

const sendJson = (response: http.ServerResponse, text: string | undefined, before = '') =>
  text === undefined
    ? response.writeHead(202).end()
    : response.writeHead(200, { 'Content-Type': 'application/json' }).end(before + text);
const sendEvents = (
  response: http.ServerResponse,
  text: string | undefined,
  write: (text: string) => string,
) =>
  text === undefined
    ? response.writeHead(202).end()
    : response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(write(text));

const WAYS: Record<string, Handler> = {
  'a BOM': (_request, raw, response) => sendJson(response, answer(raw), '\ufeff'),
  'a redirect on its origin (307)': ({ url }, raw, response) =>
    url === '/mcp' ? response.writeHead(307, { Location: '/mcp/' }).end() : sendJson(response, answer(raw)),
  'a redirect on its origin (301)': ({ url }, raw, response) =>
    url === '/mcp' ? response.writeHead(301, { Location: './mcp/' }).end() : sendJson(response, answer(raw)),
  'events with CRLF': (_request, raw, response) =>
    sendEvents(
      response,
      answer(raw),
      (text) => `: ping\r\n\r\nid: 1\r\nevent: message\r\ndata: ${text}\r\n\r\n`,
    ),
  'events with a BOM': (_request, raw, response) =>
    sendEvents(response, answer(raw), (text) => `\ufeffdata: ${text}\n\n`),
  'events without a last empty line': (_request, raw, response) =>
    sendEvents(response, answer(raw), (text) => `data: ${text}`),
};

describe('a server of MCP over HTTP', () => {
  test.each(Object.entries(WAYS))('is understood: %s', async (_name, handle) => {
    const { ask, warnings } = startAgent({ url: `${await serveHttp(handle)}/mcp` });
    const reply = await ask({ tool: 'raw', arguments: { id: { $number: '2512292042121000001' } } });
    expect(reply.text).toContain('"arguments":{"id":2512292042121000001}');
    expect(reply.data).toEqual({ id: { $number: '9007199254740993' } });
    expect(warnings).toEqual([]);
  });

  const FAULTS: readonly (readonly [name: string, handle: Handler, message: string])[] = [
    [
      'a redirect to another origin',
      (_request, _raw, response) => response.writeHead(307, { Location: 'http://127.0.0.2:9/mcp' }).end(),
      'redirects (307) to http://127.0.0.2:9/mcp: name the URL of the server itself',
    ],
    [
      'the transport of 2024-11-05',
      ({ method }, _raw, response) =>
        method === 'GET'
          ? response
              .writeHead(200, { 'Content-Type': 'text/event-stream' })
              .write('event: endpoint\ndata: /messages\n\n')
          : response.writeHead(405, { Allow: 'GET' }).end('Method Not Allowed'),
      'speaks the HTTP+SSE of 2024-11-05, which is not supported',
    ],
    [
      'a page',
      (_request, _raw, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>'),
      'text/html',
    ],
    ['a cut message', (_request, _raw, response) => sendJson(response, '{"jsonrpc":"2.0",'), 'JSON'],
    [
      'a stream that ends',
      (_request, _raw, response) => sendEvents(response, '', () => 'data: {"jsonrpc"'),
      'the stream of events ended without an answer',
    ],
  ];
  test.each(FAULTS)('is named: %s', async (_name, handle, message) => {
    const { ask, warnings } = startAgent({ url: `${await serveHttp(handle)}/sse` });
    await expect(ask({})).rejects.toThrow(message);
    expect(warnings).toEqual([expect.stringContaining(message)]);
  });
});
