import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DELIVERY_LIMITS } from '../../contracts/limits.ts';
import { quietLink } from '../../testing/quiet-link.ts';
import type { Message } from '../batch.ts';
import { ControlSender } from '../control-sender.ts';
import { Link } from '../link.ts';
import { AcknowledgedDelivery } from './acknowledged.ts';
import { DeliveryStrategy } from './delivery-strategy.ts';

const message = (id: string, bytes = 10, from = 'a'): Message => ({
  from,
  frame: Buffer.alloc(bytes),
  head: { type: 'note', from, id, task_id: 't', token_used: 0 },
});

/** Notes what it is to write, and writes nothing. */
class Written extends DeliveryStrategy {
  readonly isLossy = true;
  readonly ids: string[] = [];

  carry({ head }: Message): void {
    this.ids.push(head.id);
  }

  end(): void {
    // Nothing is held back.
  }
}

/** Returns the mailbox of an agent that has not come up yet. */
async function mailbox() {
  const written = new Written();
  const delivery = new AcknowledgedDelivery(written, () => true);
  const { link } = await quietLink('b');
  const control = new ControlSender(link.codec);
  return {
    delivery,
    control,
    link,
    note: (noted: Message) => delivery.carry(noted, link),
    open: (done: readonly string[] = []) => {
      const said = { subscribes: [], emits: [], done };
      delivery.admit(new Link(link.node, link.socket, link.openReader, said), control);
    },
    report: (done: readonly string[], inProgress: readonly string[] = []) =>
      delivery.acknowledge(link, { done, in_progress: inProgress }),
    take: () => written.ids.splice(0),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a mailbox', () => {
  test('keeps what comes before its agent is there, and then hands it out in order', async () => {
    const { note, open, take } = await mailbox();
    for (const id of ['1', '2', '3']) note(message(id));
    expect(take()).toEqual([]);
    open();
    expect(take()).toEqual(['1', '2', '3']);
    note(message('4'));
    expect(take()).toEqual(['4']);
  });

  test('hands out again, in order, what the agent that comes back is not done with', async () => {
    const { delivery, link, note, open, report, take } = await mailbox();
    open();
    for (const id of ['1', '2', '3', '4']) note(message(id));
    report(['2'], ['1']);
    delivery.lost(link);
    note(message('5'));
    take();
    open(['3', 'unheard of']);
    expect(take()).toEqual(['1', '4', '5']);
    report(['1', '4', '5']);
    expect(delivery.counters).toMatchObject({
      waiting: 0,
      noted: { packets: 5, bytes: 50 },
      acknowledged: { packets: 5, bytes: 50 },
      repeated: { packets: 2, bytes: 20 },
      unwritten: { packets: 0, bytes: 0 },
    });
  });

  test('puts no more on a connection than the agent works on', async () => {
    const { note, open, report, take } = await mailbox();
    open();
    for (let id = 0; id <= DELIVERY_LIMITS.window; id++) note(message(String(id)));
    expect(take()).toHaveLength(DELIVERY_LIMITS.window);
    report(['0']);
    expect(take()).toEqual([String(DELIVERY_LIMITS.window)]);
  });

  test('is full at its bound and one byte, so that senders wait until the agent is done with one', async () => {
    const { delivery, control, note, open, report } = await mailbox();
    const { link: sender } = await quietLink('a');
    open();
    delivery.admit(sender, control);
    const isTakenOver = () => {
      const before = sender.counts.ackTx;
      vi.advanceTimersByTime(DELIVERY_LIMITS.ackDelayMs);
      return sender.counts.ackTx > before;
    };
    const send = (sent: Message) => {
      delivery.receive(sender, sent.head);
      note(sent);
    };
    send(message('1', DELIVERY_LIMITS.mailboxBytes));
    expect(isTakenOver()).toBe(true);
    send(message('2', 1));
    expect(isTakenOver()).toBe(false);
    const before = sender.counts.ackTx;
    report(['2']);
    expect(sender.counts.ackTx).toBeGreaterThan(before);
  });

  test('writes again what nobody has heard of, later each time; not what the agent works on', async () => {
    const { note, open, report, take } = await mailbox();
    open();
    note(message('1'));
    note(message('2'));
    report([], ['1']);
    take();
    vi.advanceTimersByTime(DELIVERY_LIMITS.redeliverMs - 1);
    expect(take()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(take()).toEqual(['2']);
    vi.advanceTimersByTime(2 * DELIVERY_LIMITS.redeliverMs - 1);
    expect(take()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(take()).toEqual(['2']);
  });

  test('of an agent that does not come back has what it missed as undeliverable', async () => {
    const { delivery, link, note, open } = await mailbox();
    open();
    note(message('1'));
    delivery.lost(link);
    note(message('2'));
    delivery.abandon(link);
    note(message('3'));
    expect(delivery.counters).toMatchObject({
      waiting: 0,
      noted: { packets: 3 },
      undeliverable: { packets: 3 },
      unwritten: { packets: 2 },
    });
  });

  test('is not moved by a sender that takes the id of another’s packet', async () => {
    const { delivery, note, open, report, take } = await mailbox();
    open();
    note(message('1', 10, 'a'));
    note(message('1', 99, 'liar'));
    expect(take()).toEqual(['1']);
    report(['1']);
    expect(delivery.counters).toMatchObject({ acknowledged: { bytes: 10 }, undeliverable: { bytes: 99 } });
  });
});
