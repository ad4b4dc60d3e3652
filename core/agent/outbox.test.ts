import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MAX_OUTBOX_BYTES, MAX_OUTBOX_PACKETS } from '../limits.ts';
import type { Packet } from '../packet.ts';
import { OUTBOX_FILE, Outbox } from './outbox.ts';

const packet = (id: string, text = ''): Packet => ({
  type: 'note',
  from: 'a',
  id,
  task_id: 't',
  token_used: 0,
  ts: 0,
  payload: { text },
});
const caused = (id: string, text?: string) => ({ packet: packet(id, text), cause: `cause of ${id}` });
const { signal } = new AbortController();

function workspace(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-outbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function outboxIn(folder: string, runId = 'run', have: string | null = null): Outbox {
  const outbox = new Outbox(folder);
  outbox.begin(runId, have);
  onTestFinished(() => outbox.close());
  return outbox;
}

const ids = (outbox: Outbox) => outbox.kept.map((one) => one.packet.id);

describe('an outbox', () => {
  test('has, opened by another process, what was sent and not taken over, and what was done', () => {
    const folder = workspace();
    const first = outboxIn(folder);
    first.add([caused('1'), caused('2')], 'doc');
    first.add([caused('3')]);
    // Nothing is closed: the process was killed.
    const second = new Outbox(folder);
    expect(second.doneIn('run')).toEqual(['doc']);
    second.begin('run', '1');
    expect(second.kept).toMatchObject([caused('2'), caused('3')]);
    expect([second.isDone('doc'), second.isDone('other')]).toEqual([true, false]);
    second.close();
  });

  test('of another run is empty', () => {
    const folder = workspace();
    outboxIn(folder).add([caused('1')], 'doc');
    const other = new Outbox(folder);
    expect(other.doneIn('next run')).toEqual([]);
    other.begin('next run', null);
    expect(ids(other)).toEqual([]);
    expect(readFileSync(path.join(folder, OUTBOX_FILE), 'utf8')).not.toContain('"doc"');
  });

  test('lets go of packets in the order in which they were sent, counted for each connection', () => {
    const folder = workspace();
    const outbox = outboxIn(folder);
    outbox.add([caused('1'), caused('2'), caused('3')]);
    outbox.taken(2);
    expect(ids(outbox)).toEqual(['3']);
    outbox.taken(2);
    expect(ids(outbox)).toEqual(['3']);
    outbox.begin('run', '2');
    expect(ids(outbox)).toEqual(['3']);
    outbox.taken(1);
    expect(ids(outbox)).toEqual([]);
    outbox.taken(99);
  });

  test.each([
    ['packets', MAX_OUTBOX_PACKETS, ''],
    ['bytes', 8, 'x'.repeat(MAX_OUTBOX_BYTES / 8)],
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
    appendFileSync(path.join(folder, OUTBOX_FILE), '{"done":["2"],"sent":[{"cause":"x","pack');
    const outbox = outboxIn(folder);
    expect(ids(outbox)).toEqual(['1']);
    expect(outbox.isDone('2')).toBe(false);
  });

  test('that is broken in the middle is a fault, not an empty one', () => {
    const folder = workspace();
    writeFileSync(path.join(folder, OUTBOX_FILE), '{"run":"run"}\nnonsense\n{"done":[],"sent":[]}\n');
    expect(() => new Outbox(folder)).toThrow(/outbox.jsonl cannot be read/);
  });

  test('does not grow on disk with what was taken over', () => {
    const folder = workspace();
    const outbox = outboxIn(folder);
    const text = 'x'.repeat(1024 * 1024);
    for (let id = 1; id <= 30; id++) {
      outbox.add([caused(String(id), text)], `doc ${id}`);
      outbox.taken(id);
    }
    expect(statSync(path.join(folder, OUTBOX_FILE)).size).toBeLessThan(8 * 1024 * 1024);
    expect(outbox.doneIn('run')).toHaveLength(30);
  });
});
