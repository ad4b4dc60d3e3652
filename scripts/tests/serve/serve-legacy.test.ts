import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Role, TaskState } from '@a2a-js/sdk';
import { LegacyJsonRpcTransport, parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';
import { serveEcho } from '@gaia-mesh/evaluation/serve/testing/echo-team.ts';
import { readBody } from '@gaia-mesh/stacks/http/http-server.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

/** Clients of A2A 0.3 ask a served team: the SDK's own, and requests as others write them. */

const CARD = '/.well-known/agent-card.json';

let serving: Awaited<ReturnType<typeof serveEcho>>;
let client: LegacyJsonRpcTransport;
beforeAll(async () => {
  serving = await serveEcho({ limits: { tasks: 4, waiting: 16, bytes: 2000 } });
  client = new LegacyJsonRpcTransport({ endpoint: `${serving.url}/a2a/jsonrpc` });
});
afterAll(() => serving.close());

const authorized = (token = serving.token) => ({ serviceParameters: { Authorization: `Bearer ${token}` } });

function request(question: string) {
  const content = { $case: 'text' as const, value: question };
  const parts = [{ content, filename: '', mediaType: '', metadata: undefined }];
  const none = { contextId: '', taskId: '', metadata: undefined, extensions: [], referenceTaskIds: [] };
  const message = { messageId: crypto.randomUUID(), role: Role.ROLE_USER, parts, ...none };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

/** Sends a request as a client of 0.3 writes it, which states no version. */
async function rpc(method: string, params: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${serving.url}/a2a/jsonrpc`, {
    method: 'POST',
    headers: { ...authorized().serviceParameters, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params }),
  });
  return { status: response.status, json: JSON.parse(await response.text()) };
}
const message = (...parts: readonly object[]) => ({ kind: 'message', messageId: 'm', role: 'user', parts });
const asText = (text: string) => ({ kind: 'text', text });

async function fetchCard(headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${serving.url}${CARD}`, { headers });
  expect(response.headers.get('vary')).toBe('A2A-Version');
  return JSON.parse(await response.text());
}

describe('a client of A2A 0.3', () => {
  test('finds in the card where and how it asks, beside what clients of 1.0 read', async () => {
    const url = `${serving.url}/a2a/jsonrpc`;
    const card = await fetchCard();
    expect(card).toMatchObject({
      url,
      preferredTransport: 'JSONRPC',
      protocolVersion: '0.3.0',
      additionalInterfaces: [{ url, transport: 'JSONRPC' }],
      securitySchemes: {
        bearer: { type: 'http', scheme: 'Bearer', httpAuthSecurityScheme: { scheme: 'Bearer' } },
      },
      security: [{ bearer: [] }],
    });
    expect(card.supportedInterfaces[0]).toEqual({ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' });
    const { supportedInterfaces: _, ...legacy } = card;
    expect(parseLegacyAgentCard(legacy).supportedInterfaces[0]).toMatchObject({
      url,
      protocolVersion: '0.3.0',
    });
  });

  test('leaves no trace in the card for a client that states 1.0', async () => {
    const card = await fetchCard({ 'A2A-Version': '1.0' });
    expect(Object.keys(card).sort()).toEqual([
      'capabilities',
      'defaultInputModes',
      'defaultOutputModes',
      'description',
      'name',
      'securityRequirements',
      'securitySchemes',
      'skills',
      'supportedInterfaces',
      'version',
    ]);
    expect(card.securitySchemes).toEqual({ bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } });
  });

  test('of the SDK gets the answer', async () => {
    expect(await client.sendMessage(request('Hi'), authorized())).toMatchObject({
      status: { state: TaskState.TASK_STATE_COMPLETED },
      artifacts: [
        {
          parts: [
            { content: { $case: 'text', value: 'You said: Hi' } },
            { content: { $case: 'data', value: { answer: 'You said: Hi' } } },
          ],
        },
      ],
    });
  });

  test('of the SDK follows the work in a stream, and can ask for the task and cancel it', async () => {
    const kinds: (string | undefined)[] = [];
    let id = '';
    for await (const { payload } of client.sendMessageStream(request('wait'), authorized())) {
      kinds.push(payload?.$case);
      if (payload?.$case !== 'task') continue;
      ({ id } = payload.value);
      const working = await client.getTask({ tenant: '', id, historyLength: undefined }, authorized());
      expect(working).toMatchObject({ id, history: [{ role: Role.ROLE_USER }] });
      await client.cancelTask({ tenant: '', id, metadata: undefined }, authorized());
    }
    expect(kinds[0]).toBe('task');
    expect(kinds.slice(1)).toContain('statusUpdate');
    const over = await client.getTask({ tenant: '', id, historyLength: undefined }, authorized());
    expect(over.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(client.cancelTask({ tenant: '', id, metadata: undefined }, authorized())).rejects.toThrow(
      /is over/,
    );
  });

  test('without the token, or with another one, is refused', async () => {
    await expect(client.sendMessage(request('Hi'))).rejects.toThrow('401');
    await expect(client.sendMessage(request('Hi'), authorized('another'))).rejects.toThrow('401');
    expect((await rpc('message/send', {}, { Authorization: 'Bearer x' })).status).toBe(401);
  });

  test('reads answers and errors in its own forms', async () => {
    const { json } = await rpc('message/send', { message: message(asText('Hi')) });
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: 'a',
      result: {
        kind: 'task',
        id: expect.any(String),
        contextId: expect.any(String),
        status: { state: 'completed', timestamp: expect.any(String) },
        artifacts: [
          {
            artifactId: expect.any(String),
            name: 'answer',
            parts: [
              { kind: 'text', text: 'You said: Hi' },
              { kind: 'data', data: expect.objectContaining({ status: 'answered' }) },
            ],
          },
        ],
        history: [
          {
            kind: 'message',
            messageId: 'm',
            role: 'user',
            parts: [{ kind: 'text', text: 'Hi' }],
            contextId: json.result.contextId,
            taskId: json.result.id,
          },
        ],
      },
    });
    expect((await rpc('tasks/get', { id: json.result.id, historyLength: 0 })).json.result).toEqual({
      ...json.result,
      history: undefined,
    });
    const code = async (method: string, params: object) => (await rpc(method, params)).json.error.code;
    expect(await code('tasks/get', { id: 'none' })).toBe(-32001);
    expect(await code('tasks/cancel', { id: json.result.id })).toBe(-32002);
    expect(await code('message/send', { message: { ...message(asText('Hi')), parts: [] } })).toBe(-32602);
    expect(await code('message/send', [])).toBe(-32602);
    expect(await code('tasks/list', {})).toBe(-32009);
    expect((await rpc('message/send', {}, { 'A2A-Version': '1.0' })).json.error.code).toBe(-32601);
  });

  test('attaches a document as a file, and hears of parts that are not taken', async () => {
    const file = { bytes: Buffer.from('A note.').toString('base64'), mimeType: 'text/plain', name: 'a.txt' };
    const send = async (part: object) =>
      (await rpc('message/send', { message: message(asText('Q'), part) })).json;
    expect(await send({ kind: 'file', file })).toMatchObject({
      result: { status: { state: 'completed' }, history: [{ parts: [asText('Q'), { kind: 'file', file }] }] },
    });
    expect(await send({ kind: 'data', data: { document: 'A note.' } })).toMatchObject({
      result: { status: { state: 'completed' } },
    });
    expect(await send({ kind: 'file', file: { uri: 'http://127.0.0.1/x' } })).toMatchObject({
      result: { status: { state: 'rejected', message: { kind: 'message', role: 'agent' } } },
    });
    expect(await send({ kind: 'file', file: { ...file, mimeType: 'image/png' } })).toMatchObject({
      error: { code: -32005 },
    });
  });

  test('need not wait for the answer, and follows the task later', async () => {
    const params = { message: message(asText('wait')), configuration: { blocking: false } };
    const { id, status } = (await rpc('message/send', params)).json.result;
    expect(status.state).toMatch(/^(?:submitted|working)$/);
    const events = client.resubscribeTask({ tenant: '', id }, authorized());
    expect((await events.next()).value).toMatchObject({ payload: { $case: 'task', value: { id } } });
    await rpc('tasks/cancel', { id });
    expect((await events.next()).value).toMatchObject({
      payload: { $case: 'statusUpdate', value: { status: { state: TaskState.TASK_STATE_CANCELED } } },
    });
  });

  test('names webhooks, which get events in its own forms', async () => {
    const got: unknown[] = [];
    const webhook = createServer((incoming, response) => {
      void readBody(incoming).then((body) => {
        got.push(JSON.parse(body.toString()));
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(webhook, 'listening');
    onTestFinished(() => void webhook.close());
    const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/here`;
    const params = { message: message(asText('wait')), configuration: { blocking: false } };
    const { id } = (await rpc('message/send', params)).json.result;
    const set = { taskId: id, pushNotificationConfig: { url, authentication: { schemes: ['Bearer'] } } };
    const own = { taskId: id, pushNotificationConfig: { ...set.pushNotificationConfig, id } };
    expect((await rpc('tasks/pushNotificationConfig/set', set)).json.result).toEqual(own);
    expect((await rpc('tasks/pushNotificationConfig/get', { id })).json.result).toEqual(own);
    expect((await rpc('tasks/pushNotificationConfig/list', { id })).json.result).toEqual([own]);
    await rpc('tasks/cancel', { id });
    const event = { kind: 'status-update', taskId: id, final: true, status: { state: 'canceled' } };
    await expect.poll(() => got).toMatchObject([event]);
    const which = { id, pushNotificationConfigId: id };
    expect((await rpc('tasks/pushNotificationConfig/delete', which)).json.result).toBeNull();
    expect((await rpc('tasks/pushNotificationConfig/list', { id })).json.result).toEqual([]);
  });

  test('of its REST is shown to the card', async () => {
    const headers = { ...authorized().serviceParameters, 'Content-Type': 'application/json' };
    const response = await fetch(`${serving.url}/v1/message:send`, { method: 'POST', headers, body: '{}' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: expect.stringContaining('/.well-known/agent-card.json'),
    });
  });
});
