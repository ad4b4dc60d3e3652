import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTokens } from './tokens.ts';

describe('countTokens', () => {
  it.each([
    ['', 0],
    [' \n\t', 0],
    ['Who built it?', 4],
    ['3.5 km', 4],
    ['don’t', 3],
    ['😀😀', 2],
    ['x'.repeat(16), 1],
    ['x'.repeat(17), 2],
  ])('counts %j as %i', (text, count) => {
    expect(countTokens(text)).toBe(count);
  });

  it('adds up over texts joined by a blank', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (left, right) => {
        expect(countTokens(`${left} ${right}`)).toBe(countTokens(left) + countTokens(right));
      }),
    );
  });

  it('takes linear time on a long line without blanks', () => {
    const startMs = cpuMs();
    countTokens('x'.repeat(4_000_000));
    expect(cpuMs() - startMs).toBeLessThan(2_000);
  });
});
