import { expect, it } from 'vitest';
import { rememberTexts } from './remember.ts';

it('computes a text once, and again after many others', () => {
  const computed: string[] = [];
  const measure = rememberTexts((text) => {
    computed.push(text.slice(0, 5));
    return { length: text.length };
  });
  const first = measure('first');
  expect(measure('first')).toBe(first);
  expect(computed).toEqual(['first']);
  for (const letter of 'abcdefgh') measure(letter.repeat(90_000));
  expect(measure('first')).toEqual(first);
  expect(computed.filter((text) => text === 'first')).toHaveLength(2);
});

it('keeps texts that come again while others pass', () => {
  let count = 0;
  const measure = rememberTexts((text) => {
    if (text === 'kept') count += 1;
    return text.length;
  });
  for (const letter of 'abcdefgh') {
    measure('kept');
    measure(letter.repeat(90_000));
  }
  expect(count).toBe(1);
});

it('keeps no text that would push all others out', () => {
  let count = 0;
  const measure = rememberTexts((text) => {
    count += 1;
    return text.length;
  });
  measure('a'.repeat(1_000_000));
  measure('a'.repeat(1_000_000));
  expect(count).toBe(2);
});
