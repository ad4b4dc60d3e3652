import { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { describe, expect, test, vi } from 'vitest';
import { listenHttp, readBody, readPath } from '../../http/http-server.ts';
import { testSettings } from '../../testing/settings.ts';
import { EventQueue } from '../event-queue.ts';
import type { A2aMessage } from '../model.ts';
import { meshCard } from '../packets.ts';
import type { AgentWork } from '../work.ts';
import { A2aAgent } from './agent.ts';
import { AgentTask, TaskStore } from './task.ts';

const message: A2aMessage = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
const isWorking: AgentWork = async ({ signal }, emit) => {
  emit({ kind: 'status', state: 'TASK_STATE_WORKING' });
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
};
const isDone: AgentWork = async (_request, emit) => {
  emit({ kind: 'status', state: 'TASK_STATE_WORKING' });
  emit({ kind: 'status', state: 'TASK_STATE_COMPLETED' });
};

/** Starts a task, which enters the store. */
function start(id: string, store: TaskStore, work: AgentWork, kept?: KeptBytes): AgentTask {
  const task = new AgentTask(id, 'c', (one) => store.add(one), kept?.hold());
  task.run(message, work);
  return task;
}

const isKept = (store: TaskStore, id: string) => {
  try {
    return store.get(id).id === id;
  } catch {
    return false;
  }
};

describe('a store of tasks', () => {
  test('lets the oldest finished task go for a new one, and a running one if none is finished', () => {
    const store = new TaskStore(3);
    start('running', store, isWorking);
    start('old', store, isDone);
    start('young', store, isDone);
    start('next', store, isWorking);
    expect(['running', 'old', 'young', 'next'].map((id) => isKept(store, id))).toEqual([
      true,
      false,
      true,
      true,
    ]);
    start('more', store, isWorking);
    start('most', store, isWorking);
    expect(['running', 'young', 'next', 'more', 'most'].map((id) => isKept(store, id))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
    store.close();
  });

  test('makes room in its budget of bytes by finished tasks alone', () => {
    const kept = new KeptBytes(1000);
    const store = new TaskStore(10, kept);
    const [running, done] = [start('running', store, isWorking, kept), start('done', store, isDone, kept)];
    for (const task of [running, done]) task.hold('x'.repeat(100));
    const before = kept.kept;
    expect(kept.take(1000 - before + 1)).toBe(true);
    expect([isKept(store, 'running'), isKept(store, 'done')]).toEqual([true, false]);
    expect(kept.take(1000)).toBe(false);
    expect(isKept(store, 'running')).toBe(true);
    store.close();
  });

  test.each([1, 2, 3, 7, 50])('lists each task once, page by page of %i', (pageSize) => {
    const store = new TaskStore();
    for (let n = 0; n < 7; n++) start(`t${n}`, store, n % 2 === 0 ? isDone : isWorking);
    const found: string[] = [];
    let pageToken = '';
    do {
      const page = store.list({ pageSize, pageToken }) as {
        tasks: { id: string }[];
        nextPageToken: string;
        totalSize: number;
      };
      expect(page.totalSize).toBe(7);
      expect(page.tasks.length).toBeLessThanOrEqual(pageSize);
      found.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(found.sort()).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6']);
    store.close();
  });
});

describe('webhooks of a task', () => {
  const url = 'http://127.0.0.1:1/';
  const startTask = async (agent: A2aAgent) => {
    const configuration = { returnImmediately: true };
    const { task } = Object(await agent.call('SendMessage', { message, configuration }));
    return String(task.id);
  };
  const add = (agent: A2aAgent, config: object) => agent.call('CreateTaskPushNotificationConfig', config);

  test('get its events in order, each of them, whatever becomes of the others, and hold no memory afterwards', async () => {
    const kept = new KeptBytes(100_000);
    const sent: string[] = [];
    const receiver = await listenHttp(async (request, response) => {
      const id = readPath(request).slice(1);
      const event = JSON.parse((await readBody(request)).toString());
      if (id !== 'broken') sent.push(`${id} ${event.statusUpdate?.status.state ?? 'task'}`);
      response.writeHead(id === 'broken' ? 500 : 204).end();
    }, testSettings);
    const { promise: ready, resolve: go } = Promise.withResolvers<void>();
    const work: AgentWork = async (_request, emit) => {
      emit({ kind: 'status', state: 'TASK_STATE_WORKING' });
      await ready;
      emit({ kind: 'status', state: 'TASK_STATE_COMPLETED' });
    };
    const agent = new A2aAgent(meshCard, work, { kept });
    const taskId = await startTask(agent);
    for (const id of ['broken', 'whole']) await add(agent, { id, taskId, url: `${receiver.url}/${id}` });
    go();
    await vi.waitFor(() => expect(sent).toEqual(['whole TASK_STATE_COMPLETED']));
    agent.close();
    await vi.waitFor(() => expect(kept.kept).toBe(0));
    await receiver.close();
  });

  test('are bounded, show no secret, and are only those that the policy allows', async () => {
    const agent = new A2aAgent(meshCard, isDone, {
      mayPush: ({ port }) => port === '1',
    });
    const taskId = await startTask(agent);
    const authentication = { scheme: 'Bearer', credentials: 'a-secret' };
    const given = { taskId, url, token: 'a-secret', authentication };
    for (let n = 0; n < 16; n++)
      expect(JSON.stringify(await add(agent, { ...given, id: `${n}` }))).not.toContain('a-secret');
    await expect(add(agent, { ...given, id: '16' })).rejects.toThrow('has 16 webhooks already');
    // One that is there may be changed.
    await add(agent, { ...given, id: '15' });
    const listed = await agent.call('ListTaskPushNotificationConfigs', { taskId });
    const one = { taskId, id: '3' };
    const shown = [listed, await agent.call('GetTaskPushNotificationConfig', one)];
    expect(JSON.stringify(shown)).not.toContain('a-secret');
    await agent.call('DeleteTaskPushNotificationConfig', one);
    await expect(agent.call('GetTaskPushNotificationConfig', one)).rejects.toThrow('no webhook 3');
    await expect(add(agent, { ...given, url: 'http://127.0.0.1:2/' })).rejects.toThrow('does not call');
    agent.close();
  });
});

describe('events that wait for a reader', () => {
  test.each([
    ['in number', 10_001, 0],
    ['in bytes', 3, 600_000],
  ])('are bounded %s: who is too slow is told', async (_what, count, bytes) => {
    const onEnd = vi.fn();
    const events = new EventQueue<number>(onEnd);
    for (let n = 0; n < count; n++) events.push(n, bytes);
    const read = async () => {
      let last = -1;
      for await (const event of events) last = event;
      return last;
    };
    await expect(read()).rejects.toMatchObject({ code: 'limit' });
    expect(onEnd).toHaveBeenCalledOnce();
  });

  test('are all read within the bound, and who goes away is noticed', async () => {
    const onEnd = vi.fn();
    const events = new EventQueue<number>(onEnd);
    for (let n = 0; n < 3; n++) events.push(n, 1000);
    const read: number[] = [];
    for await (const event of events) {
      read.push(event);
      if (event === 2) break;
    }
    expect(read).toEqual([0, 1, 2]);
    expect(onEnd).toHaveBeenCalledOnce();
  });
});
