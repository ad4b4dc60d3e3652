import http from 'node:http';
import { FINAL_ANSWER, type JsonObject, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { WARNINGS_FILE } from '@gaia-mesh/core/contracts/warning.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { createA2aTool } from '@gaia-mesh/tools/foreign/a2a.ts';
import type { ForeignPeer } from '@gaia-mesh/tools/foreign/foreign.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectA2a } from './foreign-peers.ts';

/** Agents and cards of A2A as people report them. To add a case, add a row: what the agent sends, and the answer or the failure. */

const task = (state: string, more: object = {}) => ({
  task: { id: 't1', contextId: 'c1', status: { state }, ...more },
});
const status = (state: string, text?: string) => ({
  statusUpdate: {
    taskId: 't1',
    contextId: 'c1',
    status: {
      state,
      message: text === undefined ? null : { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] },
    },
  },
});
const artifact = (artifactId: string, parts: readonly unknown[], append: boolean | null = null) => ({
  artifactUpdate: { taskId: 't1', contextId: 'c1', artifact: { artifactId, parts }, append },
});
const COMPLETED = status('TASK_STATE_COMPLETED');
const WORKING = task('TASK_STATE_WORKING');

interface Case {
  readonly name: string;
  readonly events: readonly object[];
  readonly answer?: string;
  readonly fails?: string;
  readonly lost?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'chunks that are appended',
    events: [
      WORKING,
      artifact('a', [{ text: 'Par' }]),
      artifact('a', [{ text: 'i' }], true),
      artifact('a', [{ text: 's' }], true),
      COMPLETED,
    ],
    answer: 'Paris',
  },
  {
    name: 'half a character in each chunk',
    events: [
      WORKING,
      artifact('a', [{ text: 'Paris \ud83d' }]),
      artifact('a', [{ text: '\ude00' }], true),
      COMPLETED,
    ],
    answer: 'Paris 😀',
  },
  {
    name: 'a cut character',
    events: [WORKING, artifact('a', [{ text: 'Paris \ud83d' }]), COMPLETED],
    answer: 'Paris \ufffd',
    lost: ['half a character', 'half a character'].slice(0, 1),
  },
  {
    name: 'an artifact that is replaced',
    events: [
      WORKING,
      artifact('a', [{ text: 'London' }]),
      artifact('a', [{ text: 'Paris' }], false),
      COMPLETED,
    ],
    answer: 'Paris',
  },
  {
    name: 'a draft, then the answer',
    events: [
      WORKING,
      artifact('draft', [{ text: 'I looked at London first.' }]),
      artifact('final', [{ text: 'Paris' }]),
      COMPLETED,
    ],
    answer: 'Paris',
  },
  {
    name: 'an answer, then an artifact without words',
    events: [WORKING, artifact('a', [{ text: 'Paris' }]), artifact('log', []), COMPLETED],
    answer: 'Paris',
  },
  {
    name: 'two parts in an artifact',
    events: [WORKING, artifact('a', [{ text: 'Paris,' }, { text: 'of course' }]), COMPLETED],
    answer: 'Paris,\nof course',
  },
  {
    name: 'words at the end alone',
    events: [WORKING, status('TASK_STATE_WORKING', 'looking'), status('TASK_STATE_COMPLETED', 'Paris')],
    answer: 'Paris',
  },
  {
    name: 'an artifact and words at the end',
    events: [WORKING, artifact('a', [{ text: 'Paris' }]), status('TASK_STATE_COMPLETED', 'Done.')],
    answer: 'Paris',
  },
  {
    name: 'words as progress alone',
    events: [WORKING, status('TASK_STATE_WORKING', 'Pa'), status('TASK_STATE_WORKING', 'ris'), COMPLETED],
    fails: 'TASK_STATE_COMPLETED without words; it last said, as progress: ris',
  },
  { name: 'no words at all', events: [WORKING, COMPLETED], fails: 'TASK_STATE_COMPLETED without words' },
  {
    name: 'a question',
    events: [WORKING, status('TASK_STATE_INPUT_REQUIRED', 'which country?')],
    fails: 'asks back (TASK_STATE_INPUT_REQUIRED)',
  },
  {
    name: 'a demand for a login',
    events: [WORKING, status('TASK_STATE_AUTH_REQUIRED', 'log in first')],
    fails: 'TASK_STATE_AUTH_REQUIRED\nlog in first',
  },
  {
    name: 'a task that is rejected',
    events: [WORKING, status('TASK_STATE_REJECTED', 'not my field')],
    fails: 'TASK_STATE_REJECTED\nnot my field',
  },
  {
    name: 'a message',
    events: [{ message: { role: 'ROLE_AGENT', parts: [{ text: 'Paris' }] } }],
    answer: 'Paris',
  },
  {
    name: 'a text file',
    events: [
      WORKING,
      artifact('a', [{ raw: Buffer.from('Paris').toString('base64'), mediaType: 'text/plain' }]),
      COMPLETED,
    ],
    answer: 'Paris',
  },
  {
    name: 'data',
    events: [WORKING, artifact('a', [{ data: { answer: 'Paris' } }]), COMPLETED],
    answer: '{"answer":"Paris"}',
  },
  {
    name: 'a part that is not known',
    events: [WORKING, artifact('a', [{ text: 'Paris' }, { hologram: 1 }, { text: null }]), COMPLETED],
    answer: 'Paris',
    lost: ['a part {"hologram":1}', 'a part {"text":null}'],
  },
  {
    name: 'null in all places',
    events: [
      {
        task: {
          id: 't1',
          contextId: null,
          artifacts: null,
          history: null,
          metadata: null,
          status: { state: 'TASK_STATE_WORKING', message: null, timestamp: null },
        },
      },
      artifact('a', [{ text: 'Paris', filename: null }]),
      COMPLETED,
    ],
    answer: 'Paris',
  },
];

/** The same cases in the forms of A2A 0.3. */
const OLD: readonly Case[] = [
  {
    name: 'a stream',
    events: [
      { kind: 'task', id: 't1', contextId: 'c1', status: { state: 'working' } },
      {
        kind: 'artifact-update',
        taskId: 't1',
        contextId: 'c1',
        artifact: { artifactId: 'a', parts: [{ kind: 'text', text: 'Par' }] },
      },
      {
        kind: 'artifact-update',
        taskId: 't1',
        contextId: 'c1',
        append: true,
        artifact: { artifactId: 'a', parts: [{ kind: 'text', text: 'is' }] },
      },
      { kind: 'status-update', taskId: 't1', contextId: 'c1', final: true, status: { state: 'completed' } },
    ],
    answer: 'Paris',
  },
  {
    name: 'a message',
    events: [{ kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'Paris' }] }],
    answer: 'Paris',
  },
  {
    name: 'a question',
    events: [
      {
        kind: 'status-update',
        taskId: 't1',
        contextId: 'c1',
        status: {
          state: 'input-required',
          message: {
            kind: 'message',
            messageId: 'm',
            role: 'agent',
            parts: [{ kind: 'text', text: 'which?' }],
          },
        },
      },
    ],
    fails: 'asks back (TASK_STATE_INPUT_REQUIRED): which?',
  },
  {
    name: 'a file',
    events: [
      {
        kind: 'task',
        id: 't1',
        contextId: 'c1',
        status: { state: 'completed' },
        artifacts: [
          { artifactId: 'a', parts: [{ kind: 'file', file: { bytes: 'UGFyaXM=', mimeType: 'text/plain' } }] },
        ],
      },
    ],
    answer: 'Paris',
  },
];

let port = 0;
let events: readonly object[] = [];
let makeCard: (base: string) => object = () => ({});
let seen: string[] = [];
let cardPaths = ['/.well-known/agent-card.json'];
const server = http.createServer(async (request, response) => {
  let raw = '';
  for await (const chunk of request) raw += chunk;
  const { url = '' } = request;
  seen.push(`${request.method} ${url}`);
  if (request.method === 'GET') {
    if (!cardPaths.some((own) => url.startsWith(own))) return response.writeHead(404).end();
    return response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(makeCard(`http://127.0.0.1:${port}`)));
  }
  if (!url.startsWith('/agent')) return response.writeHead(404).end('{}');
  if (url === '/agent/moved') return response.writeHead(307, { Location: '/agent' }).end();
  const { id, method } = JSON.parse(raw);
  if (!/^(?:SendStreamingMessage|message\/stream)$/.test(method))
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: `no ${method}` } }));
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  return response.end(
    events
      .map((result) => `: keep-alive\r\n\r\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\r\n\r\n`)
      .join(''),
  );
});
const peers: ForeignPeer[] = [];
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
});
afterAll(async () => {
  for (const peer of peers) await peer.close();
  server.closeAllConnections();
  server.close();
});

const card = (url: string, protocolVersion = '1.0') => ({
  name: 'field',
  description: 'd',
  capabilities: { streaming: true },
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion }],
});
const oldCard = (url: string) => ({
  name: 'field',
  description: 'd',
  version: '1',
  protocolVersion: '0.3.0',
  url,
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: true },
  skills: [],
});

/** Asks the member a question, and returns its answer and its warnings. */
async function ask(place = `http://127.0.0.1:${port}`) {
  const lost: unknown[] = [];
  const tool = createA2aTool({
    async connectA2a(endpoint, signal) {
      const peer = await connectA2a(endpoint, signal);
      peers.push(peer);
      return peer;
    },
  });
  const packet: Packet = {
    type: 'doc_init',
    from: 'hub',
    id: '1',
    task_id: 't',
    token_used: 0,
    ts: 0,
    payload: { question: 'What is the capital of France?', chunks: [] },
  };
  const [emission] = await tool.run(packet, {
    engine: { name: 'none', tokenSource: 'embedded', perform: () => Promise.reject(new Error('not asked')) },
    workspace: temporaryFolder(),
    files: undefined,
    store: undefined,
    options: { url: place, asks_models: false, timeout_s: 20 },
    partners: [],
    prompt: String,
    signal: new AbortController().signal,
    countTokens: () => undefined,
    ask: () => Promise.reject(new Error('not asked')),
    record: (file: string, entry: JsonObject) => {
      if (file === WARNINGS_FILE) lost.push(entry.why);
    },
  });
  expect(emission?.tag).toBe(FINAL_ANSWER);
  return { answer: emission?.payload.answer, lost };
}

describe.each([
  ['1.0', CASES, (base: string) => card(`${base}/agent`)],
  ['0.3', OLD, (base: string) => oldCard(`${base}/agent`)],
] as const)('an agent of A2A %s that sends', (_version, cases, own) => {
  test.each(cases.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
    makeCard = own;
    ({ events } = row);
    if (row.fails !== undefined) return expect(ask()).rejects.toThrow(row.fails);
    const { answer, lost } = await ask();
    expect(answer).toBe(row.answer);
    expect(lost).toEqual((row.lost ?? []).map((why) => expect.stringContaining(why)));
    return undefined;
  });
});

describe('a card of A2A', () => {
  const PARIS = [WORKING, artifact('a', [{ text: 'Paris' }]), COMPLETED];
  const CARDS: readonly (readonly [name: string, make: (base: string) => object, asked: string])[] = [
    ['with a slash at the end of its URL', (base) => card(`${base}/agent/`), 'POST /agent/'],
    ['with a query in its URL', (base) => card(`${base}/agent?tenant=1`), 'POST /agent?tenant=1'],
    [
      'that calls this machine localhost',
      (base) => card(`${base.replace('127.0.0.1', 'localhost')}/agent`),
      'POST /agent',
    ],
    [
      'that calls this machine 0.0.0.0',
      (base) => card(`${base.replace('127.0.0.1', '0.0.0.0')}/agent`),
      'POST /agent',
    ],
    [
      'with null in its fields',
      (base) => ({ ...card(`${base}/agent`), description: null, skills: null }),
      'POST /agent',
    ],
    ['of 0.3', (base) => oldCard(`${base}/agent`), 'POST /agent'],
  ];
  test.each(CARDS)('%s is used', async (_name, make, asked) => {
    makeCard = make;
    events = PARIS;
    seen = [];
    expect((await ask()).answer).toBe('Paris');
    expect(seen.at(-1)).toBe(asked);
  });

  test.each([
    ['at its old path', '', ['/.well-known/agent.json']],
    ['below a path with a slash and a query', '/team/?key=1', ['/team/.well-known/agent-card.json?key=1']],
  ])('%s is found', async (_name, below, paths) => {
    makeCard = (base) => card(`${base}/agent`);
    events = PARIS;
    cardPaths = paths;
    const { answer } = await ask(`http://127.0.0.1:${port}${below}`).finally(() => {
      cardPaths = ['/.well-known/agent-card.json'];
    });
    expect(answer).toBe('Paris');
  });

  const REFUSED: readonly (readonly [name: string, make: (base: string) => object, message: string])[] = [
    ['with another origin', () => card('http://127.0.0.2:1/agent'), 'leads from'],
    ['of an unknown version', (base) => card(`${base}/agent`, '7.0'), 'received JSONRPC 7.0'],
    [
      'of 0.3 with gRPC alone',
      (base) => ({ ...oldCard(`${base}/agent`), preferredTransport: 'GRPC' }),
      'or JSONRPC 0.3, received GRPC 0.3.0',
    ],
    ['whose agent redirects', (base) => card(`${base}/agent/moved`), 'redirected (307) to /agent'],
  ];
  test.each(REFUSED)('%s is refused by name', async (_name, make, message) => {
    makeCard = make;
    events = PARIS;
    await expect(ask()).rejects.toThrow(message);
  });
});

test('an answer in 50,000 chunks is put together in time that grows with its length alone', async () => {
  makeCard = (base) => card(`${base}/agent`);
  const chunks = Array.from({ length: 50_000 }, () => artifact('a', [{ text: 'word ' }], true));
  events = [WORKING, artifact('a', [{ text: 'word ' }]), ...chunks, COMPLETED];
  const before = process.threadCpuUsage();
  await expect(ask()).rejects.toThrow('expected at most 8388608 bytes');
  events = [WORKING, artifact('a', [{ text: 'word ' }]), ...chunks.slice(0, 30_000), COMPLETED];
  expect((await ask()).answer).toHaveLength(5 * 30_001 - 1);
  expect(process.threadCpuUsage(before).user).toBeLessThan(15_000_000);
});
