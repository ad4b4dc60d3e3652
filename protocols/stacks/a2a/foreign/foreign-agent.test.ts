import http from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ForeignAgent, type ForeignAgentEndpoint } from './foreign-agent.ts';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  /** The method and the parameters of JSON-RPC. */
  readonly rpc: string | undefined;
  readonly params: Record<string, unknown> | undefined;
}
/** What the server answers: a result, events, a status with headers, or nothing for ever. */
type Answer =
  | { readonly result: object }
  | { readonly events: readonly object[]; readonly isCut?: boolean }
  | { readonly status: number; readonly headers?: http.OutgoingHttpHeaders; readonly body?: string }
  | 'silent';

let answer: (request: Request) => Answer;
let asked: Request[] = [];
const server = http.createServer(async (request, response) => {
  let raw = '';
  for await (const part of request) raw += part;
  const { id, method: rpc, params } = raw === '' ? {} : JSON.parse(raw);
  const one = {
    method: request.method ?? '',
    path: request.url ?? '',
    token: request.headers.authorization,
    rpc,
    params,
  };
  asked.push(one);
  const given = answer(one);
  if (given === 'silent') return undefined;
  if ('status' in given) return response.writeHead(given.status, given.headers).end(given.body ?? '{}');
  const write = (result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });
  if ('result' in given)
    return response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(request.method === 'GET' ? JSON.stringify(given.result) : write(given.result));
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const event of given.events) response.write(`data: ${write(event)}\n\n`);
  return given.isCut === true ? setTimeout(() => response.destroy(), 20) : response.end();
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
const agents: ForeignAgent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close();
});

const { signal } = new AbortController();
const NOW = '/.well-known/agent-card.json';
const BEFORE = '/.well-known/agent.json';
const CAN = { streaming: true, pushNotifications: true };
const JSONRPC = { url: '/agent', protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
/** A card whose interfaces are on the origin of the server where their URLs are paths. */
const makeCard = (more: object = {}, ...interfaces: readonly (typeof JSONRPC)[]) => ({
  name: 'field',
  description: 'd',
  capabilities: CAN,
  supportedInterfaces: (interfaces.length === 0 ? [JSONRPC] : interfaces).map((one) => ({
    ...one,
    url: one.url.startsWith('/') ? `${origin}${one.url}` : one.url,
  })),
  ...more,
});

async function connect(to: typeof answer, more: Partial<ForeignAgentEndpoint> = {}): Promise<ForeignAgent> {
  answer = to;
  asked = [];
  const agent = await ForeignAgent.connect({ url: origin, maxMessageBytes: 100_000, ...more }, signal);
  agents.push(agent);
  return agent;
}
const refused = (to: typeof answer, more?: Partial<ForeignAgentEndpoint>) =>
  connect(to, more).then(
    () => 'connected',
    ({ code, message }) => `${code}: ${message}`,
  );

describe('the card of an agent', () => {
  const MISSING: Answer = { status: 404 };
  const only = (path: string) => (request: Request) =>
    request.path === path ? { result: makeCard() } : MISSING;

  test.each<[url: string, there: string, tried: readonly string[]]>([
    ['', NOW, [NOW]],
    ['/', BEFORE, [NOW, BEFORE]],
    ['/team', `/team${NOW}`, [`/team${NOW}`]],
    ['/team/?a=1', `/team${BEFORE}?a=1`, [`/team${NOW}?a=1`, `/team${BEFORE}?a=1`]],
    ['/cards/a.json?b=1', '/cards/a.json?b=1', ['/cards/a.json?b=1']],
    ['/a.json/', `/a.json${NOW}`, [`/a.json${NOW}`]],
  ])('at %j is looked for where cards are, or at the URL itself', async (url, there, tried) => {
    await connect(only(there), { url: `${origin}${url}` });
    expect(asked.map(({ path }) => path)).toEqual(tried);
  });

  test('is asked for with the token, or without', async () => {
    await connect(only(NOW), { token: 'secret' });
    await connect(only(NOW));
    expect(asked.map(({ token }) => token)).toEqual([undefined]);
    await connect(only(BEFORE), { token: 'secret' });
    expect(asked.map(({ token }) => token)).toEqual(['Bearer secret', 'Bearer secret']);
  });

  test.each([404, 405, 410])(
    'is looked for elsewhere after the status %i, and then missed',
    async (status) => {
      const missing = `agent: A2A: ${origin}${NOW} and ${BEFORE}: expected an agent card, received status ${status}`;
      expect(await refused(() => ({ status }))).toBe(missing);
      expect(asked).toHaveLength(2);
    },
  );

  test('may be three redirects away on the same origin, and no more', async () => {
    const moved = (times: number) => (request: Request) => {
      const count = Number(new URL(request.path, origin).searchParams.get('n') ?? 0);
      return count === times
        ? { result: makeCard() }
        : { status: 302, headers: { Location: `/moved?n=${count + 1}` } };
    };
    await connect(moved(3), { token: 'secret' });
    expect(asked.map(({ path }) => path)).toEqual([NOW, '/moved?n=1', '/moved?n=2', '/moved?n=3']);
    expect(asked.map(({ token }) => token)).toEqual(Array(4).fill('Bearer secret'));
    expect(await refused(moved(4))).toContain('received status 302');
    expect(asked).toHaveLength(4);
    const elsewhere = () => ({ status: 302, headers: { Location: 'http://127.0.0.2:9/' } });
    expect(await refused(elsewhere)).toContain('received status 302');
    expect(await refused(() => ({ status: 302 }))).toContain('received status 302');
  });

  test('has its defaults where it says nothing or nonsense', async () => {
    const { card } = await connect(() => ({
      result: { ...makeCard(), name: 7, description: null, capabilities: 'all', skills: [{ name: 7 }, {}] },
    }));
    expect(card).toMatchObject({
      name: 'unnamed',
      description: '',
      capabilities: { streaming: false, pushNotifications: false },
      skills: [
        { name: '', description: '' },
        { name: '', description: '' },
      ],
    });
  });
});

describe('the interface of an agent', () => {
  const choose = (...interfaces: readonly (typeof JSONRPC)[]) =>
    refused(() => ({ result: makeCard({}, ...interfaces) }));
  const leads = (to: string) =>
    `config: A2A: the card of field leads from ${origin} to ${to}: use that address`;

  test('is the first that both know, on the host that the user named', async () => {
    const unknown = { url: '/else', protocolBinding: 'SOAP', protocolVersion: '1.0' };
    const away = { ...JSONRPC, url: 'http://127.0.0.2:9/' };
    for (const local of ['localhost', '0.0.0.0', '[::1]', '[::]']) {
      const own = { ...JSONRPC, url: `${origin.replace('127.0.0.1', local)}/own` };
      expect(await choose(unknown, away, { ...JSONRPC, url: 'no URL' }, own)).toBe('connected');
    }
    expect(await choose(away, { ...JSONRPC, url: 'http://127.0.0.3:9/' })).toBe(leads('http://127.0.0.2:9'));
    expect(await choose({ ...JSONRPC, url: origin.replace(/\d+$/, '9') })).toBe(leads('http://127.0.0.1:9'));
  });

  test('that is not known is named with its version', async () => {
    const none = 'config: A2A: field: expected JSONRPC or HTTP+JSON 1.0, or JSONRPC 0.3, received';
    const others = [
      { url: '/', protocolBinding: 'SOAP', protocolVersion: '1.0' },
      { ...JSONRPC, protocolVersion: '10.0' },
      { url: 'other:1', protocolBinding: 'GRPC', protocolVersion: '1.0' },
    ];
    expect(await choose(...others)).toBe(`${none} SOAP 1.0, JSONRPC 10.0, GRPC 1.0`);
    const long = { url: '/', protocolBinding: 'x'.repeat(300), protocolVersion: '1' };
    expect(await choose(long)).toBe(`${none} ${'x'.repeat(200)}`);
    expect(await refused(() => ({ result: { ...makeCard(), supportedInterfaces: [] } }))).toBe(
      `${none} none`,
    );
  });
});

const status = (state: string) => ({ id: 't1', contextId: 'c1', status: { state } });
const ARTIFACT = { artifacts: [{ artifactId: 'a', parts: [{ text: 'Paris' }] }] };
const DONE = { ...status('TASK_STATE_COMPLETED'), ...ARTIFACT };

/** Asks an agent that answers each method so, in turn. */
async function ask(
  answers: Readonly<Record<string, readonly Answer[]>>,
  more: Partial<ForeignAgentEndpoint> & { readonly message?: object; readonly signal?: AbortSignal } = {},
) {
  const left = new Map(Object.entries(answers).map(([method, all]) => [method, [...all]]));
  const { message = {}, signal: own = signal, ...endpoint } = more;
  const agent = await connect(
    ({ rpc }) => (rpc === undefined ? { result: makeCard() } : (left.get(rpc)?.shift() ?? { status: 500 })),
    endpoint,
  );
  const asking = agent.ask({ parts: [{ text: 'Q' }], ...message }, own);
  return asking.finally(() => void asked.shift());
}
const methods = () => asked.map(({ rpc }) => rpc);

describe('a question', () => {
  test('by a stream is sent once, and the stream read to its end', async () => {
    const message = { taskId: 't0', contextId: 'c0', traceparent: '00-a-b-01' };
    const { texts } = await ask(
      { SendStreamingMessage: [{ events: [{ task: DONE }] }] },
      { message, token: 'secret' },
    );
    expect(texts).toEqual(['Paris']);
    expect(asked).toMatchObject([{ token: 'Bearer secret', rpc: 'SendStreamingMessage', path: '/agent' }]);
    expect(asked[0]?.params).toEqual({
      message: {
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        role: 'ROLE_USER',
        parts: [{ text: 'Q' }],
        taskId: 't0',
        contextId: 'c0',
        metadata: { traceparent: '00-a-b-01' },
      },
      configuration: { historyLength: 0 },
    });
  });

  test('that is answered at once is not asked for again', async () => {
    const { data } = await ask(
      { SendMessage: [{ result: { message: { parts: [{ text: 'Paris' }] } } }] },
      { later: 'poll' },
    );
    expect(data).toMatchObject({ state: 'MESSAGE', answer: 'Paris' });
    expect(methods()).toEqual(['SendMessage']);
  });

  test('whose stream breaks is asked for by its task', async () => {
    const events = [{ task: status('TASK_STATE_WORKING') }];
    for (const isCut of [true, false]) {
      const { texts } = await ask({ SendStreamingMessage: [{ events, isCut }], GetTask: [{ result: DONE }] });
      expect(texts).toEqual(['Paris']);
      expect(methods()).toEqual(['SendStreamingMessage', 'GetTask']);
    }
  });

  test('that refuses in words of its own, as for a wrong token, is named with them', async () => {
    const error = 'expected the header Authorization: Bearer <token>';
    await expect(
      ask({ SendStreamingMessage: [{ status: 401, body: JSON.stringify({ error }) }] }),
    ).rejects.toThrow(`A2A: SendStreamingMessage: expected 200, received 401: {"error":"${error}"}`);
  });

  test('whose stream breaks before it has named a task has failed', async () => {
    await expect(ask({ SendStreamingMessage: [{ events: [], isCut: true }] })).rejects.toMatchObject({
      code: 'agent',
    });
    await expect(ask({ SendStreamingMessage: [{ events: [] }] })).rejects.toMatchObject({ code: 'packet' });
    expect(methods()).toEqual(['SendStreamingMessage']);
  });

  test('to which an answer makes no sense has failed, and its task is cancelled', async () => {
    const events = [{ task: status('TASK_STATE_WORKING') }, { nonsense: 1 }];
    await expect(
      ask({ SendStreamingMessage: [{ events }], CancelTask: [{ result: DONE }] }),
    ).rejects.toMatchObject({ code: 'packet' });
    expect(methods()).toEqual(['SendStreamingMessage', 'CancelTask']);
    expect(asked[1]?.params).toEqual({ id: 't1' });
  });

  test('that is given up has its task cancelled, whatever the agent says to that', async () => {
    const ended = new AbortController();
    const asking = ask(
      { SendMessage: [{ result: { task: status('TASK_STATE_WORKING') } }], GetTask: ['silent'] },
      { later: 'poll', signal: ended.signal },
    );
    asking.catch(() => undefined);
    await expect.poll(methods).toContain('GetTask');
    ended.abort();
    await expect(asking).rejects.toMatchObject({
      code: 'agent',
      message: 'A2A: field: given up in state TASK_STATE_WORKING',
    });
    expect(methods()).toEqual(['SendMessage', 'GetTask', 'CancelTask']);
  });

  test('that is given up before it was answered has no task to cancel', async () => {
    const ended = new AbortController();
    const asking = ask({ SendMessage: ['silent'] }, { later: 'poll', signal: ended.signal });
    asking.catch(() => undefined);
    await expect.poll(methods).toContain('SendMessage');
    ended.abort();
    await expect(asking).rejects.toThrow('A2A: field: given up in state unknown');
    expect(methods()).toEqual(['SendMessage']);
  });
});
