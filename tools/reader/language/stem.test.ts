import { describe, expect, it } from 'vitest';
import { stemWord } from './stem.ts';

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
    ['technology', 'technologi'],
    ['technologies', 'technologi'],
    ['possibly', 'possibli'],
    ['probably', 'probabl'],
  ])('strips %s to %s, as Porter’s vocabulary does', (word, root) => {
    expect(stemWord(word)).toBe(root);
  });

  it('joins irregular forms', () => {
    expect(stemWord('written')).toBe(stemWord('wrote'));
  });

  it('leaves numbers and other alphabets alone', () => {
    expect(stemWord('1934')).toBe('1934');
    expect(stemWord('москва')).toBe('москва');
  });
});
