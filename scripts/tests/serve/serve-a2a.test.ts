import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Role, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { listenHttp, readBody } from '@gaia-mesh/stacks/http/http-server.ts';
import { testSettings } from '@gaia-mesh/stacks/testing/settings.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { endServe, post, type Served, startServe } from '../../testing/served.ts';
import { teamFile } from '../../testing/team-file.ts';

const waiter = path.join(codeFolder, 'scripts', 'testing', 'waiter-tool.ts');

const text = (value: string) => ({
  content: { $case: 'text' as const, value },
  filename: '',
  mediaType: '',
  metadata: undefined,
});

describe('a team that is served as an agent of A2A', () => {
  let served: Served;
  beforeAll(async () => {
    served = await startServe(['--team', teamFile({ final: 0, agents: [{ id: 0, tool: waiter }] })]);
  });
  afterAll(() => endServe(served));

  const authorized = () => ({ serviceParameters: { Authorization: `Bearer ${served.token}` } });

  async function client(): Promise<Client> {
    const cardResolver = new DefaultAgentCardResolver();
    const transports = [new JsonRpcTransportFactory()];
    return new ClientFactory({ transports, cardResolver }).createFromUrl(served.url);
  }

  function request(question: string) {
    const none = { contextId: '', taskId: '', metadata: undefined, extensions: [], referenceTaskIds: [] };
    const message = { messageId: randomUUID(), role: Role.ROLE_USER, parts: [text(question)], ...none };
    return { tenant: '', message, configuration: undefined, metadata: undefined };
  }

  test('streams the states, what it does and the answer to the official client', async () => {
    const states: TaskState[] = [];
    const said: string[] = [];
    const parts: unknown[] = [];
    for await (const { payload } of (await client()).sendMessageStream(request('Hi'), authorized())) {
      if (payload?.$case === 'task') states.push(payload.value.status?.state ?? TaskState.UNRECOGNIZED);
      if (payload?.$case === 'statusUpdate') {
        states.push(payload.value.status?.state ?? TaskState.UNRECOGNIZED);
        for (const { content } of payload.value.status?.message?.parts ?? [])
          said.push(String(content?.value));
      }
      if (payload?.$case === 'artifactUpdate') parts.push(...(payload.value.artifact?.parts ?? []));
    }

    expect([states[0], states.at(-1)]).toEqual([
      TaskState.TASK_STATE_SUBMITTED,
      TaskState.TASK_STATE_COMPLETED,
    ]);
    expect(said).toContain('agent 0 sent heard (packet 1)');
    expect(parts).toMatchObject([
      { content: { $case: 'text', value: 'You said: Hi' } },
      { content: { $case: 'data', value: { answer: 'You said: Hi', status: 'answered', packets: 2 } } },
    ]);
  });

  test('refuses who does not know the token', async () => {
    const own = await client();
    await expect(own.sendMessage(request('Hi'))).rejects.toThrow();
    const wrong = { serviceParameters: { Authorization: 'Bearer of something else' } };
    await expect(own.sendMessage(request('Hi'), wrong)).rejects.toThrow();
  });

  test('ends the work on a task that is cancelled, and fails one whose work failed', async () => {
    const own = await client();
    let id = '';
    for await (const { payload } of own.sendMessageStream(request('wait'), authorized())) {
      if (payload?.$case === 'task') {
        id = payload.value.id;
        await own.cancelTask({ tenant: '', id, metadata: undefined }, authorized());
      }
    }
    const cancelled = await own.getTask({ tenant: '', id }, authorized());
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await served.cli.says(/ask-\d+ failed .*interrupted/);

    const failed = await own.sendMessage(request('fail'), authorized());
    expect(failed).toMatchObject({
      status: {
        state: TaskState.TASK_STATE_FAILED,
        message: { parts: [{ content: { value: expect.stringContaining('it was asked to') } }] },
      },
    });
  });

  test('calls webhooks of this machine, and no others', async () => {
    const events: string[] = [];
    const webhook = await listenHttp((incoming, response) => {
      void readBody(incoming).then((body) => {
        events.push(body.toString());
        response.writeHead(204).end();
      });
    }, testSettings);
    const send = (url: string) =>
      post(
        `${served.url}/a2a/jsonrpc`,
        served.token,
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'SendMessage',
          params: {
            message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Push' }] },
            configuration: { taskPushNotificationConfig: { url } },
          },
        },
        { 'A2A-Version': '1.0' },
      );
    expect(await send('http://169.254.169.254/latest')).toMatchObject({
      json: { error: { code: -32602, message: 'this agent does not call 169.254.169.254' } },
    });
    await send(`${webhook.url}/here`);
    await vi.waitFor(() => expect(events.join('\n')).toContain('TASK_STATE_COMPLETED'), { timeout: 60_000 });
    await webhook.close();

    expect(events.join('\n')).toContain('You said: Push');
  });

  test('takes a document as a file or as data, fetches nothing, and says what it cannot take', async () => {
    const send = async (parts: readonly object[]) => {
      const message = { messageId: randomUUID(), role: 'ROLE_USER', parts };
      const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
      const { json } = await post(`${served.url}/a2a/jsonrpc`, served.token, body, { 'A2A-Version': '1.0' });
      return json;
    };
    const raw = Buffer.from('A note.').toString('base64');
    const completed = { result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } };
    expect(await send([{ text: 'Q' }, { raw, mediaType: 'text/plain' }])).toMatchObject(completed);
    expect(await send([{ data: { question: 'Q', document: 'A note.' } }])).toMatchObject(completed);
    const rejected = { result: { task: { status: { state: 'TASK_STATE_REJECTED' } } } };
    expect(await send([{ text: 'Q' }, { url: 'http://127.0.0.1/x' }])).toMatchObject(rejected);
    expect(await send([{ data: { question: 'Q', more: 1 } }])).toMatchObject(rejected);
    expect(await send([{ text: ' ' }])).toMatchObject(rejected);
    const picture = await send([{ text: 'Q' }, { raw, mediaType: 'image/png' }]);
    expect(picture).toMatchObject({ error: { code: -32005 } });
  });
});
