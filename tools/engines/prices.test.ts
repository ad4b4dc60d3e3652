import { expect, test } from 'vitest';
import { computeCostUsd, findPresetPrice } from './prices.ts';

test.each(['gpt-4o', 'gpt-4o-2024-08-06', 'claude-haiku-4-5', 'claude-haiku-4-5-20251001'])(
  '%s has a price',
  (model) => {
    expect(findPresetPrice(model)).toMatchObject({
      prompt: expect.any(Number),
      completion: expect.any(Number),
    });
  },
);

test.each(['gpt-4o-audio-preview', 'gpt-4o-mini-2', 'llama3.2', 'toString', ''])('%j has none', (model) => {
  expect(findPresetPrice(model)).toBeUndefined();
});

test('a cost is dollars, zero where it is free, null where nobody knows it', () => {
  const price = { prompt: 2.5, completion: 10 };
  const took = { promptTokens: 400_000, completionTokens: 100_000 };
  const unsaid = { promptTokens: null, completionTokens: null };
  expect(computeCostUsd(price, took)).toBe(2);
  const free = { prompt: 0, completion: 0 };
  expect(computeCostUsd(free, took)).toBe(0);
  expect(computeCostUsd(free, unsaid)).toBe(0);
  expect(computeCostUsd(undefined, took)).toBeNull();
  for (const part of [unsaid, { ...took, promptTokens: null }, { ...took, completionTokens: null }])
    expect(computeCostUsd(price, part)).toBeNull();
});

test('what comes from the cache, and what is written into it, has a price of its own', () => {
  const took = {
    promptTokens: 1_000_000,
    completionTokens: 0,
    cachedTokens: 600_000,
    cacheWriteTokens: 300_000,
  };
  const price = { prompt: 10, cached: 1, cache_write: 12, completion: 1 };
  expect(computeCostUsd(price, took)).toBeCloseTo(1 + 0.6 + 3.6, 10);
  expect(computeCostUsd({ prompt: 10, completion: 1 }, took)).toBe(10);
  const sonnet = findPresetPrice('claude-sonnet-4-6');
  expect(sonnet?.cached).toBeCloseTo(0.3, 10);
  expect(sonnet?.cache_write).toBeCloseTo(3.75, 10);
});
