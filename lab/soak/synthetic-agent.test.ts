import { expect, test } from 'vitest';
import { PacketOrder } from './synthetic-agent.ts';

function orderOf(isLossy: boolean, packets: readonly string[]): { furthest: number; violations: string[] } {
  const violations: string[] = [];
  const order = new PacketOrder(isLossy, (message) => violations.push(message));
  for (const packet of packets) {
    const [from = '', id = ''] = packet.split(' ');
    order.saw(from, id);
  }
  return { furthest: order.furthest, violations };
}

test.each([
  ['one is missing', ['a s-1', 'a s-3'], 1],
  ['one comes twice', ['a s-1', 'a s-2', 'a s-2'], 1],
  ['two change places', ['a s-2', 'a s-1'], 1],
  ['nothing is wrong', ['a s-4', 'a s-5', 'a s-6'], 0],
  ['another session begins', ['a s-4', 'a t-1', 'a t-2'], 0],
  ['another sender comes between', ['a s-1', 'b s-7', 'a s-2', 'b s-8'], 0],
])('the order of packets is checked: %s', (_what, packets, violations) => {
  expect(orderOf(false, packets).violations).toHaveLength(violations);
  expect(orderOf(true, packets).violations).toHaveLength(0);
});

test.each([
  ['nobody was heard', [], 0],
  ['it counts from where a sender was first heard', ['a s-1000', 'a s-1001', 'a s-1002', 'b s-1'], 3],
  ['lost packets count', ['a s-1000', 'a s-1009'], 10],
  ['an ended session counts', ['a s-1', 'a s-5', 'a t-1'], 5],
])('how far the furthest has come: %s', (_what, packets, furthest) => {
  expect(orderOf(true, packets).furthest).toBe(furthest);
});
