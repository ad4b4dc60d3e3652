import { describe, expect, test } from 'vitest';
import { DELIVERY_LIMITS } from '../../contracts/limits.ts';
import { quietLink } from '../../testing/quiet-link.ts';
import type { Message } from '../batch.ts';
import { Mailbox } from './acknowledged.ts';

const message = (id: string, bytes = 10, from = 'a'): Message => ({
  from,
  frame: Buffer.alloc(bytes),
  head: { type: 'note', from, id, task_id: 't', token_used: 0 },
});

async function mailbox() {
  const written: string[] = [];
  const { link } = await quietLink('b');
  const box = new Mailbox(link, ({ head }) => written.push(head.id));
  return { box, link, written, take: () => written.splice(0) };
}

describe('a mailbox', () => {
  test('keeps what comes before its agent is there, and then hands it out in order', async () => {
    const { box, link, take } = await mailbox();
    for (const id of ['1', '2', '3']) box.note(message(id));
    expect(take()).toEqual([]);
    box.open(link, []);
    expect(take()).toEqual(['1', '2', '3']);
    box.note(message('4'));
    expect(take()).toEqual(['4']);
  });

  test('hands out again, in order, what the agent that comes back is not done with', async () => {
    const { box, link, take } = await mailbox();
    box.open(link, []);
    for (const id of ['1', '2', '3', '4']) box.note(message(id));
    box.acknowledge({ done: ['2'], inProgress: ['1'] });
    box.close();
    box.note(message('5'));
    take();
    box.open(link, ['3', 'unheard of']);
    expect(take()).toEqual(['1', '4', '5']);
    box.acknowledge({ done: ['1', '4', '5'], inProgress: [] });
    expect(box.size).toBe(0);
    expect(box.counters).toMatchObject({
      noted: { packets: 5, bytes: 50 },
      acknowledged: { packets: 5, bytes: 50 },
      repeated: { packets: 2, bytes: 20 },
      unwritten: { packets: 0, bytes: 0 },
    });
  });

  test('puts no more on a connection than the agent works on', async () => {
    const { box, link, take } = await mailbox();
    box.open(link, []);
    for (let id = 0; id <= DELIVERY_LIMITS.window; id++) box.note(message(String(id)));
    expect(take()).toHaveLength(DELIVERY_LIMITS.window);
    box.acknowledge({ done: ['0'], inProgress: [] });
    expect(take()).toEqual([String(DELIVERY_LIMITS.window)]);
  });

  test('is full at its bound and one byte, and no longer when the agent is done with one', async () => {
    const { box, link } = await mailbox();
    box.open(link, []);
    box.note(message('1', DELIVERY_LIMITS.mailboxBytes));
    expect(box.isFull).toBe(false);
    box.note(message('2', 1));
    expect(box.isFull).toBe(true);
    box.acknowledge({ done: ['2'], inProgress: [] });
    expect(box.isFull).toBe(false);
  });

  test('writes again what nobody has heard of, later each time; not what the agent works on', async () => {
    const { box, link, take } = await mailbox();
    box.open(link, []);
    box.note(message('1'));
    box.note(message('2'));
    box.acknowledge({ done: [], inProgress: ['1'] });
    take();
    const nowMs = performance.now();
    box.repeatLost(nowMs + DELIVERY_LIMITS.redeliverMs - 100);
    expect(take()).toEqual([]);
    box.repeatLost(nowMs + DELIVERY_LIMITS.redeliverMs + 100);
    expect(take()).toEqual(['2']);
    box.repeatLost(nowMs + DELIVERY_LIMITS.redeliverMs + 100);
    expect(take()).toEqual([]);
    box.repeatLost(performance.now() + 2 * DELIVERY_LIMITS.redeliverMs + 100);
    expect(take()).toEqual(['2']);
  });

  test('of an agent that does not come back has what it missed as undeliverable', async () => {
    const { box, link } = await mailbox();
    box.open(link, []);
    box.note(message('1'));
    box.close();
    box.note(message('2'));
    box.abandon();
    box.note(message('3'));
    expect(box.counters).toMatchObject({
      noted: { packets: 3 },
      undeliverable: { packets: 3 },
      unwritten: { packets: 2 },
    });
    expect([box.size, box.bytes]).toEqual([0, 0]);
  });

  test('is not moved by a sender that takes the id of another’s packet', async () => {
    const { box, link, take } = await mailbox();
    box.open(link, []);
    box.note(message('1', 10, 'a'));
    box.note(message('1', 99, 'liar'));
    expect(take()).toEqual(['1']);
    box.acknowledge({ done: ['1'], inProgress: [] });
    expect(box.counters).toMatchObject({ acknowledged: { bytes: 10 }, undeliverable: { bytes: 99 } });
  });
});
