import { expect, it } from 'vitest';
import { Sampled } from './sampled.ts';

it('tells the first twenty of many like events, then one a second, and how many it left out', () => {
  const sampled = new Sampled();
  const told = Array.from({ length: 10_000 }, (_, ms) => sampled.next(ms)).filter(
    (untold) => untold !== undefined,
  );
  expect(told.slice(0, 20)).toEqual(Array(20).fill(0));
  expect(told.slice(20)).toEqual([999, 999, 999, 999, 999, 999, 999, 999, 999]);
});
