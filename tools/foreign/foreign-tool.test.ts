import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { Usage } from '@gaia-mesh/core/contracts/usage.ts';
import type { Warning } from '@gaia-mesh/core/contracts/warning.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test, vi } from 'vitest';
import type { DataToolContext } from '../data-tool.ts';
import { toolContext } from '../fixtures/tool-surroundings.ts';
import { createA2aTool } from './a2a.ts';
import type { ForeignPeer, ForeignReply } from './foreign.ts';
import { createForeignTool } from './foreign-tool.ts';

const empty: ForeignReply = { texts: [], images: [], isError: false, lost: [] };
const PNG = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');

/** Creates a foreign tool whose peer replies with `reply`, and collects its warnings and usage. */
function useTool(reply: ForeignPeer['call'] = async () => empty, settings: JsonObject = {}) {
  const warnings: Warning[] = [];
  const usage: Usage[] = [];
  const close = vi.fn(async () => undefined);
  const call = vi.fn(reply);
  const tool = (name: string) => ({ name, description: `the tool ${name}`, inputSchema: { type: 'object' } });
  const peer: ForeignPeer = {
    name: 'peer',
    tools: [tool('read'), tool('write'), tool('list')],
    refused: ['bad: no schema'],
    call,
    close,
  };
  const connect = vi.fn(async () => peer);
  const abort = new AbortController();
  const context: DataToolContext = {
    workspace: temporaryFolder(),
    files: undefined,
    store: undefined,
    environment: {},
    options: {},
    taskId: 't',
    traceparent: 'trace',
    noteUsage: (one) => usage.push(one),
    warn: (one) => warnings.push(one),
    signal: abort.signal,
  };
  const own = { timeout_s: 2, budget_tokens: 4000, asks_models: true, ...settings };
  const { run, ...described } = createForeignTool({
    name: 'mcp',
    description: 'Hands on',
    settings: () => own,
    connect,
  });
  const ask = (input: Parameters<typeof run>[0], changes: Partial<DataToolContext> = {}) =>
    run(input, { ...context, ...changes });
  return { ask, described, warnings, usage, call, close, connect, abort, context };
}

/** Makes one call, to which the peer replies with `reply`. */
const hear = async (reply: Partial<ForeignReply>, changes: Partial<DataToolContext> = {}) => {
  const tool = useTool(async () => ({ ...empty, ...reply }));
  return { reply: await tool.ask({ tool: 'read', arguments: {} }, changes), ...tool };
};

describe('an offer', () => {
  const tools = (names: readonly string[]) =>
    names.map((name) => ({ name, description: `the tool ${name}`, parameters: { type: 'object' } }));

  test('has the tools of the peer, and warns of those that cannot be used', async () => {
    const { ask, warnings, usage, described } = useTool();
    expect(await ask({})).toEqual({
      text: '3 tools of peer',
      data: { tools: tools(['read', 'write', 'list']), deferred: [], refused: ['bad: no schema'] },
    });
    expect(warnings).toEqual([{ lost: 'tool', where: 'peer', why: 'bad: no schema' }]);
    expect(usage).toEqual([]);
    expect(described).toMatchObject({ name: 'mcp', description: 'Hands on' });
  });

  test('has those that the team names, and names those that are not there', async () => {
    const { ask } = useTool(undefined, { tools: ['write', 'missing'] });
    expect(await ask({})).toEqual({
      text: '1 tools of peer',
      data: {
        tools: tools(['write']),
        deferred: [],
        refused: ['bad: no schema', 'missing: there is no such tool'],
      },
    });
  });

  test('has whole tools while the budget lasts, then names, then neither', async () => {
    const { o200k } = await import('@gaia-mesh/core/tokens/o200k.ts');
    const whole = o200k.count(JSON.stringify(tools(['read'])[0]));
    const name = o200k.count('write') + 2;
    const offer = async (budget_tokens: number) => {
      const { data } = await useTool(undefined, { budget_tokens }).ask({});
      const { tools: offered, deferred, refused } = data as Record<string, JsonObject[]>;
      return { offered: offered?.length, deferred, refused: refused?.slice(1) };
    };
    const beyond = (budget: number, ...names: string[]) =>
      names.map((one) => `${one}: beyond the budget of ${budget} tokens`);
    expect(await offer(3 * whole)).toEqual({ offered: 3, deferred: [], refused: [] });
    expect(await offer(whole + name)).toEqual({
      offered: 1,
      deferred: ['write'],
      refused: beyond(whole + name, 'list'),
    });
    expect(await offer(whole + name - 1)).toEqual({
      offered: 1,
      deferred: [],
      refused: beyond(whole + name - 1, 'write', 'list'),
    });
    expect(await offer(whole)).toEqual({ offered: 1, deferred: [], refused: beyond(whole, 'write', 'list') });
  });
});

describe('a call', () => {
  test('is handed on with its arguments, time and trace context', async () => {
    const { ask, call, context, connect } = useTool(async () => ({ ...empty, texts: ['one', 'two'] }));
    expect(await ask({ tool: 'read', arguments: { a: 1 } })).toEqual({ text: 'one\ntwo' });
    expect(await ask({ tool: 'list', arguments: {} })).toEqual({ text: 'one\ntwo' });
    const options = { signal: context.signal, traceparent: 'trace', timeoutMs: 2000 };
    expect(call.mock.calls).toEqual([
      ['read', { a: 1 }, options],
      ['list', {}, options],
    ]);
    expect(connect).toHaveBeenCalledTimes(1);
  });

  test('without arguments says what the tool takes, and calls nothing', async () => {
    const { ask, call, usage } = useTool();
    const { text } = await ask({ tool: 'read' });
    expect(JSON.parse(text)).toEqual({
      name: 'read',
      description: 'the tool read',
      inputSchema: { type: 'object' },
    });
    expect([call.mock.calls, usage]).toEqual([[], []]);
  });

  test.each([
    ['that the peer has not', 'else', {}],
    ['that the team does not name', 'read', { tools: ['write'] }],
  ])('of a tool %s is refused', async (_what, tool, settings) => {
    const { ask, call } = useTool(undefined, settings);
    await expect(ask({ tool, arguments: {} })).rejects.toMatchObject({
      code: 'tool',
      message: `it has no tool ${tool} for this team`,
    });
    await expect(ask({ tool: 'x'.repeat(200), arguments: {} })).rejects.toThrow(`${'x'.repeat(128)} for`);
    expect(call).not.toHaveBeenCalled();
  });

  test('is of unknown usage, even if it fails, unless the user knows that it is none', async () => {
    const fail = () => Promise.reject(new MeshError('tool', 'no'));
    const { ask, usage } = useTool(fail);
    await expect(ask({ tool: 'read', arguments: {} })).rejects.toThrow('no');
    const unknown = { prompt_tokens: null, completion_tokens: null, cost_usd: null };
    expect(usage).toEqual([{ role: 'mcp', model: 'unknown, of peer', calls: 0, ...unknown }]);
    const free = useTool(undefined, { asks_models: false });
    await free.ask({ tool: 'read', arguments: {} });
    expect(free.usage).toEqual([]);
  });

  test('warns of each part that was lost', async () => {
    const { warnings } = await hear({ texts: ['a'], lost: ['content.1: is 7', 'content.2: is 8'] });
    expect(warnings).toEqual(
      ['content.1: is 7', 'content.2: is 8'].map((why) => ({ lost: 'part', where: 'peer, read', why })),
    );
  });

  test.each<[code: 'agent' | 'limit' | 'packet' | 'tool', isWarned: boolean, isClosed: boolean]>([
    ['agent', true, true],
    ['limit', true, false],
    ['packet', true, false],
    ['tool', false, false],
  ])('that fails with %s is warned of: %s, and ends the connection: %s', async (code, isWarned, isClosed) => {
    const { ask, warnings, close, connect } = useTool(() => Promise.reject(new MeshError(code, 'why')));
    await expect(ask({ tool: 'read', arguments: {} })).rejects.toMatchObject({ code, message: 'why' });
    expect(warnings).toEqual(isWarned ? [{ lost: 'reply', where: 'peer, read', why: 'why' }] : []);
    expect(close).toHaveBeenCalledTimes(isClosed ? 1 : 0);
    await ask({ tool: 'read' });
    expect(connect).toHaveBeenCalledTimes(isClosed ? 2 : 1);
  });

  test('that the end of the task cut off is not warned of, and another error neither', async () => {
    const ended = useTool(async () => {
      ended.abort.abort();
      throw new MeshError('agent', 'gone');
    });
    await expect(ended.ask({ tool: 'read', arguments: {} })).rejects.toThrow('gone');
    const broken = useTool(() => Promise.reject(new Error('a bug')));
    await expect(broken.ask({ tool: 'read', arguments: {} })).rejects.toThrow('a bug');
    expect([ended.warnings, broken.warnings, broken.close.mock.calls]).toEqual([[], [], []]);
  });
});

describe('a connection', () => {
  test('that breaks is made again three times, each after twice the time, and then no more', async () => {
    const { ask, connect, context } = useTool(() => Promise.reject(new MeshError('agent', 'gone')));
    const startMs = performance.now();
    for (let time = 0; time < 4; time++)
      await expect(ask({ tool: 'read', arguments: {} })).rejects.toThrow('gone');
    // After 100, 200 and 400 ms; a timer may be a millisecond early.
    expect(performance.now() - startMs).toBeGreaterThan(690);
    await expect(ask({ tool: 'read', arguments: {} })).rejects.toMatchObject({
      code: 'tool',
      message: 'the connection was lost 4 times, and is not made again',
    });
    expect(connect.mock.calls).toEqual(Array(4).fill([context]));
  });

  test('that fails is warned of with its reason, unless the task has ended or it is a bug', async () => {
    const { ask, connect, warnings, abort } = useTool();
    connect.mockRejectedValueOnce(new MeshError('config', 'no such program'));
    await expect(ask({})).rejects.toThrow('no such program');
    expect(warnings).toEqual([{ lost: 'server', where: 'mcp', why: 'no such program' }]);
    connect.mockRejectedValueOnce(new Error('a bug'));
    await expect(ask({})).rejects.toThrow('a bug');
    abort.abort();
    connect.mockRejectedValueOnce(new MeshError('config', 'too late'));
    await expect(ask({})).rejects.toThrow('too late');
    expect(warnings).toHaveLength(1);
  });
});

describe('a reply', () => {
  test('has the data, which are the text where there is none', async () => {
    const data = { id: { $number: '9007199254740993' } };
    expect((await hear({ texts: ['a'], data })).reply).toEqual({ text: 'a', data });
    expect((await hear({ texts: [' '], data })).reply).toEqual({ text: ' \n{"id":9007199254740993}', data });
    expect((await hear({ data: {} })).reply).toEqual({ text: '{}', data: {} });
    expect((await hear({})).reply).toEqual({ text: '' });
  });

  test('that is an error is one of the tool, with its first words', async () => {
    await expect(hear({ texts: ['no', 'way'], isError: true })).rejects.toMatchObject({
      code: 'tool',
      message: 'no\nway',
    });
    await expect(hear({ isError: true })).rejects.toThrow('the call failed without a message');
    await expect(hear({ texts: ['x'.repeat(5000)], isError: true })).rejects.toMatchObject({
      message: 'x'.repeat(4000),
    });
  });

  const nest = (depth: number): JsonValue => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  test('loses members that are nested too deeply, by name', async () => {
    const { reply, warnings } = await hear({
      texts: ['a'],
      data: { flat: 1, deep: nest(32), most: nest(31) },
    });
    const why = 'structured content is left out, as it is too large or nested too deeply: deep';
    expect(reply).toEqual({ text: `a\n[${why}]`, data: { flat: 1, most: nest(31) } });
    const both = await hear({ data: { deep: nest(32), deeper: nest(33) } });
    expect(both.warnings).toEqual([expect.objectContaining({ why: `${why}, deeper` })]);
    expect(warnings).toEqual([{ lost: 'part', where: 'structuredContent', why }]);
  });

  test('keeps the small members of data that are too large', async () => {
    const size = (bytes: number) => 'x'.repeat(bytes - '{"a":""}'.length);
    const KIB = 1024;
    const { reply } = await hear({
      texts: ['a'],
      data: { c: size(200 * KIB), a: size(100 * KIB), b: size(KIB) },
    });
    expect(Object.keys(reply.data ?? {})).toEqual(['a', 'b']);
    const all = { a: size(255 * KIB), b: size(KIB) };
    expect((await hear({ data: all })).reply.data).toEqual(all);
    expect(Object.keys((await hear({ data: { ...all, c: 1 } })).reply.data ?? {})).toEqual(['b', 'c']);
  });
});

describe('an image', () => {
  test('is kept in the workspace, readable by its owner alone, and described by the model of the agent', async () => {
    const chat = vi.fn(async () => ({ content: 'a boat' }));
    const model = { name: 'eyes', chat } as unknown as NonNullable<DataToolContext['model']>;
    const { reply, context } = await hear({ texts: ['here'], images: [PNG] }, { model });
    const folder = path.join(context.workspace, 'images');
    const [file = ''] = readdirSync(folder);
    expect(file).toMatch(/^[0-9a-f]{16}\.png$/);
    expect(readFileSync(path.join(folder, file))).toEqual(PNG);
    expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
    expect(reply.text).toBe(`here\n[image ${file}, ${PNG.length} bytes, as eyes sees it: a boat]`);
    const images = [{ mediaType: 'image/png', base64: PNG.toString('base64') }];
    expect(chat).toHaveBeenCalledExactlyOnceWith({
      messages: [{ role: 'user', content: expect.stringContaining('word for word'), images }],
    });
  });

  test('that no model describes is named', async () => {
    const kept = "kept in the agent's workspace; there is no model to describe it]";
    expect((await hear({ images: [PNG] })).reply.text).toMatch(
      new RegExp(`^\\[image \\w+\\.png, ${PNG.length} bytes: ${kept}$`),
    );
    const chat = vi.fn();
    const model = { name: 'eyes', chat };
    expect((await hear({ images: [Buffer.from('BMsize\0\0\0\0')] }, { model })).reply.text).toContain(kept);
    expect(chat).not.toHaveBeenCalled();
    chat.mockRejectedValueOnce(new MeshError('engine', 'too large'));
    expect((await hear({ images: [PNG] }, { model })).reply.text).toMatch(/ bytes: too large\]$/);
    chat.mockRejectedValueOnce(new Error('a bug'));
    await expect(hear({ images: [PNG] }, { model })).rejects.toThrow('a bug');
  });

  test('that is none by its first bytes is not written, and of more than eight only eight are', async () => {
    const { reply, context } = await hear({ images: [Buffer.from('text')] });
    expect(reply.text).toBe('[4 bytes that are not an image by their first bytes]');
    expect(readdirSync(context.workspace)).toEqual([]);
    const eight = Array.from({ length: 8 }, () => Buffer.from('text'));
    expect((await hear({ images: eight })).reply.text.split('\n')).toHaveLength(8);
    const lines = (await hear({ images: [...eight, PNG, PNG] })).reply.text.split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([9, '[2 more images are left out]']);
  });
});

describe('an A2A agent that answers a task', () => {
  async function answer(
    reply: Partial<ForeignReply> | Error,
    payload: JsonObject = { question: 'Who?' },
    options: JsonObject = { url: 'http://127.0.0.1:9' },
  ) {
    const call = vi.fn(async () => {
      if (reply instanceof Error) throw reply;
      return { ...empty, ...reply };
    });
    const tool = (name: string) => ({ name, description: 'Asks', inputSchema: { type: 'object' } });
    const peer: ForeignPeer = {
      name: 'p',
      tools: [tool('ask')],
      refused: [],
      call,
      close: async () => undefined,
    };
    const connectA2a = vi.fn(async () => peer);
    const { run, emits } = createA2aTool({ connectA2a });
    const idle = { name: 'idle', tokenSource: 'model' as const, perform: () => Promise.reject(new Error()) };
    const packet = { type: 'doc_init', from: 'hub', id: 'p1', task_id: 't', payload, token_used: 0, ts: 1 };
    const sent = run(packet as never, { ...toolContext(idle), options, workspace: temporaryFolder() });
    return { sent, call, connectA2a, emits };
  }
  const said = (answer: string, state = 'TASK_STATE_COMPLETED') => ({
    texts: ['all of it'],
    data: { state, answer },
  });

  test('is asked the question with its document, and gives the final answer', async () => {
    const { sent, call, emits } = await answer(said(' Paris \n'), { question: 'Who?', chunks: ['a', 'b'] });
    expect(await sent).toEqual([{ type: 'answer', payload: { answer: 'Paris' }, tag: 'final_answer' }]);
    expect(call.mock.calls[0]?.slice(0, 2)).toEqual(['ask', { message: 'Who?', document: 'ab' }]);
    expect(emits).toEqual(['a2a.result', 'answer']);
  });

  test.each([
    ['without a document is asked the question alone', { question: 'Who?', chunks: [] }],
    ['of a task that has none, too', { question: 'Who?' }],
  ])('%s', async (_what, payload) => {
    const { sent, call } = await answer(said('x'), payload);
    await sent;
    expect(call.mock.calls[0]?.slice(0, 2)).toEqual(['ask', { message: 'Who?' }]);
  });

  test.each([
    ['no words of its own', said('')],
    ['no data', { texts: ['all of it'] }],
  ])('with %s answers with all that it said', async (_what, reply) => {
    const [packet] = await (await answer(reply)).sent;
    expect(packet?.payload).toEqual({ answer: expect.stringContaining('all of it') });
  });

  test('that asks back, or fails, gives no answer but the reason', async () => {
    const back = await answer(said('x'.repeat(2000), 'TASK_STATE_INPUT_REQUIRED'));
    await expect(back.sent).rejects.toThrow(/^the agent asks back \(TASK_STATE_INPUT_REQUIRED\): x{1000}$/);
    const failed = await answer(new MeshError('agent', 'it is gone'));
    await expect(failed.sent).rejects.toMatchObject({
      code: 'agent',
      message: expect.stringContaining('it is gone'),
    });
  });

  test('gets the token of the variable that the team file names', async () => {
    const { sent, connectA2a } = await answer(said('x'));
    await sent;
    expect(connectA2a.mock.calls[0]).toMatchObject([{ url: 'http://127.0.0.1:9', token: undefined }, {}]);
    vi.stubEnv('FIELD_TOKEN', 'secret');
    const named = await answer(said('x'), undefined, { url: 'http://127.0.0.1:9', token: 'FIELD_TOKEN' });
    await named.sent;
    expect(named.connectA2a.mock.calls[0]).toMatchObject([{ token: 'secret' }, {}]);
    vi.unstubAllEnvs();
  });
});
