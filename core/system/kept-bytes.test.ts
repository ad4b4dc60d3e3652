import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { KeptBytes } from './kept-bytes.ts';
import { estimateBytes, parseForeignJson } from './parse-json.ts';

describe('the memory of a decoded value', () => {
  it.each([
    ['objects', () => Array.from({ length: 100_000 }, () => ({}))],
    ['lists', () => Array.from({ length: 100_000 }, () => [])],
    ['numbers', () => Array.from({ length: 200_000 }, (_, i) => i + 0.5)],
    ['texts', () => Array.from({ length: 100_000 }, (_, i) => `text ${i}`)],
    ['letters', () => 'né 漢'.repeat(1_000_000)],
    ['keys', () => Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key ${i}`, i]))],
    ['shapes', () => Array.from({ length: 20_000 }, (_, i) => ({ [`key ${i}`]: 0 }))],
  ])('is not more than what is estimated for %s', (_what, make) => {
    const text = JSON.stringify(make());
    const before = process.memoryUsage().heapUsed;
    const value: unknown = JSON.parse(text);
    const used = process.memoryUsage().heapUsed - before;
    expect(estimateBytes(value)).toBeGreaterThan(0.8 * used);
    expect(() => parseForeignJson(text, { maxBytes: 0.8 * used })).toThrow('of memory');
  });

  it('is estimated without recursion', () => {
    expect(estimateBytes(JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`))).toBeGreaterThan(
      10_000_000,
    );
  });
});

describe('a budget of bytes', () => {
  it('takes what has room to the last byte, and gives it back', () => {
    const budget = new KeptBytes(100);
    const held = budget.hold(60);
    held.grow(40);
    expect(() => budget.hold(1)).toThrow('keeps at most 100 bytes');
    held.release();
    held.release();
    expect(budget.kept).toBe(0);
    expect(() => budget.hold(101)).toThrow('no room for 101 more');
    budget.hold(100);
  });

  it('lets finished things go until there is room, and no more of them', () => {
    const budget = new KeptBytes(100);
    const finished = [budget.hold(30), budget.hold(30), budget.hold(30)];
    budget.onShortage(() => {
      const oldest = finished.shift();
      oldest?.release();
      return oldest !== undefined;
    });
    budget.hold(50);
    expect([finished.length, budget.kept]).toEqual([1, 80]);
    expect(() => budget.hold(60)).toThrow('no room');
  });

  it('gives no message the room of all', () => {
    const { most, mostEach } = new KeptBytes(1000);
    expect([most, Number.isInteger(mostEach)]).toEqual([1000, true]);
    expect(mostEach).toBeGreaterThan(0);
    expect(mostEach).toBeLessThanOrEqual(most / 2);
  });

  it('holds an answer until it is sent, and nothing for a client that has gone', () => {
    const budget = new KeptBytes(100);
    const answer = Object.assign(new EventEmitter(), { destroyed: false });
    budget.holdUntilSent(70, answer);
    expect(budget.kept).toBe(70);
    answer.emit('close');
    budget.holdUntilSent(1000, Object.assign(new EventEmitter(), { destroyed: true }));
    expect(budget.kept).toBe(0);
  });
});
