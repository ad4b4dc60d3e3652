import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MAX_OUTBOX_BYTES, MAX_OUTBOX_PACKETS } from '../../contracts/limits.ts';
import { caused } from '../../testing/caused.ts';
import { FileJournal } from './journal.ts';
import { Outbox } from './outbox.ts';

const { signal } = new AbortController();

function workspace(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-outbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** As a process finds it that has not yet agreed with a hub. */
function found(folder: string, runId = 'run'): Promise<Outbox> {
  return Outbox.open(runId, new FileJournal(folder, runId));
}

async function outboxIn(folder: string, runId = 'run', have: string | null = null): Promise<Outbox> {
  const outbox = await found(folder, runId);
  await outbox.begin(have);
  onTestFinished(() => outbox.close());
  return outbox;
}

const fileIn = (folder: string) => path.join(folder, 'outbox.jsonl');

const ids = (outbox: Outbox) => outbox.kept.map((one) => one.packet.id);

describe('an outbox', () => {
  test('has, opened by another process, what was sent and not taken over, and what was done', async () => {
    const folder = workspace();
    const first = await outboxIn(folder);
    await first.add([caused('1'), caused('2')], 'doc');
    await first.add([caused('3')]);
    // Nothing is closed: the process was killed.
    const second = await found(folder);
    expect(second.lastDone).toEqual(['doc']);
    await second.begin('1');
    expect(second.kept).toMatchObject([caused('2'), caused('3')]);
    expect([second.isDone('doc'), second.isDone('other')]).toEqual([true, false]);
    await second.close();
  });

  test('counts the processes that had it before, however often one of them begins', async () => {
    const folder = workspace();
    const first = await outboxIn(folder);
    await first.begin(null);
    const second = await outboxIn(folder);
    await second.begin(null);
    const third = await outboxIn(folder);
    expect([first, second, third].map(({ restarts }) => restarts)).toEqual([0, 1, 2]);
  });

  test('takes packets as done when their line is written, not before: a killed process may not have come to it', async () => {
    const folder = workspace();
    const gate = Promise.withResolvers<void>();
    class GatedJournal extends FileJournal {
      override async append(line: string): Promise<void> {
        if (line.includes('doc 3')) await gate.promise;
        await super.append(line);
      }
    }
    const outbox = await Outbox.open('run', new GatedJournal(folder, 'run'));
    onTestFinished(() => outbox.close());
    await outbox.begin(null);
    await outbox.add([caused('1', 'x'.repeat(5 * 1024 * 1024))]);
    outbox.taken(1);
    // The first of these has the journal written anew, while the second waits for its turn.
    const written = outbox.add([caused('2')], 'doc 2');
    const waiting = outbox.add([caused('3')], 'doc 3');
    await written;
    const killed = await found(folder);
    expect([killed.kept.map(({ packet: { id } }) => id), killed.lastDone]).toEqual([['2'], ['doc 2']]);
    gate.resolve();
    await waiting;
    const later = await found(folder);
    expect([later.kept.map(({ packet: { id } }) => id), later.lastDone]).toEqual([
      ['2', '3'],
      ['doc 2', 'doc 3'],
    ]);
  });

  test('that cannot be written says so, and sends nothing that comes after', async () => {
    const folder = workspace();
    const outbox = await outboxIn(folder);
    rmSync(folder, { recursive: true });
    await expect(outbox.add([caused('1')], 'doc')).rejects.toMatchObject({ code: 'io' });
    expect([outbox.hasFailed, outbox.isDone('doc')]).toEqual([true, false]);
    mkdirSync(folder);
    await expect(outbox.add([caused('2')])).rejects.toMatchObject({ code: 'io' });
  });

  test('of another run is empty', async () => {
    const folder = workspace();
    await (await outboxIn(folder)).add([caused('1')], 'doc');
    const other = await found(folder, 'next run');
    expect(other.lastDone).toEqual([]);
    await other.begin(null);
    expect(other.restarts).toBe(0);
    expect(ids(other)).toEqual([]);
    expect(readFileSync(fileIn(folder), 'utf8')).not.toContain('"doc"');
  });

  test('lets go of packets in the order in which they were sent, counted for each connection', async () => {
    const folder = workspace();
    const outbox = await outboxIn(folder);
    await outbox.add([caused('1'), caused('2'), caused('3')]);
    outbox.taken(2);
    expect(ids(outbox)).toEqual(['3']);
    outbox.taken(2);
    expect(ids(outbox)).toEqual(['3']);
    await outbox.begin('2');
    expect(ids(outbox)).toEqual(['3']);
    outbox.taken(1);
    expect(ids(outbox)).toEqual([]);
    outbox.taken(99);
  });

  test.each([
    ['packets', MAX_OUTBOX_PACKETS, ''],
    ['bytes', 8, 'x'.repeat(MAX_OUTBOX_BYTES / 8)],
  ])('is full at its bound of %s; whoever waits goes on when there is room', async (_what, count, text) => {
    const outbox = await outboxIn(workspace());
    for (let id = 1; id < count; id++) await outbox.add([caused(String(id), text)]);
    expect(outbox.isFull).toBe(false);
    void outbox.add([caused('last', text)]);
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

  test('does not know the last line of a process that was killed while it wrote that', async () => {
    const folder = workspace();
    await (await outboxIn(folder)).add([caused('1')], 'doc');
    appendFileSync(fileIn(folder), '{"done":["2"],"sent":[{"cause":"x","pack');
    const outbox = await outboxIn(folder);
    expect(ids(outbox)).toEqual(['1']);
    expect(outbox.isDone('2')).toBe(false);
  });

  test('that is broken in the middle is a fault, not an empty one', async () => {
    const folder = workspace();
    writeFileSync(fileIn(folder), '{"run":"run"}\nnonsense\n{"done":[],"sent":[]}\n');
    await expect(found(folder)).rejects.toThrow(/outbox.jsonl cannot be read/);
  });

  test('does not grow on disk with what was taken over', async () => {
    const folder = workspace();
    const outbox = await outboxIn(folder);
    const text = 'x'.repeat(1024 * 1024);
    for (let id = 1; id <= 30; id++) {
      await outbox.add([caused(String(id), text)], `doc ${id}`);
      outbox.taken(id);
    }
    expect(statSync(fileIn(folder)).size).toBeLessThan(8 * 1024 * 1024);
    expect(outbox.lastDone).toHaveLength(30);
  });
});
