import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { Packet } from '../contracts/packet.ts';
import { type Received, Requests } from './requests.ts';

function reply(from: string, reply_to: string): Received {
  const packet: Packet = {
    type: 'r',
    from,
    id: `${from}-1`,
    reply_to,
    task_id: 't',
    token_used: 0,
    ts: 0,
    payload: {},
  };
  return { packet, receivedUs: 0, decodeUs: 0 };
}

test('a reply counts from the agent that was asked, and from no other', async () => {
  const requests = new Requests();
  const task = new AbortController();
  const asked = requests.reply('a-1', 'worker', { taskSignal: task.signal });

  expect(requests.settle(reply('other', 'a-1'))).toBe(false);
  expect(requests.settle(reply('worker', 'a-2'))).toBe(false);
  expect(requests.isWaiting).toBe(true);
  expect(requests.settle(reply('worker', 'a-1'))).toBe(true);

  expect((await asked).packet.from).toBe('worker');
  expect(requests.settle(reply('worker', 'a-1'))).toBe(false);
});

test('a request leaves nothing behind, however it ends: no listener, no timer, no entry', async () => {
  const requests = new Requests();
  const task = new AbortController();
  const own = new AbortController();
  const ask = (id: string, timeoutMs?: number) =>
    requests.reply(id, 'worker', {
      taskSignal: task.signal,
      signal: own.signal,
      timeoutMs,
    });
  const answered = ask('a-1');
  const late = ask('a-2', 1);
  requests.settle(reply('worker', 'a-1'));
  await answered;
  await expect(late).rejects.toThrow('worker did not reply within 0.001 s');
  const lost = ask('a-3');
  requests.partnerLost('worker');
  await expect(lost).rejects.toThrow('agent worker is gone');

  expect(requests.isWaiting).toBe(false);
  expect(getEventListeners(task.signal, 'abort')).toEqual([]);
  expect(getEventListeners(own.signal, 'abort')).toEqual([]);
});
