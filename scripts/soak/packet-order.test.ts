import { expect, test } from 'vitest';
import { PacketOrder } from './packet-order.ts';

function order(isLossy = false): { seen: PacketOrder; said: string[] } {
  const said: string[] = [];
  return { seen: new PacketOrder(isLossy, (message) => said.push(message)), said };
}

test.each([
  ['left out', ['s-1', 's-3'], 's-3'],
  ['twice', ['s-1', 's-1'], 's-1'],
  ['out of order', ['s-2', 's-1'], 's-1'],
])('a packet that is %s is a violation', (_, ids, wrong) => {
  const { seen, said } = order();
  for (const id of ids) seen.saw('a', id);
  expect(said).toEqual([expect.stringContaining(`packet ${wrong} of a came after`)]);
});

test('each sender has its own order, and begins anew with a session', () => {
  const { seen, said } = order();
  for (const [from, id] of [
    ['a', 's-1'],
    ['b', 's-7'],
    ['a', 's-2'],
    ['b', 's-8'],
    ['a', 't-1'],
    ['a', 't-2'],
  ] as const)
    seen.saw(from, id);
  expect(said).toEqual([]);
});

test('who has come furthest counts from where it was first heard, lost packets and an ended session included', () => {
  const { seen, said } = order(true);
  expect(seen.furthest).toBe(0);
  seen.saw('a', 's-1000');
  seen.saw('a', 's-1009');
  seen.saw('b', 's-3');
  expect(seen.furthest).toBe(10);
  seen.saw('a', 't-1');
  expect(seen.furthest).toBe(10);
  expect(said).toEqual([]);
});
