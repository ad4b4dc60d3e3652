import path from 'node:path';
import { formatRecording, parseRecording } from '@gaia-mesh/core/recording/recording.ts';
import { describe, expect, test } from 'vitest';
import { importTraffic } from '../import-traffic.ts';

const folder = path.join(import.meta.dirname, 'fixtures');

/** Imports a fixture; `said` has `from>to type` of each packet but the documents, in order. */
function imported(name: string) {
  const { recording, report } = importTraffic(path.join(folder, name), null);
  const said = recording.packets
    .filter(({ cause }) => cause !== null)
    .map(({ packet: { from, to, type } }) => `${from}>${to} ${type}`);
  return { recording, report, said };
}

const ALL = [
  ['openai-chat.jsonl', 'openai'],
  ['openai-responses.jsonl', 'openai'],
  ['anthropic-messages.jsonl', 'anthropic'],
  ['otlp-openinference.jsonl', 'otlp'],
  ['otlp-traceloop.jsonl', 'otlp'],
  ['mcp-stdio.jsonl', 'mcp'],
  ['a2a-jsonrpc.jsonl', 'a2a'],
] as const;

describe.each(ALL)('%s', (name, format) => {
  test(`is found to be ${format}, and its recording can be replayed`, () => {
    const { recording, report } = imported(name);

    expect(report.format).toBe(format);
    const text = formatRecording(recording).join('');
    expect(parseRecording(text, name).packets).toEqual(recording.packets);
    // The sender of a packet must have received its cause.
    const byId = new Map(recording.packets.map(({ packet }) => [packet.id, packet]));
    for (const { cause, packet } of recording.packets) {
      const caused = byId.get(cause ?? '');
      if (caused?.to !== undefined) expect(caused.to).toBe(packet.from);
    }
  });
});

describe('a log of a model API', () => {
  test('has a packet for each request, reply, and tool call between them', () => {
    const { said, report, recording } = imported('openai-chat.jsonl');

    const turn = [
      'client>gpt-4o-mini chat.completions',
      'gpt-4o-mini>client chat.completions.result',
      'client>tool:search_harbour tool.call',
      'tool:search_harbour>client tool.result',
      'client>gpt-4o-mini chat.completions',
      'gpt-4o-mini>client chat.completions.result',
    ];
    expect(said).toEqual([
      ...turn,
      'client>gpt-4o-mini chat.completions',
      'gpt-4o-mini>client chat.completions.result',
    ]);
    expect(report.tasks).toBe(2);
    expect(report.guessed.join()).toContain('senders of requests, called "client": 3');
    const call = recording.packets.find(({ packet }) => packet.type === 'tool.call');
    expect(call?.packet.payload).toEqual({ query: 'berths for fishing boats' });
    // The second request was streamed: its events are the reply.
    expect(recording.packets.at(-1)?.packet.payload.events).toHaveLength(3);
    expect(recording.packets.map(({ packet }) => packet.token_used).filter((tokens) => tokens > 0)).toEqual([
      80, 80,
    ]);
  });

  test.each(['openai-responses.jsonl', 'anthropic-messages.jsonl'])(
    '%s has its tool call, too',
    async (name) => {
      const { said } = imported(name);

      expect(said).toHaveLength(6);
      expect(said).toContain('client>tool:search_harbour tool.call');
    },
  );
});

describe('spans', () => {
  test.each(['otlp-openinference.jsonl', 'otlp-traceloop.jsonl'])(
    '%s: whose caller is the agent above',
    async (name) => {
      const { said, recording } = imported(name);

      expect(said).toEqual([
        'harbour-desk>desk agent.call',
        'desk>gpt-4o-mini model.call',
        'gpt-4o-mini>desk model.result',
        'desk>tool:search_harbour tool.call',
        'tool:search_harbour>desk tool.result',
        'desk>gpt-4o-mini model.call',
        'gpt-4o-mini>desk model.result',
        'desk>harbour-desk agent.result',
      ]);
      expect(JSON.stringify(recording.packets[5]?.packet.payload)).toContain('14 berths');
      expect(recording.packets[2]?.packet.payload.messages).toBeDefined();
    },
  );

  test('without contents are said to have none', () => {
    const { report } = imported('otlp-traceloop.jsonl');

    expect(report.dropped.join()).toContain('contents of messages whose spans have none, and no tokens: 2');
  });
});

test('MCP through a proxy has both names, calls and notifications in their order', () => {
  const { said, report } = imported('mcp-stdio.jsonl');

  expect(report.agents).toEqual(['harbour-desk', 'harbour-records']);
  expect(said.slice(0, 5)).toEqual([
    'harbour-desk>harbour-records initialize',
    'harbour-records>harbour-desk initialize.result',
    'harbour-desk>harbour-records notifications/initialized',
    'harbour-desk>harbour-records tools/list',
    'harbour-records>harbour-desk tools/list.result',
  ]);
  expect(said.filter((line) => line === 'harbour-records>harbour-desk notifications/message')).toHaveLength(
    2,
  );
  expect(said.filter((line) => line.endsWith('tools/call.result'))).toHaveLength(3);
});

test('A2A keeps a conversation together by its context', () => {
  const { said, recording } = imported('a2a-jsonrpc.jsonl');

  expect(said.slice(0, 2)).toEqual(['client>server SendMessage', 'server>client SendMessage.result']);
  expect(new Set(recording.packets.map(({ packet }) => packet.task_id))).toEqual(new Set(['harbour-1']));
});
