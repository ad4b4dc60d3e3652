import { describe, expect, test } from 'vitest';
import { Random } from '../../system/random.ts';
import { Line, parseNetwork } from './network.ts';

test.each([
  ['none', null],
  ['lan', { rttMs: 0.5, bitsPerS: 1e9 }],
  ['rtt=40ms,rate=10mbit', { rttMs: 40, bitsPerS: 10e6 }],
  ['rtt=0ms,rate=64kbit', { rttMs: 0, bitsPerS: 64e3 }],
  ['rtt=2000ms,rate=1gbit', { rttMs: 2000, bitsPerS: 1e9 }],
  ['rtt=2000.001ms,rate=1gbit', undefined],
  ['rtt=40ms,rate=0mbit', undefined],
  ['rtt=40ms', undefined],
  ['constructor', undefined],
  ['', undefined],
])('parses %j', (text, network) => expect(parseNetwork(text)).toEqual(network));

describe('a line', () => {
  const network = { rttMs: 40, bitsPerS: 1e6 };
  const toMs = (bytes: number) => (bytes * 8 * 1000) / network.bitsPerS;

  test('delivers half a round trip after the last bit, if it is idle', () => {
    const line = new Line(network);
    expect(line.send(1250, 100)).toBe(100 + 10 + 20);
    expect(line.send(0, 500)).toBe(520);
  });

  test('delivers all bytes in order, as soon as the rate allows, and never more than the rate in any window', () => {
    const random = new Random(7);
    const line = new Line(network);
    let nowMs = 0;
    let freeAtMs = 0;
    const arrivals = Array.from({ length: 300 }, () => {
      nowMs += random.uniform() < 0.7 ? 0 : 30 * random.uniform();
      const bytes = Math.floor(3000 * random.uniform());
      freeAtMs = Math.max(freeAtMs, nowMs) + toMs(bytes);
      const atMs = line.send(bytes, nowMs);
      expect(atMs).toBe(freeAtMs + 20);
      return { atMs, bytes };
    });
    // The bytes after the first arrival of a window came within it.
    arrivals.forEach((first, index) => {
      let bytes = 0;
      for (const next of arrivals.slice(index + 1)) {
        bytes += next.bytes;
        expect(toMs(bytes)).toBeLessThanOrEqual(next.atMs - first.atMs + 1e-6);
      }
    });
  });
});
