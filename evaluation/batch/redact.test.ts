import { expect, test } from 'vitest';
import { createRedactor } from './redact.ts';

test('keys of the environment are taken out, those that begin like another as a whole', () => {
  const redact = createRedactor({
    OPENAI_API_KEY: 'key-of-one',
    TAVILY_API_KEY: 'key-of-one-and-more',
    STORE_PASSWORD: 'password one',
    HOME: '/home/somebody',
    SHORT_KEY: 'abc',
  });
  expect(redact('key-of-one-and-more and key-of-one, password one, /home/somebody, abc')).toBe(
    '[redacted] and [redacted], [redacted], /home/somebody, abc',
  );
});

test('what looks like a key is taken out, wherever it came from', () => {
  const redact = createRedactor({});
  expect(redact(`sk-${'a1'.repeat(12)} hf_${'b2'.repeat(12)} Authorization: Bearer abcdefgh123==`)).toBe(
    '[redacted] [redacted] Authorization: Bearer [redacted]',
  );
  expect(redact('a sketch of a task, hf_x, Bearer of news')).toBe('a sketch of a task, hf_x, Bearer of news');
});
