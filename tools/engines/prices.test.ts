import { expect, test } from 'vitest';
import { costUsd, FREE, presetPrice } from './prices.ts';

test.each(['gpt-4o', 'gpt-4o-2024-08-06', 'claude-haiku-4-5', 'claude-haiku-4-5-20251001'])(
  '%s has a price',
  (model) => {
    expect(presetPrice(model)).toMatchObject({ prompt: expect.any(Number), completion: expect.any(Number) });
  },
);

test.each(['gpt-4o-audio-preview', 'gpt-4o-mini-2', 'llama3.2', 'toString', ''])('%j has none', (model) => {
  expect(presetPrice(model)).toBeUndefined();
});

test('a cost is dollars, zero where it is free, null where nobody knows it', () => {
  expect(costUsd({ prompt: 2.5, completion: 10 }, 400_000, 100_000)).toBe(2);
  expect(costUsd(FREE, 1, 1)).toBe(0);
  expect(costUsd(FREE, 0, 0)).toBe(0);
  expect(costUsd(undefined, 1, 1)).toBeNull();
  expect(costUsd({ prompt: 2.5, completion: 10 }, 0, 0)).toBeNull();
});
