import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { importTraffic } from '../import-traffic.ts';

/** Files that other people's programs write. To add one, write a row. */
interface Case {
  readonly what: string;
  readonly file: string | Buffer;
  readonly format: string;
  /** `from>to type` of each packet, with `=` and its payload where that is of interest. */
  readonly said: readonly string[];
  /** Notes that the import must report, among others. */
  readonly notes?: readonly string[];
  readonly tasks?: number;
}

const lines = (...values: readonly (object | string)[]) =>
  values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n');
const call = (id: unknown, rest: object = {}) => ({ jsonrpc: '2.0', id, method: 'tools/call', ...rest });
const reply = (id: unknown, text: string) => ({ jsonrpc: '2.0', id, result: { text } });

const attribute = (key: string, value: string | number) => {
  return { key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } };
};
const toAttributes = (all: Readonly<Record<string, string | number>>) =>
  Object.entries(all).map(([key, value]) => attribute(key, value));
const span = (id: string, parent: string, ms: number, all: Readonly<Record<string, string | number>>) => ({
  traceId: 'f0',
  spanId: id,
  parentSpanId: parent,
  name: id,
  startTimeUnixNano: `179516880000${ms}000000`,
  endTimeUnixNano: `179516880000${ms}500000`,
  attributes: toAttributes(all),
});
const spans = (...all: readonly object[]) => ({
  resourceSpans: [
    { resource: { attributes: [attribute('service.name', 'shop')] }, scopeSpans: [{ spans: all }] },
  ],
});
const logs = (...logRecords: readonly object[]) => ({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
const chunk = (delta: object) => ({ object: 'chat.completion.chunk', choices: [{ index: 0, delta }] });
const asks = (...messages: readonly object[]) => ({ model: 'm', messages });
const user = { role: 'user', content: 'hello' };
const said = (content: string) => ({ choices: [{ message: { role: 'assistant', content } }] });

const cases: readonly Case[] = [
  {
    what: 'ids beyond 2^53 are two calls, each with its own reply',
    file: `{"jsonrpc":"2.0","id":9007199254740992,"method":"tools/call","params":{"a":2512292042121000001}}
{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}
{"jsonrpc":"2.0","id":9007199254740993,"result":{"text":"list"}}
{"jsonrpc":"2.0","id":9007199254740992,"result":{"text":"call"}}`,
    format: 'mcp',
    said: [
      'client>server tools/call={"a":"2512292042121000001"}',
      'client>server tools/list={}',
      'server>client tools/list.result={"text":"list"}',
      'server>client tools/call.result={"text":"call"}',
    ],
    notes: ['whole numbers beyond 2^53, which are texts now: 3 (2512292042121000001'],
  },
  {
    what: 'numbers in packed JSON are as exact',
    file: lines({ msg: '{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":-9007199254740993,"x":0.5}}' }),
    format: 'mcp',
    said: ['client>server m={"n":"-9007199254740993","x":0.5}'],
  },
  {
    what: 'a key that comes twice is named',
    file: '{"jsonrpc":"2.0","id":1,"method":"m","params":{"city":"Oslo","at":[{"city":1}],"\\u0063ity":"Bergen"}}',
    format: 'mcp',
    said: ['client>server m={"city":"Bergen","at":[{"city":1}]}'],
    notes: ['keys that come twice, of which the last values count: 1 (the file: city)'],
  },
  {
    what: 'UTF-16 is read by its mark',
    file: Buffer.from(`\ufeff${lines(call(1, { params: { city: 'Ørsta' } }), reply(1, 'regn'))}`, 'utf16le'),
    format: 'mcp',
    said: ['client>server tools/call={"city":"Ørsta"}', 'server>client tools/call.result={"text":"regn"}'],
  },
  {
    what: 'values may span lines, and a broken one costs only itself',
    file: `${JSON.stringify(call(1), null, 2)}\n{\n  "jsonrpc": "2.0",\n${JSON.stringify(reply(1, 'ok'), null, 2)}\n`,
    format: 'mcp',
    said: ['client>server tools/call={}', 'server>client tools/call.result={"text":"ok"}'],
    notes: ['lines that are not JSON: 2 (line 6, line 7)'],
  },
  {
    what: 'text lines hold messages, and servers keep their replies',
    file: lines(
      '2026-11-20T10:00:00.000Z [weather] [info] Initializing server...',
      `2026-11-20T10:00:00.100Z [weather] [info] Message from client: ${JSON.stringify(call(0))} { metadata: undefined }`,
      `2026-11-20T10:00:00.200Z [files] [info] Message from client: ${JSON.stringify(call(0))}`,
      `2026-11-20T10:00:00.300Z [files] [info] Message from server: ${JSON.stringify(reply(0, 'file'))}`,
      `2026-11-20T10:00:00.400Z [weather] [info] Message from server: ${JSON.stringify(reply(0, 'rain'))}`,
    ),
    format: 'mcp',
    said: [
      'client>weather tools/call={}',
      'client>files tools/call={}',
      'files>client tools/call.result={"text":"file"}',
      'weather>client tools/call.result={"text":"rain"}',
    ],
    notes: ['lines that are not JSON: 1 (line 1)'],
  },
  {
    what: 'sessions and clients with the same ids keep their replies',
    file: lines(
      { session: 'a', msg: call(1) },
      { session: 'b', msg: { ...call(1), method: 'tools/list' } },
      { session: 'a', msg: reply(1, 'a') },
      { session: 'b', msg: reply(1, 'b') },
      { from: 'x', to: 's', msg: call(2) },
      { from: 'y', to: 's', msg: { ...call(2), method: 'ping' } },
      { from: 's', to: 'x', msg: reply(2, 'x') },
      { from: 's', to: 'y', msg: reply(2, 'y') },
    ),
    format: 'mcp',
    said: [
      'client>server tools/call',
      'client>server tools/list',
      'server>client tools/call.result={"text":"a"}',
      'server>client tools/list.result={"text":"b"}',
      'x>s tools/call',
      'y>s ping',
      's>x tools/call.result={"text":"x"}',
      's>y ping.result={"text":"y"}',
    ],
    tasks: 3,
  },
  {
    what: 'a reply that may answer several requests answers none',
    file: lines({ session: 'a', msg: call(1) }, { session: 'b', msg: call(1) }, { msg: reply(1, '?') }),
    format: 'mcp',
    said: ['client>server tools/call', 'client>server tools/call', 'server>client response.result'],
    notes: ['tasks of responses whose requests are not in the file, or may be one of several: 1 (line 3)'],
  },
  {
    what: 'attributes of the AI SDK are contents',
    file: lines(
      spans(
        span('1', '', 1, {
          'ai.operationId': 'ai.generateText',
          'ai.telemetry.functionId': 'desk',
          'ai.prompt': '{"prompt":"weather?"}',
          'ai.response.text': 'rain',
        }),
        span('2', '1', 2, {
          'ai.operationId': 'ai.generateText.doGenerate',
          'ai.model.id': 'gpt-5',
          'ai.prompt.messages': '[{"role":"user"}]',
          'ai.response.toolCalls': '[{"toolName":"sky"}]',
        }),
        span('3', '1', 3, {
          'ai.operationId': 'ai.toolCall',
          'ai.toolCall.name': 'sky',
          'ai.toolCall.args': '{"city":"Oslo"}',
          'ai.toolCall.result': '"rain"',
        }),
      ),
    ),
    format: 'otlp',
    said: [
      'shop>desk agent.call={"prompt":{"prompt":"weather?"}}',
      'desk>shop agent.result={"text":"rain"}',
      'desk>gpt-5 model.call={"messages":[{"role":"user"}]}',
      'gpt-5>desk model.result={"toolCalls":[{"toolName":"sky"}]}',
      'desk>tool:sky tool.call={"city":"Oslo"}',
      'tool:sky>desk tool.result={"text":"\\"rain\\""}',
    ],
  },
  {
    what: 'contents in log records belong to their spans, or stand alone',
    file: lines(
      spans(span('1', '', 1, { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-5' })),
      logs(
        {
          traceId: 'f0',
          spanId: '1',
          eventName: 'gen_ai.client.inference.operation.details',
          attributes: toAttributes({ 'gen_ai.input.messages': '[1]', 'gen_ai.output.messages': '[2]' }),
        },
        { traceId: 'f0', spanId: '1', body: { stringValue: 'started' } },
        {
          timeUnixNano: '1795168800009000000',
          traceId: 'f1',
          spanId: '9',
          eventName: 'gen_ai.choice',
          body: { kvlistValue: { values: [attribute('content', 'Nine.')] } },
          attributes: toAttributes({ 'gen_ai.request.model': 'o9' }),
        },
      ),
    ),
    format: 'otlp',
    said: [
      'shop>gpt-5 model.call={"messages":[1]}',
      'gpt-5>shop model.result={"messages":[2]}',
      'service>o9 model.call={}',
      'o9>service model.result={"messages":[{"gen_ai.request.model":"o9","content":"Nine."}]}',
    ],
    notes: ['log records without contents of messages: 1', 'log records whose spans are not in the file'],
  },
  {
    what: 'a reply is a list of chunks, with its tool call',
    file: lines(
      {
        request: asks(user),
        response: [
          chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'sky', arguments: '{"city"' } }] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: ':"Oslo"}' } }] }),
        ],
      },
      {
        request: asks(user, { role: 'assistant' }, { role: 'tool', tool_call_id: 'c', content: 'rain' }),
        response: [`data: ${JSON.stringify(chunk({ content: 'It rains.' }))}`, 'data: [DONE]'],
      },
    ),
    format: 'openai',
    said: [
      'client>m chat',
      'm>client chat.result',
      'client>tool:sky tool.call={"city":"Oslo"}',
      'tool:sky>client tool.result={"content":"rain"}',
      'client>m chat',
      `m>client chat.result=${JSON.stringify({ events: [chunk({ content: 'It rains.' })] })}`,
    ],
  },
  {
    what: 'conversations with the same first words and ids of calls are two',
    file: lines(
      { request: asks(user), response: said('one') },
      { request: asks(user), response: said('two') },
      { request: asks(user, { role: 'assistant', content: 'one' }, user), response: said('three') },
    ),
    format: 'openai',
    said: Array.from({ length: 3 }, () => ['client>m chat', 'm>client chat.result']).flat(),
    notes: ['with the same first words of the user: 3'],
    tasks: 2,
  },
];

const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-cases-'));
afterAll(() => rmSync(folder, { recursive: true }));

test.each(cases)('$what', ({ file, format, said: expected, notes = [], tasks }) => {
  const log = path.join(folder, 'log');
  writeFileSync(log, file);
  const { recording, report } = importTraffic(log, null);
  const found = recording.packets
    .filter(({ cause }) => cause !== null)
    .map(({ packet: { from, to, type, payload } }, index) => {
      const hasPayload = expected[index]?.includes('=') ?? true;
      return `${from}>${to} ${type}${hasPayload ? `=${JSON.stringify(payload)}` : ''}`;
    });
  expect(found).toEqual(expected);
  expect(report.format).toBe(format);
  if (tasks !== undefined) expect(report.tasks).toBe(tasks);
  const told = [...report.guessed, ...report.dropped].join('\n');
  for (const note of notes) expect(told).toContain(note);
  // A reply that names its request goes to the sender of that request.
  const byId = new Map(recording.packets.map(({ packet }) => [packet.id, packet]));
  for (const { packet } of recording.packets) {
    const request = byId.get(packet.reply_to ?? '');
    if (request !== undefined) expect(request).toMatchObject({ from: packet.to, task_id: packet.task_id });
  }
});
