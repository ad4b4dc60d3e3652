import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { askTool } from './serve-team.ts';
import { serveEcho } from './testing/echo-team.ts';

/** Small limits, so that a test reaches each of them. */
const BYTES = 2000;
/** A control character takes six bytes in JSON. */
const MAX_BODY = 6 * BYTES + 64 * 1024;
const CARD = '/.well-known/agent-card.json';

let serving: Awaited<ReturnType<typeof serveEcho>>;
beforeAll(async () => {
  serving = await serveEcho({ limits: { tasks: 4, waiting: 16, bytes: BYTES }, pushTo: ['hooks.example'] });
});
afterAll(() => serving.close());

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface Sent {
  readonly url?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** Sends any headers, the name of the server among them, which `fetch` does not. */
async function ask(path: string, { url = serving.url, method = 'POST', headers = {}, body = '' }: Sent = {}) {
  const { hostname, port } = new URL(url);
  return new Promise<Answer>((resolve, reject) => {
    const sent = send({ host: hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
      );
    });
    sent.on('error', reject).end(body);
  });
}

const authorized = (headers: Readonly<Record<string, string>> = {}) => ({
  Authorization: `Bearer ${serving.token}`,
  'Content-Type': 'application/json',
  'A2A-Version': '1.0',
  ...headers,
});
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

async function rpc(method: string, params: object, headers = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return JSON.parse((await ask('/a2a/jsonrpc', { headers: authorized(headers), body })).text);
}
const message = (text: string, configuration?: object) => ({
  message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] },
  configuration,
});

describe('the token', () => {
  const wrong: readonly (readonly [what: string, header: (token: string) => string | undefined])[] = [
    ['no token', () => undefined],
    ['an empty token', () => 'Bearer '],
    ['the first letter', (token) => `Bearer ${token[0]}`],
    ['the token without its last letter', (token) => `Bearer ${token.slice(0, -1)}`],
    ['the token without its first letter', (token) => `Bearer ${token.slice(1)}`],
    ['another last letter', (token) => `Bearer ${token.slice(0, -1)}x`],
    ['another first letter', (token) => `Bearer x${token.slice(1)}`],
    ['one letter more', (token) => `Bearer ${token}x`],
    ['the token twice', (token) => `Bearer ${token} ${token}`],
    ['other letters of the same length', (token) => `Bearer ${'x'.repeat(token.length)}`],
    ['capital letters', (token) => `Bearer ${token.toUpperCase()}`],
    ['another scheme', (token) => `Basic ${token}`],
    ['no scheme', (token) => token],
    ['the token behind another', (token) => `Bearer x, Bearer ${token}`],
    ['the token behind another scheme', (token) => `Basic Bearer ${token}`],
  ];

  test.each(wrong)('is compared as a whole at every address: %s opens none', async (_what, header) => {
    const given = header(serving.token);
    const { Authorization: _, ...others } = authorized();
    const headers: Record<string, string> =
      given === undefined ? others : { ...others, Authorization: given };
    for (const path of ['/mcp', '/a2a/jsonrpc', '/else', CARD]) {
      const { status, text, headers: answered } = await ask(path, { headers, body: PING });
      expect([path, status]).toEqual([path, 401]);
      expect(text).not.toContain(serving.token);
      expect(answered).toMatchObject({ 'www-authenticate': 'Bearer', connection: 'close' });
    }
  });

  test.each(['Bearer', 'bearer', 'BEARER'])('opens every address with the scheme %s', async (scheme) => {
    const headers = authorized({ Authorization: `${scheme} ${serving.token}` });
    for (const [path, body] of [
      ['/mcp', PING],
      ['/a2a/jsonrpc', PING],
    ] as const)
      expect((await ask(path, { headers, body })).status).not.toBe(401);
  });

  test('is not needed for the card, which says that it is for all else', async () => {
    const { status, text } = await ask(CARD, { method: 'GET' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      name: 'echo',
      capabilities: { streaming: true, pushNotifications: true },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
      supportedInterfaces: [
        { protocolBinding: 'JSONRPC', url: `${serving.url}/a2a/jsonrpc` },
        { protocolBinding: 'JSONRPC', url: `${serving.url}/a2a/jsonrpc`, protocolVersion: '0.3' },
      ],
    });
  });

  test('is needed by no one where there is none, and the card says nothing of it', async () => {
    const open = await serveEcho({ hasToken: false });
    onTestFinished(() => open.close());
    expect((await ask('/mcp', { url: open.url, body: PING })).status).toBe(200);
    const { text } = await ask(CARD, { url: open.url, method: 'GET' });
    expect(text).not.toContain('bearer');
  });
});

describe('a page', () => {
  const foreign = [
    'https://evil.example',
    'http://localhost.evil.com',
    'http://127.0.0.1.evil.com',
    'http://evil.com:80',
    'http://evil-localhost',
    'http://[::2]',
    'http://127.0.0.2',
    'null',
    'file://',
    'localhost',
    '',
  ];
  test.each(foreign)('of the origin %j may ask nothing, not even for the card', async (origin) => {
    const headers = authorized({ Origin: origin });
    for (const path of ['/mcp', '/a2a/jsonrpc']) {
      expect((await ask(path, { headers, body: PING })).status).toBe(403);
    }
    expect((await ask(CARD, { method: 'GET', headers })).status).toBe(403);
  });

  test.each(['http://127.0.0.1:1', 'http://localhost:3000', 'https://LOCALHOST', 'http://[::1]:5'])(
    'of the origin %s, which is this machine, may ask with the token',
    async (origin) => {
      expect((await ask('/mcp', { headers: authorized({ Origin: origin }), body: PING })).status).toBe(200);
    },
  );

  test.each([
    ['cross-site', 403],
    ['same-origin', 200],
    ['none', 200],
  ])('that its browser calls %s and that names no origin is answered with %i', async (site, status) => {
    const headers = authorized({ 'Sec-Fetch-Site': site });
    expect((await ask('/mcp', { headers, body: PING })).status).toBe(status);
  });

  test.each(['evil.com', 'localhost.evil.com', '127.0.0.1.evil.com:80', 'evil.com:127', '127.0.0.2'])(
    'that comes by the name %j is refused, for the card as well',
    async (host) => {
      expect((await ask('/mcp', { headers: authorized({ Host: host }), body: PING })).status).toBe(403);
      expect((await ask(CARD, { method: 'GET', headers: { Host: host } })).status).toBe(403);
    },
  );

  test.each(['localhost', 'localhost:1', 'LocalHost:7', '127.0.0.1', '[::1]:9'])(
    'that comes by the name %s is answered',
    async (host) => {
      expect((await ask('/mcp', { headers: authorized({ Host: host }), body: PING })).status).toBe(200);
    },
  );
});

describe('a webhook', () => {
  async function startWebhook(answer: { status: number; headers?: Record<string, string> }) {
    const calls: { path: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
    const server = createServer((incoming, response) => {
      let body = '';
      incoming.on('data', (part: Buffer) => {
        body += part;
      });
      incoming.on('end', () => {
        calls.push({ path: incoming.url, headers: incoming.headers, body });
        response.writeHead(answer.status, answer.headers).end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  /** Resolves when the last event of a task has come. */
  async function push(calls: readonly { readonly body: string }[], config: object): Promise<void> {
    const before = calls.length;
    await rpc('SendMessage', message('Hi', { taskPushNotificationConfig: config }));
    const came = () => calls.slice(before).map(({ body }) => body);
    await expect.poll(() => came().join()).toContain('TASK_STATE_COMPLETED');
  }

  test('gets every event in order, with the proof that its client named', async () => {
    const { calls, url } = await startWebhook({ status: 204 });
    await push(calls, {
      url: `${url}/hook?a=1`,
      authentication: { scheme: 'Bearer', credentials: 'secret' },
    });
    expect(calls.at(0)).toMatchObject({
      path: '/hook?a=1',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/a2a+json' },
    });
    expect(calls.at(-1)?.body).toContain('TASK_STATE_COMPLETED');
    expect(calls.map(({ body }) => Object.keys(JSON.parse(body))[0])).toContain('artifactUpdate');
    await push(calls, { url, token: 'note' });
    expect(calls.at(-1)?.headers).toMatchObject({ 'x-a2a-notification-token': 'note' });
  });

  test('is one of at most sixteen of a task; one that is removed makes room', async () => {
    const { result } = await rpc('SendMessage', message('Q'));
    const taskId = result.task.id;
    const add = (id: string) =>
      rpc('CreateTaskPushNotificationConfig', { taskId, id, url: 'http://127.0.0.1:9/' });
    for (let i = 0; i < 16; i++) expect(await add(`${i}`)).toHaveProperty('result');
    expect(await add('16')).toMatchObject({
      error: { message: expect.stringContaining('has 16 webhooks already') },
    });
    expect(await add('3')).toHaveProperty('result');
    await rpc('DeleteTaskPushNotificationConfig', { taskId, id: '3' });
    expect(await add('16')).toHaveProperty('result');
    const { configs } = (await rpc('ListTaskPushNotificationConfigs', { taskId })).result;
    expect(configs.map(({ id }: { id: string }) => id)).not.toContain('3');
    expect(await rpc('GetTaskPushNotificationConfig', { taskId, id: '3' })).toMatchObject({
      error: { code: -32001 },
    });
  });
});

describe('a body', () => {
  const paths = ['/mcp', '/a2a/jsonrpc'];
  test.each(paths)('at %s may be so large and not a byte larger, as it is or unpacked', async (path) => {
    const of = (length: number) => PING.padEnd(length);
    const status = async (body: string | Buffer, headers = {}) =>
      (await ask(path, { headers: authorized(headers), body })).status;
    expect(await status(of(MAX_BODY))).not.toBe(413);
    expect(await status(of(MAX_BODY + 1))).toBe(413);
    expect(await status(of(100 * MAX_BODY))).toBe(413);
    const gzip = { 'Content-Encoding': 'gzip' };
    expect(await status(gzipSync(of(MAX_BODY)), gzip)).not.toBe(413);
    expect(await status(gzipSync(of(MAX_BODY + 1)), gzip)).toBe(413);
    const chunked = { 'Transfer-Encoding': 'chunked' };
    expect(await status(of(MAX_BODY), chunked)).not.toBe(413);
    expect(await status(of(MAX_BODY + 1), chunked)).toBe(413);
  });

  test.each(paths)('at %s is read by gzip; other packings and broken ones are named', async (path) => {
    const status = async (packing: string, body: string | Buffer) =>
      (await ask(path, { headers: authorized({ 'Content-Encoding': packing }), body })).status;
    expect(await status('gzip', gzipSync(PING))).toBe(await status('identity', PING));
    expect(await status('X-GZIP', gzipSync(PING))).toBe(await status('identity', PING));
    expect(await status('br', PING)).toBe(415);
    expect(await status('gzip, gzip', gzipSync(PING))).toBe(415);
    expect(await status('gzip', PING)).toBe(400);
    expect(await status('gzip', gzipSync(PING).subarray(0, 20))).toBe(400);
  });
});

test.each(['/mcp', '/a2a/jsonrpc'])(
  'an id at %s, which every answer repeats, has at most 1,024 characters',
  async (path) => {
    const call = async (id: string) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
      return JSON.parse((await ask(path, { headers: authorized(), body })).text);
    };
    expect(await call('x'.repeat(1024))).toMatchObject({ id: 'x'.repeat(1024) });
    expect(await call('x'.repeat(1025))).toMatchObject({ id: null, error: { code: -32600 } });
  },
);

describe('what is kept', () => {
  test('are the last 200 tasks; a list has them in pages, the latest first', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 205; i++) ids.push((await rpc('SendMessage', message(`Q${i}`))).result.task.id);
    expect(await rpc('GetTask', { id: ids[4] })).toMatchObject({ error: { code: -32001 } });
    expect(await rpc('GetTask', { id: ids[5] })).toMatchObject({ result: { id: ids[5] } });
    const listed: string[] = [];
    let pageToken = '';
    do {
      const { result } = await rpc('ListTasks', { pageSize: 60, pageToken });
      expect(result.totalSize).toBe(200);
      for (const { id } of result.tasks) listed.push(id);
      pageToken = result.nextPageToken;
    } while (pageToken !== '');
    expect(new Set(listed)).toEqual(new Set(ids.slice(5)));
  });

  test('are 256 sessions of earlier revisions; the one that was silent longest goes', async () => {
    const headers = authorized();
    const call = (session: string) =>
      ask('/mcp', { headers: { ...headers, 'Mcp-Session-Id': session }, body: PING });
    const open = async () => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25' },
      });
      return String((await ask('/mcp', { headers, body })).headers['mcp-session-id']);
    };
    const sessions: string[] = [];
    for (let i = 0; i < 256; i++) sessions.push(await open());
    const [first = '', second = ''] = sessions;
    expect((await call(first)).status).toBe(200);
    await open();
    expect((await call(first)).status).toBe(200);
    expect((await call(second)).status).toBe(404);
    expect((await call('of my own')).status).toBe(404);
    const closed = await ask('/mcp', { method: 'DELETE', headers: { ...headers, 'Mcp-Session-Id': first } });
    expect(closed.status).toBe(204);
    expect((await call(first)).status).toBe(404);
  });

  test('are 16 followers of a task', async () => {
    const { result } = await rpc('SendMessage', message('wait', { returnImmediately: true }));
    const { id } = result.task;
    const follow = async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } });
      const headers = authorized();
      const followed = await fetch(`${serving.url}/a2a/jsonrpc`, { method: 'POST', headers, body });
      return { followed, isTaken: followed.headers.get('content-type') === 'text/event-stream' };
    };
    const followers = await Promise.all(Array.from({ length: 16 }, follow));
    expect(followers.map(({ isTaken }) => isTaken)).toEqual(Array(16).fill(true));
    const refused = await follow();
    expect(await refused.followed.json()).toMatchObject({
      error: { code: -32603, message: expect.stringContaining('16 requests follow task') },
    });
    await followers[0]?.followed.body?.cancel();
    await expect
      .poll(async () => {
        const next = await follow();
        await next.followed.body?.cancel();
        return next.isTaken;
      })
      .toBe(true);
    await rpc('CancelTask', { id });
  });
});

/** A server of the test's own, since its start is the subject. */
async function start(given: Parameters<typeof serveEcho>[0] = {}) {
  const own = await serveEcho(given);
  onTestFinished(() => own.close());
  const call = (path: string, sent: Sent = {}) => ask(path, { url: own.url, headers: authorized(), ...sent });
  const rpcOf = async (path: string, method: string, params: object = {}) =>
    JSON.parse((await call(path, { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })).text);
  return { own, call, rpcOf };
}

describe('a server', () => {
  const INITIALIZE = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };

  test('of both protocols names its addresses, and the team at each', async () => {
    const { own, rpcOf, call } = await start();
    expect(own).toMatchObject({ mcp: `${own.url}/mcp`, card: `${own.url}${CARD}` });
    expect((await rpcOf('/mcp', 'initialize', INITIALIZE)).result).toMatchObject({
      serverInfo: { name: 'echo', version: expect.stringMatching(/^\d+\.\d+/) },
      instructions: expect.stringContaining('A team that repeats the question. Ask it with the tool'),
    });
    const answered = await rpcOf('/a2a/jsonrpc', 'SendMessage', message('Hi'));
    expect(answered.result.task.artifacts[0].parts[0].text).toBe('You said: Hi');
    expect(await call('/else')).toMatchObject({
      status: 404,
      text: expect.stringContaining(`there is /mcp and ${CARD}`),
    });
  });

  test.each([
    ['1.0', true],
    ['0.3', false],
  ])('gives the card of A2A %s to who asks for it, on a connection that ends', async (version, isOwn) => {
    const { own, call } = await start();
    const { status, text, headers } = await call(CARD, {
      method: 'GET',
      headers: { 'A2A-Version': version },
    });
    expect([status, headers]).toEqual([
      200,
      expect.objectContaining({ connection: 'close', vary: 'A2A-Version' }),
    ]);
    const card = JSON.parse(text);
    expect(card).toMatchObject({ name: 'echo', description: 'A team that repeats the question' });
    expect([card.protocolVersion, card.url]).toEqual(
      isOwn ? [undefined, undefined] : [expect.stringMatching(/^0\.3/), expect.any(String)],
    );
    expect(text).toContain(`"${own.url}/a2a/jsonrpc"`);
    expect(text).toContain('earer');
  });

  test('leads from the address of a card of A2A 0.3 to the card, and from there alone', async () => {
    const { call } = await start();
    const old = '/.well-known/agent.json';
    expect(await call(old, { method: 'GET', headers: {} })).toMatchObject({
      status: 308,
      text: '',
      headers: { location: CARD },
    });
    expect((await call(old)).status).toBe(404);
    expect((await call(old, { headers: {} })).status).toBe(401);
    expect((await call(CARD, { headers: {} })).status).toBe(401);
  });

  test('of MCP alone has no card, and says what there is', async () => {
    const { own, call, rpcOf } = await start({ a2a: false });
    expect(own.card).toBeUndefined();
    expect((await rpcOf('/mcp', 'initialize', INITIALIZE)).result.serverInfo.name).toBe('echo');
    for (const path of [CARD, '/.well-known/agent.json'])
      expect((await call(path, { method: 'GET', headers: {} })).status).toBe(401);
    for (const [path, method] of [
      [CARD, 'GET'],
      ['/.well-known/agent.json', 'GET'],
      ['/a2a/jsonrpc', 'POST'],
    ] as const) {
      const { status, text } = await call(path, { method });
      expect([status, text]).toEqual([404, expect.stringMatching(/there is \/mcp"?}?$/)]);
    }
  });

  test('of A2A alone has no MCP, and says what there is', async () => {
    const { own, call } = await start({ mcp: 'stdio' });
    expect(own.mcp).toBeUndefined();
    const { status, text } = await call('/mcp', { body: PING });
    expect([status, text]).toEqual([
      404,
      expect.stringMatching(/there is \/\.well-known\/agent-card\.json"?}?$/),
    ]);
  });

  test('goes by the address that it listens on, besides those of the loopback', async () => {
    const { call } = await start({ listen: '127.0.0.3' });
    const status = async (host: string) =>
      (await call('/mcp', { headers: authorized({ Host: host }), body: PING })).status;
    expect([await status('127.0.0.3:80'), await status('localhost'), await status('127.0.0.4')]).toEqual([
      200, 200, 403,
    ]);
  });

  test('repeats no more than 64 characters of a name that is not its own, and asks for no token then', async () => {
    const { call } = await start();
    const long = `${'x'.repeat(64)}yz`;
    for (const headers of [{ Host: long }, { Origin: `http://${long}` }]) {
      const refused = await call('/mcp', { headers: authorized(headers), body: PING });
      expect(refused.status).toBe(403);
      expect(refused.text).not.toContain('yz');
      expect(refused.text).toContain('x'.repeat(57));
      expect(refused.headers).not.toHaveProperty('www-authenticate');
    }
  });

  test('takes bodies up to its own bound', async () => {
    const { call } = await start({ limits: { tasks: 4, waiting: 16, bytes: 100 } });
    const most = 6 * 100 + 64 * 1024;
    expect((await call('/mcp', { body: PING.padEnd(most) })).status).toBe(200);
    expect((await call('/mcp', { body: PING.padEnd(most + 1) })).status).toBe(413);
    expect((await call('/a2a/jsonrpc', { body: PING.padEnd(most + 1) })).status).toBe(413);
  });

  test('takes webhooks on this machine and on the hosts that its user named', async () => {
    const { rpcOf } = await start({ pushTo: ['Hooks.Example'] });
    const taskId = (await rpcOf('/a2a/jsonrpc', 'SendMessage', message('Q'))).result.task.id;
    const add = (url: string) =>
      rpcOf('/a2a/jsonrpc', 'CreateTaskPushNotificationConfig', { taskId, id: url, url });
    for (const url of ['http://hooks.example/a', 'http://127.0.0.1:9/', 'http://localhost:9/'])
      expect(await add(url), url).toHaveProperty('result');
    for (const url of ['http://other.example/', 'http://hooks.example.other/', 'http://10.0.0.1/'])
      expect(await add(url), url).toHaveProperty('error');
  });

  test('that is closed breaks off its tasks, and answers no more', async () => {
    const { own, call, rpcOf } = await start();
    await rpcOf('/a2a/jsonrpc', 'SendMessage', message('wait', { returnImmediately: true }));
    await own.close();
    await expect(call('/mcp', { body: PING })).rejects.toThrow(/ECONNREFUSED|hang up/);
  });
});

describe('the tool that asks a team', () => {
  const answered = {
    answer: 'Paris',
    status: 'answered' as const,
    task_id: 'ask-1',
    elapsed_ms: 1,
    packets: 2,
    bytes: 3,
    tokens: 4,
    model_calls: 5,
    cost_usd: null,
  };
  type Ask = Parameters<typeof askTool>[0]['ask'];
  const call = (team: Ask, args: object = { question: 'Q' }, progress = async () => undefined as undefined) =>
    askTool({ name: 'team', ask: team }, 'A team').call(
      args as never,
      {
        signal: new AbortController().signal,
        progress,
      } as never,
    );

  test('gives the answer as text and as data, after the progress in its order', async () => {
    const told: unknown[] = [];
    const progress = async (...words: unknown[]) => void told.push(words);
    const result = await call(
      async (_request, _signal, onProgress) => {
        onProgress('agent 0 sent a (packet 1)', 1);
        onProgress('agent 1 sent b (packet 2)', 2);
        return answered;
      },
      undefined,
      progress as never,
    );
    expect(result).toEqual({ content: [{ type: 'text', text: 'Paris' }], structuredContent: answered });
    expect(told).toEqual([
      [1, undefined, 'agent 0 sent a (packet 1)'],
      [2, undefined, 'agent 1 sent b (packet 2)'],
    ]);
  });

  test('gives an empty text for an answer of nothing, and an answer although its progress is not read', async () => {
    const asking: Ask = async (_request, _signal, onProgress) => {
      onProgress('agent 0 sent a (packet 1)', 1);
      return { ...answered, answer: null };
    };
    const result = await call(asking, undefined, () => Promise.reject(new Error('gone')));
    expect(result).toMatchObject({ content: [{ type: 'text', text: '' }] });
    expect(result).not.toHaveProperty('isError');
  });

  test.each([
    ['failed', 'no key', 'failed: no key'],
    ['timeout', undefined, 'timeout: no answer'],
  ] as const)('says in words and data that a task has %s', async (status, reason, text) => {
    const end = { ...answered, status, reason, answer: null };
    expect(await call(async () => end)).toEqual({
      content: [{ type: 'text', text }],
      isError: true,
      structuredContent: end,
    });
  });

  test('says what is wrong with its arguments, and why it could not ask', async () => {
    const refuse: Ask = () => Promise.reject(new Error('the team is busy'));
    expect(await call(refuse)).toEqual({
      content: [{ type: 'text', text: 'the team is busy' }],
      isError: true,
    });
    for (const args of [
      {},
      { question: ' ' },
      { question: 'x'.repeat(64 * 1024 + 1) },
      { question: 'Q', more: 1 },
    ])
      expect(await call(refuse, args)).toEqual({
        content: [{ type: 'text', text: expect.stringMatching(/^arguments: /) }],
        isError: true,
      });
  });
});
