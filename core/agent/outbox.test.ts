import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DELIVERY_LIMITS } from '../contracts/limits.ts';
import { caused } from '../testing/caused.ts';
import { Outbox } from './outbox.ts';

const { signal } = new AbortController();

function workspace(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-outbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** As a process finds it that has not yet agreed with a hub. */
function found(folder: string, runId = 'run'): Outbox {
  return new Outbox(folder, runId);
}

function outboxIn(folder: string): Outbox {
  const outbox = found(folder);
  outbox.begin(null);
  onTestFinished(() => outbox.close());
  return outbox;
}

const fileIn = (folder: string) => path.join(folder, 'outbox.jsonl');

const ids = (outbox: Outbox) => outbox.kept.map((one) => one.packet.id);

describe('an outbox', () => {
  test('has, opened by another process, what was sent and not taken over, and what was done', () => {
    const folder = workspace();
    const first = outboxIn(folder);
    first.add([caused('1'), caused('2')], 'doc');
    first.add([caused('3')]);
    // Nothing is closed: the process was killed.
    const second = found(folder);
    expect(second.lastDone).toEqual(['doc']);
    second.begin('1');
    expect(second.kept).toMatchObject([caused('2'), caused('3')]);
    expect([second.isDone('doc'), second.isDone('other')]).toEqual([true, false]);
    second.close();
  });

  test('counts the processes that had it before, however often one of them begins', () => {
    const folder = workspace();
    const first = outboxIn(folder);
    first.begin(null);
    const second = outboxIn(folder);
    second.begin(null);
    const third = outboxIn(folder);
    expect([first, second, third].map(({ restarts }) => restarts)).toEqual([0, 1, 2]);
  });

  test('that cannot be written says so, and sends nothing that comes after', () => {
    const folder = workspace();
    const outbox = outboxIn(folder);
    rmSync(folder, { recursive: true });
    expect(() => outbox.begin(null)).toThrow(expect.objectContaining({ code: 'io' }));
    expect(outbox.hasFailed).toBe(true);
    mkdirSync(folder);
    expect(() => outbox.add([caused('2')], 'doc')).toThrow(expect.objectContaining({ code: 'io' }));
  });

  test('of another run is empty', () => {
    const folder = workspace();
    outboxIn(folder).add([caused('1')], 'doc');
    const other = found(folder, 'next run');
    expect(other.lastDone).toEqual([]);
    other.begin(null);
    expect(other.restarts).toBe(0);
    expect(ids(other)).toEqual([]);
    expect(readFileSync(fileIn(folder), 'utf8')).not.toContain('"doc"');
  });

  test('lets go of packets in the order in which they were sent, counted for each connection', () => {
    const folder = workspace();
    const outbox = outboxIn(folder);
    outbox.add([caused('1'), caused('2'), caused('3')]);
    outbox.taken(2);
    expect(ids(outbox)).toEqual(['3']);
    outbox.taken(2);
    expect(ids(outbox)).toEqual(['3']);
    outbox.begin('2');
    expect(ids(outbox)).toEqual(['3']);
    outbox.taken(1);
    expect(ids(outbox)).toEqual([]);
    outbox.taken(99);
  });

  test.each([
    ['packets', DELIVERY_LIMITS.outboxPackets, ''],
    ['bytes', 8, 'x'.repeat(DELIVERY_LIMITS.outboxBytes / 8)],
  ])('is full at its bound of %s; whoever waits goes on when there is room', async (_what, count, text) => {
    const outbox = outboxIn(workspace());
    for (let id = 1; id < count; id++) outbox.add([caused(String(id), text)]);
    expect(outbox.isFull).toBe(false);
    outbox.add([caused('last', text)]);
    expect(outbox.isFull).toBe(true);
    const going: string[] = [];
    const waiting = outbox.change(signal).then(() => going.push('there is room'));
    const stopped = AbortSignal.abort();
    await outbox.change(stopped);
    expect(going).toEqual([]);
    outbox.taken(1);
    await waiting;
    expect(going).toEqual(['there is room']);
  });

  test('does not know the last line of a process that was killed while it wrote that', () => {
    const folder = workspace();
    outboxIn(folder).add([caused('1')], 'doc');
    appendFileSync(fileIn(folder), '{"done":["2"],"sent":[{"cause":"x","pack');
    const outbox = outboxIn(folder);
    expect(ids(outbox)).toEqual(['1']);
    expect(outbox.isDone('2')).toBe(false);
  });

  test('that is broken in the middle is a fault, not an empty one', () => {
    const folder = workspace();
    writeFileSync(fileIn(folder), '{"run":"run"}\nnonsense\n{"done":[],"sent":[]}\n');
    expect(() => found(folder)).toThrow(
      expect.objectContaining({
        code: 'store',
        message: expect.stringMatching(/the outbox is damaged at .*outbox.jsonl:2/),
      }),
    );
  });

  test('does not grow on disk with what was taken over', () => {
    const folder = workspace();
    const outbox = outboxIn(folder);
    const text = 'x'.repeat(1024 * 1024);
    for (let id = 1; id <= 30; id++) {
      outbox.add([caused(String(id), text)], `doc ${id}`);
      outbox.taken(id);
    }
    expect(statSync(fileIn(folder)).size).toBeLessThan(8 * 1024 * 1024);
    expect(outbox.lastDone).toHaveLength(30);
  });

  test('is a file that only its owner may read; whoever reads it while it is written anew has the whole old one', () => {
    const folder = workspace();
    const outbox = outboxIn(folder);
    outbox.add([caused('1')]);
    const before = readFileSync(fileIn(folder), 'utf8');
    const reader = openSync(fileIn(folder), 'r');
    outbox.begin('1');
    outbox.add([], 'doc');

    expect(readFileSync(reader, 'utf8')).toBe(before);
    closeSync(reader);
    expect(readFileSync(fileIn(folder), 'utf8').split('\n')).toHaveLength(4);
    expect(readdirSync(folder)).toEqual(['outbox.jsonl']);
    expect(statSync(fileIn(folder)).mode & 0o777).toBe(0o600);
  });
});
