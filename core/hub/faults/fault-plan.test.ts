import { describe, expect, test } from 'vitest';
import { binomialBound } from '../../testing/binomial.ts';
import { planRouteFaults } from '../delivery/faulty.ts';
import { parseFaults } from './parse-faults.ts';

const agents = ['0', '1', '2'].map((id) => ({ id, tool: id }));
const route = { from: '0', to: '1' };
const SEED = 20_261_123;

function decisions(spec: string, count: number, on = route, seed = SEED) {
  const decide = planRouteFaults(seed, parseFaults(spec, agents), on);
  return Array.from({ length: count }, (_, index) => decide(index + 1));
}

describe('the plan of a route', () => {
  test('decides the same for the same packet, in whatever order it is asked', () => {
    const spec = 'drop=10%,dup=10%,corrupt=10%,delay=20ms±10';
    const decide = planRouteFaults(SEED, parseFaults(spec, agents), route);
    const backwards = Array.from({ length: 100 }, (_, index) => decide(100 - index));

    expect(backwards.reverse()).toEqual(decisions(spec, 100));
  });

  test.each([
    ['another seed', route, SEED + 1],
    ['another sender', { from: '2', to: '1' }, SEED],
    ['another destination', { from: '0', to: '2' }, SEED],
    ['the other direction', { from: '1', to: '0' }, SEED],
  ])('is another one for %s', (_what, on, seed) => {
    expect(decisions('drop=50%', 64, on, seed)).not.toEqual(decisions('drop=50%', 64));
  });

  test('does not change what it drops when further faults are asked for', () => {
    const dropped = (spec: string) => decisions(spec, 1000).map(({ drop }) => drop);

    expect(dropped('drop=10%,dup=50%,corrupt=50%,delay=1s')).toEqual(dropped('drop=10%'));
  });

  test.each([0.5, 10, 99])('keeps a rate of %d %%', (percent) => {
    const count = 20_000;
    const { low, high } = binomialBound(count, percent / 100);
    const all = decisions(`drop=${percent}%,dup=${percent}%,corrupt=${percent}%`, count);
    for (const happened of [
      all.filter(({ drop }) => drop),
      all.filter(({ dup }) => dup),
      all.filter(({ corruptAt }) => corruptAt !== null),
    ]) {
      expect(happened.length, `seed ${SEED}`).toBeGreaterThanOrEqual(low);
      expect(happened.length, `seed ${SEED}`).toBeLessThanOrEqual(high);
    }
  });

  test('never drops at 0 % and always at 100 %', () => {
    expect(decisions('drop=0%', 10_000).some(({ drop }) => drop)).toBe(false);
    expect(decisions('drop=100%', 10_000).every(({ drop }) => drop)).toBe(true);
  });

  test('delays within its bounds, and on the whole by the time that was asked for', () => {
    const delays = decisions('delay=20ms±10', 10_000).map(({ delayMs }) => delayMs);
    const mean = delays.reduce((sum, delayMs) => sum + delayMs, 0) / delays.length;

    expect(Math.min(...delays)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...delays)).toBeLessThanOrEqual(30);
    // The mean of 10,000 has a standard error of 0.06 ms.
    expect(mean).toBeCloseTo(20, 0);
  });

  test('goes by the fault that names the route, wherever that stands', () => {
    for (const spec of ['drop=0%,drop=100%:0>1', 'drop=100%:0>1,drop=0%']) {
      expect(decisions(spec, 10).every(({ drop }) => drop)).toBe(true);
      expect(decisions(spec, 10, { from: '1', to: '0' }).some(({ drop }) => drop)).toBe(false);
    }
  });
});
