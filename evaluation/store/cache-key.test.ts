import { expect, test } from 'vitest';
import { hashCacheKey } from './cache-key.ts';
import { sampleKey } from './testing/samples.ts';

test('the key of a cached answer is the same as long as nothing changes (C-11)', () => {
  // printf '["How old?",null,"react","m","1"]' | sha256sum
  expect(hashCacheKey(sampleKey())).toBe('41d728d2323e7cc3e04ff39899de181fc0e696e02570e9cb72750b0e44db6774');
});

test('every part makes another key, and parts do not run into each other (C-11)', () => {
  const keys = [
    sampleKey(),
    sampleKey({ question: 'How old' }),
    sampleKey({ fileHash: 'ab' }),
    sampleKey({ fileHash: '' }),
    sampleKey({ team: 'panel' }),
    sampleKey({ model: 'n' }),
    sampleKey({ promptVersion: '2' }),
    sampleKey({ team: 'a', model: 'bc' }),
    sampleKey({ team: 'ab', model: 'c' }),
    sampleKey({ team: 'a","b' }),
  ];
  expect(new Set(keys.map(hashCacheKey)).size).toBe(keys.length);
});
