import { describe, expect, test } from 'vitest';
import { computeBackoffMs, parseRetryAfter } from './service.ts';

const BACKOFF = { firstMs: 500, maxMs: 10_000, maxRetryAfterMs: 60_000 };

describe('a delay', () => {
  test('is longer than the one before, whatever chance says, up to ten seconds and a quarter more (RA-24)', () => {
    for (const [low, high] of [
      [0, 0.999_999],
      [0.999_999, 0],
    ] as const) {
      const delays = [1, 2, 3, 4, 5].map((retry) =>
        computeBackoffMs(BACKOFF, retry, undefined, () => (retry % 2 === 0 ? low : high)),
      );
      expect(delays).toEqual(delays.toSorted((a, b) => a - b));
      expect(new Set(delays).size).toBe(5);
    }
    expect(computeBackoffMs(BACKOFF, 1, undefined, () => 0)).toBe(375);
    expect(computeBackoffMs(BACKOFF, 20, undefined, () => 1)).toBe(12_500);
  });

  test('is what the server wants, up to a minute (RA-24)', () => {
    expect(computeBackoffMs(BACKOFF, 5, 0, () => 0.5)).toBe(0);
    expect(computeBackoffMs(BACKOFF, 1, 60_000, () => 0.5)).toBe(60_000);
    expect(computeBackoffMs(BACKOFF, 1, 60_001, () => 0.5)).toBe(60_000);
  });
});

test.each([
  [{ 'Retry-After': '3' }, 3_000],
  [{ 'Retry-After': '0' }, 0],
  [{ 'Retry-After': '1.5' }, 1_500],
  [{ 'retry-after-ms': '250', 'Retry-After': '3' }, 250],
  [{ 'retry-after-ms': 'x', 'Retry-After': '3' }, 3_000],
  [{ 'Retry-After': 'Wed, 21 Oct 2015 07:28:05 GMT' }, 5_000],
  [{ 'Retry-After': 'Wed, 21 Oct 2015 07:27:00 GMT' }, 0],
  [{ 'Retry-After': 'soon' }, undefined],
  [{ 'Retry-After': '-1' }, 0],
  [{}, undefined],
])('%j is %s ms', (headers, ms) => {
  expect(parseRetryAfter(new Headers(headers), Date.UTC(2015, 9, 21, 7, 28, 0))).toBe(ms);
});
