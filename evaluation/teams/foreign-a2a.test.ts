import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { A2aAgent } from '@gaia-mesh/stacks/a2a/agent/agent.ts';
import { serveBareHttp } from '@gaia-mesh/stacks/a2a/bare/http-server.ts';
import { type AgentCard, listInterfaces } from '@gaia-mesh/stacks/a2a/card.ts';
import { createSdkAgent, serveSdkHttp } from '@gaia-mesh/stacks/a2a/sdk/server.ts';
import { type AgentWork, createTextMessage, type TaskState } from '@gaia-mesh/stacks/a2a/work.ts';
import { listenHttp } from '@gaia-mesh/stacks/http/http-server.ts';
import { createSelfSigned } from '@gaia-mesh/stacks/self-signed.ts';
import { testSettings } from '@gaia-mesh/stacks/testing/settings.ts';
import type { ForeignPeer } from '@gaia-mesh/tools/foreign/foreign.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { connectA2a } from './foreign-peers.ts';

/** Agents of A2A by the official SDK and by hand, asked in each way that a result can come. */

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const card = (capabilities: AgentCard['capabilities']): AgentCard => ({
  name: 'clerk',
  description: 'Knows the files',
  version: '1',
  capabilities,
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [{ id: 's', name: 'look up', description: 'looks things up', tags: ['t'] }],
});

/** An agent that does what the message says. */
const work: AgentWork = async ({ message, taskId, contextId, signal }, emit) => {
  const text = message.parts.flatMap((part) => part.text ?? []).join('|');
  const end = (state: TaskState, said?: string) =>
    emit({
      kind: 'status',
      state,
      message: said === undefined ? undefined : createTextMessage(said, taskId, contextId),
    });
  if (text === 'message')
    return emit({ kind: 'message', message: createTextMessage('just so', taskId, contextId) });
  end('TASK_STATE_WORKING', 'on it');
  if (text === 'ask back') return end('TASK_STATE_INPUT_REQUIRED', 'Which file?');
  if (text === 'fail') return end('TASK_STATE_FAILED', 'the archive is closed');
  if (text === 'reject') return end('TASK_STATE_REJECTED', 'not my job');
  if (text === 'wait') await delay(60_000, undefined, { signal });
  await delay(150, undefined, { signal });
  const artifact = (parts: Parameters<typeof emit>[0] extends infer _ ? object[] : never, append = false) =>
    emit({
      kind: 'artifact',
      artifact: { artifactId: 'a', name: 'found', parts: parts as { text: string }[] },
      append,
      lastChunk: append,
    });
  artifact([{ text: `You said: ${text}` }]);
  artifact(
    [{ data: { pages: 3 } }, { url: 'https://example.com/x' }, { raw: 'AAEC', mediaType: 'application/x-y' }],
    true,
  );
  end('TASK_STATE_COMPLETED');
};

async function bare(own: AgentCard): Promise<string> {
  const http = await serveBareHttp(new A2aAgent(own, work), testSettings);
  ends.push(() => http.close());
  return http.url;
}

const sdk =
  (protocolBinding: 'JSONRPC' | 'HTTP+JSON') =>
  async (own: AgentCard): Promise<string> => {
    const agent = createSdkAgent(own, work);
    const http = await serveSdkHttp(agent, testSettings);
    agent.setInterfaces(listInterfaces(http.url, [protocolBinding]));
    ends.push(async () => {
      agent.close();
      await http.close();
    });
    return http.url;
  };

async function cardServer(body: object | string): Promise<string> {
  const server = await listenHttp((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }, testSettings);
  ends.push(() => server.close());
  return server.url;
}

async function connect(url: string, later?: 'stream' | 'poll' | 'push', more = {}): Promise<ForeignPeer> {
  const place = { url, maxMessageBytes: 1024 * 1024, later, ...more };
  const peer = await connectA2a(place, new AbortController().signal);
  ends.push(() => peer.close());
  return peer;
}

const options = (timeoutMs = 30_000) => ({ signal: new AbortController().signal, timeoutMs });
const all = { streaming: true, pushNotifications: true };

/** Each agent with ways of its own to hand over results, so that each way comes over JSON-RPC and over REST. */
describe.each([
  ['by the official SDK', sdk('JSONRPC'), ['stream', 'poll', 'push'], 'stream'],
  ['by the official SDK over REST', sdk('HTTP+JSON'), ['stream', 'poll'], 'poll'],
  ['by hand', bare, ['stream', 'push'], 'poll'],
] as const)('an agent of A2A %s', (_how, serve, ways, other) => {
  test.each(ways)('answers by %s, with nothing dropped in silence', async (later) => {
    const peer = await connect(await serve(card(all)), later);
    expect(peer.tools).toMatchObject([
      { name: 'ask', description: expect.stringContaining('looks things up') },
    ]);
    const reply = await peer.call('ask', { message: 'Hello', document: 'A note.' }, options());
    expect(reply).toMatchObject({ isError: false, images: [] });
    expect(reply.texts).toEqual([
      'You said: Hello|A note.',
      '{"pages":3}',
      '[link https://example.com/x, which is not fetched]',
      '[file  application/x-y, 3 bytes, which is left out]',
    ]);
    expect(reply.data).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      artifacts: [
        {
          artifact_id: 'a',
          parts: [{ text: 'You said: Hello|A note.' }, { data: { pages: 3 } }, {}, { bytes: 3 }],
        },
      ],
    });
  });

  test('ends otherwise: failed, rejected, asking back, a message alone', async () => {
    const peer = await connect(await serve(card(all)), other);
    const ask = (message: string) => peer.call('ask', { message }, options());
    expect(await ask('fail')).toMatchObject({
      isError: true,
      texts: ['clerk: TASK_STATE_FAILED', 'the archive is closed'],
    });
    expect(await ask('reject')).toMatchObject({
      isError: true,
      texts: ['clerk: TASK_STATE_REJECTED', 'not my job'],
    });
    expect(await ask('message')).toMatchObject({
      isError: false,
      texts: ['just so'],
      data: { state: 'MESSAGE' },
    });
    const back = await ask('ask back');
    expect(back).toMatchObject({ isError: false, data: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    expect(back.texts.join(' ')).toMatch(/asks back.* Which file\?/);
    const { task_id } = Object(back.data);
    const more = await peer.call('ask', { message: 'that one', task_id }, options());
    expect(more.texts[0]).toBe('You said: that one');
  });

  test('has its task cancelled by who gives it up', async () => {
    const peer = await connect(await serve(card(all)), 'poll');
    await expect(peer.call('ask', { message: 'wait' }, options(500))).rejects.toThrow(/given up/);
  });
});

test('an interface that leads elsewhere is not taken', async () => {
  const own = await bare(card(all));
  const rpc = { url: `${own}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
  await expect(connect(await cardServer({ ...card(all), supportedInterfaces: [rpc] }))).rejects.toThrow(
    'leads from',
  );
});

test('an agent behind TLS is asked by TLS', async () => {
  const identity = await createSelfSigned();
  if (identity === null) throw new Error('there is no openssl');
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...before, identity.cert]);
  ends.push(async () => tls.setDefaultCACertificates(before));
  const settings = { ...testSettings, tls: identity };
  const http = await serveBareHttp(new A2aAgent(card(all), work), settings);
  ends.push(() => http.close());
  const other = await connect(http.url);
  expect((await other.call('ask', { message: 'Hello' }, options())).texts[0]).toBe('You said: Hello');
});

describe('a hostile agent of A2A', () => {
  const jsonRpc = (url: string) => [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];

  test('leads neither the token nor the question to another host', async () => {
    const url = await cardServer({ name: 'x', supportedInterfaces: jsonRpc('http://127.0.0.2:1/rpc') });
    await expect(connect(url)).rejects.toThrow('leads from');
  });

  test('is refused for a card that is none, too large, or of a transport or version that we do not speak', async () => {
    await expect(connect(await cardServer('[]'))).rejects.toThrow('agent card');
    await expect(connect(await cardServer('x'.repeat(300_000)))).rejects.toThrow('at most');
    const old = [{ url: 'http://127.0.0.1:1/', protocolBinding: 'JSONRPC', protocolVersion: '0.1' }];
    await expect(connect(await cardServer({ name: 'x', supportedInterfaces: old }))).rejects.toThrow(
      'JSONRPC 0.1',
    );
    await expect(
      connect(await bare(card({ streaming: false, pushNotifications: false })), 'push'),
    ).rejects.toThrow('calls no webhooks');
  });

  test('is cut off at an answer that is too large', async () => {
    const peer = await connect(await bare(card(all)), 'stream', { maxMessageBytes: 200 });
    await expect(peer.call('ask', { message: 'Hello' }, options())).rejects.toThrow('at most 200 bytes');
  });
});
