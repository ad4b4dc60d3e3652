import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Role, TaskState } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { formatRecording, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { type Serving, serveOffer } from '@gaia-mesh/evaluation/serve/serve-team.ts';
import { ServedRecording } from '@gaia-mesh/evaluation/serve/served-recording.ts';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli } from '../../testing/cli.ts';

const fixture = (name: string) => path.join(codeFolder, 'evaluation', 'traffic', 'import', 'fixtures', name);

interface Played extends Serving {
  readonly recording: ServedRecording;
  readonly notes: string[];
}

async function play(file: string, { isDelayed = false } = {}): Promise<Played> {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const recording = await ServedRecording.load(file, { isDelayed, note });
  const offer = recording.offer({ mcp: false, a2a: false }, false);
  return {
    ...(await serveOffer(offer, { listen: '127.0.0.1', port: 0, pushTo: [] }, undefined)),
    recording,
    notes,
  };
}

function writeLog(messages: readonly object[]): string {
  const file = path.join(temporaryFolder(), 'log.jsonl');
  writeFileSync(file, messages.map((message) => JSON.stringify(message)).join('\n'));
  return file;
}

/** Lines of a log: a call of MCP and its result, `afterMs` later. */
function callLines(id: number, args: object, result: object, afterMs = 1): object[] {
  const at = (ms: number) => ({ ts: new Date(Date.UTC(2026, 10, 24) + 10_000 * id + ms).toISOString() });
  const params = { name: 'look', arguments: args };
  return [
    { ...at(0), message: { jsonrpc: '2.0', id, method: 'tools/call', params } },
    { ...at(afterMs), message: { jsonrpc: '2.0', id, ...result } },
  ];
}
const said = (text: string) => ({ result: { content: [{ type: 'text', text }] } });

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function connectMcp({ mcp }: Serving): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp ?? '')));
  open.push(client);
  return client;
}

async function call(client: Client, args: Record<string, unknown>, name = 'look'): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return content.map((block) => (block.type === 'text' ? block.text : '')).join();
}

describe('a log of MCP that answers as a server', () => {
  let served: Played;
  let client: Client;
  beforeAll(async () => {
    served = await play(fixture('mcp-stdio.jsonl'));
    client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(served.mcp ?? '')));
  });
  afterAll(async () => {
    await client.close();
    await served.close();
  });

  test('has the name and the tools of the recorded server', async () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'harbour-records', version: '1.0.0' });
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      { name: 'search_harbour', execution: { taskSupport: 'forbidden' } },
      { name: 'fail', description: 'Always fails' },
    ]);
  });

  test('gives the recorded result to the same request, an error of a tool, too', async () => {
    const found = { content: [{ type: 'text', text: expect.stringContaining('14 berths') }] };
    expect(await client.callTool({ name: 'search_harbour', arguments: { query: 'berths' } })).toMatchObject(
      found,
    );
    expect(await client.callTool({ name: 'fail', arguments: {} })).toMatchObject({ isError: true });
  });

  test('refuses a request that was not recorded, and names the nearest and where they differ', async () => {
    const missed = client.callTool({ name: 'search_harbour', arguments: { query: 'the berths' } });
    const why =
      /not recorded: tools\/call search_harbour .*nearest is .* differs: query: recorded "berths", came "the berths"/;
    await expect(missed).rejects.toThrow(why);
    expect(served.notes.at(-1)).toMatch(why);
    expect(served.recording.used.missed).toBe(1);
  });
});

describe('a recorded request', () => {
  test.each([
    ['UUIDs', 'a7f3f3a8-5d4b-4c53-9a0e-1f8f7c6d5e4b', '0b2c1f70-93c5-4b9e-8a55-5d1f0e2c3b4a'],
    ['times', 'since 2026-11-24T08:37:09.178Z', 'since 2026-12-01T10:00:00Z'],
    ['tokens', '9f86d081884c7d659a2feaa0c55ad015', 'e3b0c44298fc1c149afbf4c8996fb924'],
    ['tokens', 'sk_Live4242aBcDeFgHiJkL', 'sk_Live9999zYxWvUtSrQpO'],
  ])('is the same but for %s', async (rule, recorded, sent) => {
    const served = await play(writeLog(callLines(1, { query: recorded }, said('found'))));
    open.push(served);
    expect(await call(await connectMcp(served), { query: sent })).toBe('found');
    expect(served.notes).toEqual([`tools/call look: the recorded request but for ${rule}`]);
    expect(served.recording.used).toEqual({ same: 0, byRule: 1, missed: 0 });
  });

  test('is the same but for ids of requests and numbers of time, and for nothing else', async () => {
    const recorded = { requestId: 1, created_at: 1_795_000_000, amount: 1_795_000_000 };
    const served = await play(writeLog(callLines(1, recorded, said('found'))));
    open.push(served);
    const client = await connectMcp(served);
    expect(await call(client, { requestId: 2, created_at: 1_795_000_777, amount: 1_795_000_000 })).toBe(
      'found',
    );
    await expect(call(client, { ...recorded, amount: 1_795_000_777 })).rejects.toThrow('amount: recorded');
    await expect(call(client, { amount: 1, extra: { a: 1 } })).rejects.toThrow(/extra is new/);
  });

  test.each([
    ['a long word of people', 'InternationalHarbourRecords', 'InternationalHarbourMasters'],
    ['a date without a time', '2026-11-24', '2026-11-25'],
    ['a short number', 'berth 42', 'berth 43'],
  ])('is another one with another %s', async (_what, recorded, sent) => {
    const served = await play(writeLog(callLines(1, { query: recorded }, said('found'))));
    open.push(served);
    await expect(call(await connectMcp(served), { query: sent })).rejects.toThrow('not recorded');
  });

  test('that was sent several times gets its replies in their order, then the last one again', async () => {
    const lines = [...callLines(1, { n: 1 }, said('first')), ...callLines(2, { n: 1 }, said('second'))];
    const served = await play(writeLog(lines));
    open.push(served);
    const client = await connectMcp(served);
    const replies = [
      await call(client, { n: 1 }),
      await call(client, { n: 1 }),
      await call(client, { n: 1 }),
    ];
    expect(replies).toEqual(['first', 'second', 'second']);
  });

  test('gets the recorded error with its code', async () => {
    const error = { code: -32050, message: 'the harbour is closed' };
    const served = await play(writeLog(callLines(1, {}, { error })));
    open.push(served);
    const client = await connectMcp(served);
    await expect(call(client, {})).rejects.toMatchObject({ code: -32050 });
    // More of them than may run or wait at once, one group after the other: an error keeps no turn.
    for (let group = 0; group < 5; group++)
      expect(
        await Promise.all(Array.from({ length: 64 }, () => call(client, {}).catch(({ code }) => code))),
      ).toEqual(Array(64).fill(-32050));
  });

  test('is answered after the recorded time', async () => {
    const served = await play(writeLog(callLines(1, {}, said('late'), 300)), { isDelayed: true });
    open.push(served);
    const client = await connectMcp(served);
    const startMs = performance.now();
    await call(client, {});
    expect(performance.now() - startMs).toBeGreaterThan(290);
  });

  test('of a chat’s tool is answered by a tool of the server', async () => {
    const served = await play(fixture('openai-chat.jsonl'));
    open.push(served);
    const client = await connectMcp(served);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(0);
  });
});

describe('a log of A2A that answers as an agent', () => {
  const message = (text: string) => ({
    tenant: '',
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: crypto.randomUUID(),
      role: Role.ROLE_USER,
      parts: [
        {
          content: { $case: 'text' as const, value: text },
          filename: '',
          mediaType: '',
          metadata: undefined,
        },
      ],
      contextId: '',
      taskId: '',
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  });
  async function ask(served: Serving, text: string) {
    const client = await new ClientFactory().createFromUrl(served.url);
    const reply = await client.sendMessage(message(text));
    if (!('status' in reply)) throw new Error('expected a task');
    const texts = (parts: readonly { content?: { value: unknown } | undefined }[] = []) =>
      parts.map(({ content }) => String(content?.value)).join();
    return {
      state: reply.status?.state,
      artifact: texts(reply.artifacts[0]?.parts),
      words: texts(reply.status?.message?.parts),
    };
  }

  test('gives the recorded artifact to the official client, and rejects what was not recorded', async () => {
    const served = await play(fixture('a2a-jsonrpc.jsonl'));
    open.push(served);
    expect(await ask(served, 'How many berths are for fishing boats?')).toMatchObject({
      state: TaskState.TASK_STATE_COMPLETED,
      artifact: expect.stringContaining('9 for fishing boats'),
    });
    expect(await ask(served, 'How many berths are for ferries?')).toMatchObject({
      state: TaskState.TASK_STATE_REJECTED,
      words: expect.stringContaining('recorded "How many berths are for fishing boats?"'),
    });
  });

  test('ends a task that its client had asked for later, in the forms of 0.3 as well', async () => {
    const task = (state: string, more = {}) => ({
      kind: 'task',
      id: 't-1',
      contextId: 'c',
      status: { state },
      ...more,
    });
    const artifacts = [{ artifactId: 'a', parts: [{ kind: 'text', text: 'done' }] }];
    const sent = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Work' }] };
    const served = await play(
      writeLog([
        { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: sent } },
        { jsonrpc: '2.0', id: 1, result: task('working') },
        { jsonrpc: '2.0', id: 2, method: 'tasks/get', params: { id: 't-1' } },
        { jsonrpc: '2.0', id: 2, result: task('completed', { artifacts }) },
      ]),
    );
    open.push(served);
    expect(await ask(served, 'Work')).toMatchObject({
      state: TaskState.TASK_STATE_COMPLETED,
      artifact: 'done',
    });
  });

  test('is served as a recording of ours is: a question gets its answer over both protocols', async () => {
    const head = { task_id: 'a', token_used: 0 };
    const payload = { question: 'When was the lamp lit?', chunks: ['The lamp was lit', 'in 1868.'] };
    const answer = { ...head, type: 'data_event', from: '1', id: '1-1', tag: 'final_answer', ts: 20 };
    const own: Recording = {
      header: {
        run_id: 'r',
        team: 'lamp',
        final: '1',
        routing: 'broadcast',
        adapter: 'json',
        engine: 'extractive',
        agents: [{ id: '1', tool: 'reason' }],
      },
      packets: [
        {
          cause: null,
          tool_us: 0,
          packet: { ...head, type: 'doc_init', from: 'hub', id: 'hub-1', ts: 10, payload },
        },
        { cause: 'hub-1', tool_us: 0, packet: { ...answer, payload: { answer: '1868' } } },
      ],
    };
    const file = path.join(temporaryFolder(), 'recording.jsonl');
    writeFileSync(file, formatRecording(own).join(''));
    const served = await play(file);
    open.push(served);
    const client = await connectMcp(served);
    expect(await call(client, { question: payload.question }, 'ask')).toBe('1868');
    const document = 'The lamp was lit\nin 1868.';
    expect(await call(client, { question: payload.question, document }, 'ask')).toBe('1868');
    expect(await call(client, { question: 'When was it dark?' }, 'ask')).toContain(
      'nearest is the question of a',
    );
    expect(await ask(served, payload.question)).toMatchObject({ artifact: expect.stringContaining('1868') });
  });
});

describe('a capture', () => {
  const play0 = async (file: string, asked = { mcp: false, a2a: false }) =>
    (await ServedRecording.load(file, { isDelayed: false, note: () => undefined })).offer(asked, false);

  test('without a request of the protocol is refused, with what would do', async () => {
    await expect(play0(fixture('mcp-stdio.jsonl'), { mcp: false, a2a: true })).rejects.toThrow(
      'serve it with --mcp',
    );
    await expect(play0(fixture('a2a-jsonrpc.jsonl'), { mcp: true, a2a: false })).rejects.toThrow(
      'serve it with --a2a',
    );
    await expect(play0(writeLog([{ hello: 1 }]))).rejects.toThrow('nor is it a recording of ours');
  });

  test('that is hostile costs no other request: names that programs obey, replies of no form, deep values', async () => {
    const deep = `${'['.repeat(300)}${']'.repeat(300)}`;
    const lines = [
      ...callLines(1, { n: 1 }, said('found')),
      ...callLines(2, { n: 2 }, { result: 'no object' }),
      { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: '__proto__', arguments: {} } },
      { jsonrpc: '2.0', id: 7, result: { content: [] } },
    ];
    const file = writeLog(lines);
    writeFileSync(
      file,
      `\n{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"look","arguments":{"deep":${deep}}}}\n`,
      { flag: 'a' },
    );
    const served = await play(file);
    open.push(served);
    const client = await connectMcp(served);
    expect(await call(client, { n: 1 })).toBe('found');
    await expect(call(client, { n: 3 })).rejects.toThrow('nearest is');
    await expect(call(client, { n: 1 }, 'constructor')).rejects.toThrow('no tool');
  });
});

describe('serve --recording', () => {
  test('answers until Ctrl-C, and ends with 1 if a request was not recorded', async () => {
    const cli = new Cli(['serve', '--recording', fixture('mcp-stdio.jsonl'), '--port', '0', '--json']);
    const { mcp, token } = await vi.waitFor(() => JSON.parse(cli.stdout), { timeout: 60_000, interval: 50 });
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit }));
    expect(await call(client, { query: 'ferries' }, 'search_harbour')).toContain('14 berths');
    await expect(call(client, { query: 'x' }, 'search_harbour')).rejects.toThrow('not recorded');
    await client.close();
    cli.signal('SIGINT');
    const { code, stderr } = await cli.ended();
    expect(code).toBe(1);
    expect(stderr).toContain('1 request was recorded, 0 are the same by rule, 1 was not recorded');
  });

  test.each([
    [['--team', 'panel'], 'a recording answers without a team'],
    [['--model', 'x'], 'a recording answers without a team'],
    [['--a2a'], 'serve it with --mcp'],
  ])('is refused with %j', async (args, why) => {
    const { code, stderr } = await callCli(['serve', '--recording', fixture('mcp-stdio.jsonl'), ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
  });
});
