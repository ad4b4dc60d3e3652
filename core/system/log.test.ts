import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Log } from './log.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gaia-mesh-log-'));
  file = path.join(directory, 'sub', 'agent.log');
});

afterEach(() => rmSync(directory, { recursive: true }));

const text = () => readFileSync(file, 'utf8');
const lines = () => text().split('\n').slice(0, -1);

describe('a log', () => {
  it('writes one JSON object a line, with its time', () => {
    const log = new Log(file);
    const before = Date.now();
    log.info({ dir: 'sent', bytes: 7 });
    log.warn({ dir: 'received', refused: 'why' });
    log.close();
    const [sent, refused, ...rest] = lines().map((line) => JSON.parse(line));
    expect(sent).toEqual({ level: 'info', time: expect.any(Number), dir: 'sent', bytes: 7 });
    expect(refused).toEqual({ level: 'warn', time: expect.any(Number), dir: 'received', refused: 'why' });
    expect(rest).toEqual([]);
    expect(Math.abs(sent.time - before)).toBeLessThan(1000);
    expect(refused.time).toBeGreaterThanOrEqual(sent.time);
  });

  it('has warnings on disk when the call returns, with all that came before', () => {
    const log = new Log(file);
    for (let i = 0; i < 100; i++) log.info({ i });
    log.warn({ i: 100 });
    expect(lines().map((line) => JSON.parse(line).i)).toEqual(Array.from({ length: 101 }, (_, i) => i));
    log.close();
  });

  it('has other lines on disk soon, though the log stays open', async () => {
    const log = new Log(file);
    log.info({ i: 0 });
    await vi.waitFor(() => expect(lines()).toHaveLength(1), { timeout: 60_000 });
    log.info({ i: 1 });
    await vi.waitFor(() => expect(lines()).toHaveLength(2), { timeout: 60_000 });
    log.close();
    expect(lines()).toHaveLength(2);
  });

  it('writes deep and long values whole', () => {
    const log = new Log(file);
    const payload = { deep: [[[[[[[{ end: 'x' }]]]]]]], long: Array.from({ length: 500 }, (_, i) => i) };
    log.info({ payload });
    log.close();
    expect(JSON.parse(text()).payload).toEqual(payload);
  });

  it('stops at its bound, counted in bytes, and says so in the last line', () => {
    const log = new Log(file, { maxBytes: 1000 });
    for (let i = 0; i < 100; i++) log.info({ said: 'é'.repeat(50) });
    log.close();
    const kept = lines().map((line) => JSON.parse(line));
    const last = kept.pop();
    expect(last).toEqual({
      level: 'warn',
      time: expect.any(Number),
      event: 'cut',
      cut: expect.stringContaining('1000 bytes'),
    });
    expect(kept.every((line) => line.said === 'é'.repeat(50))).toBe(true);
    const keptBytes = Buffer.byteLength(`${lines().slice(0, -1).join('\n')}\n`);
    const lineBytes = keptBytes / kept.length;
    expect(keptBytes).toBeLessThanOrEqual(1000);
    expect(keptBytes + lineBytes + 10).toBeGreaterThan(1000);
  });

  it.each([0, 1, 6, 7, 8, 20])(
    'takes whole lines as they are, and of those that go %i bytes beyond its bound none',
    (room) => {
      const log = new Log(file, { maxBytes: 8 + room });
      log.append(Buffer.from('{"a":1}\n'));
      expect(log.isOpen).toBe(true);
      log.append(Buffer.from('{"b":2}\n{"c":3}\n'));
      log.append(Buffer.from('{"d":4}\n'));
      log.close();
      const kept = ['{"a":1}', ...['{"b":2}', '{"c":3}'].slice(0, Math.floor(room / 8))];
      expect(lines().slice(0, -1)).toEqual(kept);
      expect(JSON.parse(lines().at(-1) ?? '')).toMatchObject({
        cut: expect.stringContaining(`${8 + room} bytes`),
      });
    },
  );
});
