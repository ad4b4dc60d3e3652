import { describe, expect, test } from 'vitest';
import type { PacketHead } from '../../contracts/packet.ts';
import { answerText, TaskClock } from './task-clock.ts';

const head = (token_used: number): PacketHead => ({
  type: 'a',
  from: '0',
  id: '0-1',
  task_id: 't',
  token_used,
});

describe('the clock of a task', () => {
  test('begins with every counter at 0 (MP-40)', () => {
    expect(new TaskClock('t', 5).counts).toEqual({
      bytes_tx: 0,
      bytes_rx: 0,
      pkt_cnt: 0,
      token_sum: 0,
      init_bytes: 0,
    });
  });

  test('counts a packet once and its copies each', () => {
    const clock = new TaskClock('t', 1000);
    clock.count(head(7), 100, 3, 1010);
    clock.count(head(0), 50, 0, 1015);

    expect(clock.counts).toMatchObject({ pkt_cnt: 2, bytes_rx: 150, bytes_tx: 300, token_sum: 7 });
  });

  test('is stopped by the first ending; later ones change nothing (MP-43, MP-46, MP-47)', async () => {
    const clock = new TaskClock('t', 1000);
    clock.stop('answered', 'first', 1010.5);
    clock.stop('answered', 'second', 1020);
    clock.stop('failed', null, 1030, { reason: 'interrupted' });
    await clock.ended;

    expect(clock.outcome()).toMatchObject({ status: 'answered', answer: 'first', elapsedMs: 10.5 });
    expect(clock.outcome().reason).toBeUndefined();
  });
});

test.each([
  ['yes', 'yes'],
  ['', ''],
  [42, '42'],
  [0.1, '0.1'],
  [null, undefined],
  [true, undefined],
  [['x'], undefined],
  [undefined, undefined],
])('the answer %j is the text %j', (answer, text) => {
  expect(answerText(answer)).toBe(text);
});
