import { describe, expect, it } from 'vitest';
import { stem } from './stem.ts';

describe('stem', () => {
  it.each([
    ['caresses', 'caress'],
    ['ponies', 'poni'],
    ['agreed', 'agre'],
    ['plastered', 'plaster'],
    ['hopping', 'hop'],
    ['relational', 'relat'],
    ['conditional', 'condit'],
    ['adoption', 'adopt'],
    ['happy', 'happi'],
    ['controlling', 'control'],
  ])('strips %s to %s, as Porter’s vocabulary does', (word, root) => {
    expect(stem(word)).toBe(root);
  });

  it('joins irregular forms', () => {
    expect(stem('written')).toBe(stem('wrote'));
  });

  it('leaves numbers and other alphabets alone', () => {
    expect(stem('1934')).toBe('1934');
    expect(stem('москва')).toBe('москва');
  });
});
