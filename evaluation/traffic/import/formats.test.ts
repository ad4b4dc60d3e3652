import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DECODED_VALUES } from '@gaia-mesh/core/contracts/limits.ts';
import { formatRecording, parseRecording } from '@gaia-mesh/core/recording/recording.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { importTraffic, trafficFormats } from '../import-traffic.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-import-'));

function written(content: string | Buffer): string {
  const file = path.join(folder, 'log');
  writeFileSync(file, content);
  return file;
}

const lines = (...values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join('\n');

/** Imports a file; undefined where it is refused with a reason. */
function importIfAny(file: string, format: string) {
  try {
    return importTraffic(file, format).recording;
  } catch (error) {
    if (error instanceof MeshError && error.code === 'config') return undefined;
    throw error;
  }
}

function imported(content: string | Buffer, format: Parameters<typeof importTraffic>[1] = null) {
  const { recording, report } = importTraffic(written(content), format);
  const packets = recording.packets.filter(({ cause }) => cause !== null).map(({ packet }) => packet);
  return { report, packets, said: packets.map(({ from, to, type }) => `${from}>${to} ${type}`) };
}

describe('JSON-RPC', () => {
  test('is found in what mcpsnoop keeps of a session, with its stray lines left out', () => {
    const at = (seconds: number, rest: object) => ({
      ...{
        session_id: 'srv-1',
        server_label: 'files',
        seq: seconds,
        ts: `2026-02-01T00:00:0${seconds}.123456Z`,
      },
      ...rest,
    });
    const log = lines(
      at(0, { direction: 'meta', transport: 'stdio', raw: { command: ['node', 'x.js'] } }),
      at(1, {
        direction: 'c2s',
        raw: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'read' } },
      }),
      at(2, { direction: 'stderr', text: 'warming up' }),
      at(3, { direction: 's2c', raw: { jsonrpc: '2.0', id: 9, method: 'roots/list' } }),
      at(4, { direction: 'c2s', raw: { jsonrpc: '2.0', id: 9, result: { roots: [] } } }),
      at(5, { direction: 's2c', raw: { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'no' } } }),
    );
    const { said, packets, report } = imported(log);

    expect(said).toEqual([
      'client>files tools/call',
      'files>client roots/list',
      'client>files roots/list.result',
      'files>client tools/call.error',
    ]);
    expect(packets.at(-1)).toMatchObject({ reply_to: 'client-1', payload: { error: { code: -32000 } } });
    expect(report.dropped.join()).toContain('lines without a message of JSON-RPC: 2 (line 1, line 3)');
  });

  test.each([
    ['sent and received', 'sent', 'received'],
    ['arrows', '→', '←'],
    ['what no one has thought of', 'up', 'down'],
  ])('learns what a log calls its directions: %s', async (_name, up, down) => {
    const log = lines(
      { dir: up, t: 1, message: '{"jsonrpc":"2.0","id":1,"method":"ping"}' },
      { dir: down, t: 2, message: '{"jsonrpc":"2.0","id":1,"result":{}}' },
      { dir: up, t: 3, message: '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' },
    );
    const { said } = imported(log);

    expect(said).toEqual(['client>server ping', 'server>client ping.result', 'client>server tools/list']);
  });

  test('takes no word for a direction that both sides have said', () => {
    const params = { messages: [] };
    const log = lines(
      { type: 'request', message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } } },
      { type: 'request', message: { jsonrpc: '2.0', id: 2, method: 'sampling/createMessage', params } },
      { type: 'response', message: { jsonrpc: '2.0', id: 2, result: {} } },
      { type: 'response', message: { jsonrpc: '2.0', id: 1, result: {} } },
    );
    expect(imported(log, 'mcp').said).toEqual([
      'client>server tools/call',
      'server>client sampling/createMessage',
      'client>server sampling/createMessage.result',
      'server>client tools/call.result',
    ]);
  });

  test('comes in batches, and in lines of request and response', () => {
    const request = {
      jsonrpc: '2.0',
      id: 'a',
      method: 'message/send',
      params: { message: { contextId: 'c' } },
    };
    const pair = {
      timestamp: 1_770_000_000,
      duration_ms: 250,
      response: { jsonrpc: '2.0', id: 'a', result: { id: 't' } },
      request,
    };
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 't' } },
      { jsonrpc: '2.0', method: 'notifications/cancelled' },
    ];
    const { said, packets, report } = imported(lines(pair, batch));

    expect(report.format).toBe('a2a');
    expect(said.slice(0, 2)).toEqual(['client>server message/send', 'server>client message/send.result']);
    expect(said).toHaveLength(4);
    expect(packets[1]?.ts).toBe(1_770_000_000_250);
  });
});

test('older GenAI spans have their messages in events, and sizes by tokens where they have no words', () => {
  const key = (name: string, value: object) => ({ key: name, value });
  const span = (id: string, attributes: object[], events: object[] = []) => ({
    ...{
      traceId: 'f0',
      spanId: id,
      name: 'chat',
      startTimeUnixNano: '1770000000000000000',
      endTimeUnixNano: 1_770_000_001e9,
    },
    attributes: [key('gen_ai.operation.name', { stringValue: 'chat' }), ...attributes],
    events,
  });
  const said = (name: string, text: string) => ({
    name,
    attributes: [key('content', { stringValue: text })],
  });
  const spans = [
    span('1', [], [said('gen_ai.user.message', 'How many?'), said('gen_ai.choice', 'Nine.')]),
    span('2', [
      key('gen_ai.usage.input_tokens', { intValue: '10' }),
      key('gen_ai.usage.output_tokens', { intValue: 2 }),
    ]),
  ];
  const { packets, report } = imported(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));

  expect(packets.map(({ payload }) => payload)).toEqual([
    { messages: [{ content: 'How many?' }] },
    { text: 'word'.repeat(10) },
    { messages: [{ content: 'Nine.' }] },
    { text: 'word'.repeat(2) },
  ]);
  expect(report.guessed.join()).toContain(
    'sizes of messages without contents, taken as 4 characters a token: 2 (chat, chat)',
  );
});

test('a conversation alone goes from one to the next', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'How many?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'x', function: { name: 'count', arguments: '{"of":"berths"}' } }],
    },
    { role: 'tool', tool_call_id: 'x', content: '9' },
    { role: 'assistant', content: 'Nine.' },
  ];
  const { said, report } = imported(lines({ messages }, { messages: messages.slice(0, 3) }));

  expect(report.tasks).toBe(2);
  expect(said.slice(0, 6)).toEqual([
    'user>assistant system',
    'user>assistant user',
    'assistant>user assistant',
    'assistant>tool:count tool.call',
    'tool:count>assistant tool.result',
    'assistant>user assistant',
  ]);
});

describe('a hostile or broken file', () => {
  const good = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  test('has what no packet can hold replaced and counted', () => {
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    const line = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"big":1e999,"half":"\\ud800","__proto__":{"x":1},"deep":${deep}}}`;
    const { packets, report } = imported(line);

    expect(packets[0]?.payload).toMatchObject({ half: '\ufffd' });
    expect(report.dropped.join()).toMatch(
      /Infinity is left out.*\(big\).*half a character.*__proto__.*nested deeper than 64/,
    );
  });

  test('may be gzipped, with a mark in front; one that unpacks to more than is allowed is refused', () => {
    expect(imported(gzipSync(`\ufeff${JSON.stringify(good)}`)).packets).toHaveLength(1);
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, 0x20));
    expect(() => imported(bomb)).toThrow(
      expect.objectContaining({ code: 'config', message: expect.stringContaining('at most') }),
    );
  });

  test('of no known kind is refused with the kinds that there are', () => {
    expect(() => imported('{"task_id":"q","question":"Who?"}')).toThrow(
      'its format was not recognized (it looks like a list of questions, which is no traffic)',
    );
    expect(() => imported('{"a":1}')).toThrow(/name it with import --as \(otlp: OpenTelemetry.*openai/);
    // Its lines hold replies of a messages API, which are no requests.
    const reply = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi' }] };
    const session = { type: 'assistant', sessionId: 's', message: reply };
    expect(() => imported(JSON.stringify(session))).toThrow('a session of a coding agent is not imported');
    expect(() => imported('hello')).toThrow('no line of it is JSON');
    expect(() => imported(JSON.stringify(good), 'otlp')).toThrow('no message of OpenTelemetry spans');
  });

  test('with more senders than there may be agents keeps as many, and says how many are left out', () => {
    const message = { jsonrpc: '2.0', method: 'mesh.books', params: 7 };
    const log = Array.from({ length: 1500 }, (_, index) => ({ from: `a${index}`, to: 'hub', message }));
    const { recording, report } = importTraffic(written(lines(...log)), 'mcp');
    const { header, packets } = recording;

    expect(header.agents).toHaveLength(1000);
    expect(packets[1]?.packet).toMatchObject({
      to: 'hub-2',
      type: 'imported.mesh.books',
      payload: { value: 7 },
    });
    expect(report.dropped).toContainEqual(expect.stringMatching(/^messages beyond .*: 501$/));
  });

  test('of any values gives a recording that can be replayed, or a reason, in every format', () => {
    const key = fc.constantFrom(
      ...[
        'jsonrpc',
        'id',
        'method',
        'params',
        'result',
        'from',
        'to',
        'dir',
        'messages',
        'role',
        'content',
        'model',
        'input',
      ],
      ...['tool_calls', 'request', 'response'],
      ...[
        'resourceSpans',
        'scopeSpans',
        'spans',
        'attributes',
        'key',
        'value',
        'startTimeUnixNano',
        'ts',
        'choices',
        'message',
      ],
    );
    const leaf = fc.oneof(
      fc.constantFrom(
        '2.0',
        'tools/list',
        'GetTask',
        'user',
        'assistant',
        'agent',
        'http://x/y',
        '1770000000',
        'chat',
      ),
      fc.jsonValue({ maxDepth: 1 }),
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 6 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(tree, { maxLength: 4 }),
        fc.constantFrom(...trafficFormats),
        (values, { name }) => {
          const recording = importIfAny(written(lines(...values)), name);
          if (recording === undefined) return;
          const read = parseRecording(formatRecording(recording).join(''), 'it');
          const byId = new Map(read.packets.map(({ packet }) => [packet.id, packet]));
          for (const { cause, packet } of read.packets) {
            const to = byId.get(cause ?? '')?.to;
            if (to !== undefined) expect(to).toBe(packet.from);
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe('a log of chats', () => {
  const user = { role: 'user', content: 'hello' };
  const assistant = { role: 'assistant', content: 'yes' };

  test.each([
    [{ prompt_tokens: 10, completion_tokens: 5 }, 15],
    [{ input_tokens: 10, output_tokens: 5 }, 15],
    [{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 17 }, 17],
    [{ prompt_tokens: 10 }, 10],
    [undefined, 0],
  ])('has the tokens of prompt and reply with the reply: %j', (usage, tokens) => {
    const response = { choices: [{ message: assistant }], usage };
    const { packets } = imported(lines({ request: { model: 'm', messages: [user] }, response }));
    expect(packets.map(({ token_used }) => token_used)).toEqual([0, tokens]);
  });

  test('has each message of the user answered once', () => {
    const { packets } = imported(
      lines({ model: 'm', messages: [user, assistant, assistant, user, assistant] }),
    );
    const place = (id: string | undefined) => packets.findIndex((packet) => packet.id === id);
    expect(packets.map(({ reply_to }) => place(reply_to))).toEqual([-1, 0, -1, -1, 3]);
  });
});

test('a log of more values than memory has room for is refused before they are made', () => {
  const file = `[${'0,'.repeat(MAX_DECODED_VALUES)}0]`;
  expect(() => imported(file, 'mcp')).toThrow(/split it into several files/);
});
