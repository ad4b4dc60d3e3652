import { appendFileSync, closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { AppendLog, RecordReader } from './append-log.ts';

const schema = z.object({ id: z.int(), text: z.string() });
type Entry = z.infer<typeof schema>;
const LEDGER = { what: 'ledger', schema };
const HEADED = { what: 'ledger', schema, head: z.strictObject({ ledger: z.literal(1) }) };

const entry = (id: number): Entry => ({ id, text: `Zoë 🏁\n${'é'.repeat(id)}` });
const lines = (...entries: object[]) => entries.map((one) => `${JSON.stringify(one)}\n`).join('');

function fileWith(text: string): string {
  const file = path.join(temporaryFolder(), 'ledger.jsonl');
  writeFileSync(file, text);
  return file;
}

/** Opens a log with the records that are in it. */
function opened(file: string, kind: Parameters<typeof AppendLog.open<Entry>>[1] = LEDGER) {
  const found: Entry[] = [];
  const log = AppendLog.open(file, kind, ({ value }) => found.push(value));
  onTestFinished(() => log.close());
  return { log, found };
}

describe('a log of records', () => {
  test('gives back each record by its place, and all of them to the next process, in a file that only its user may read', () => {
    const file = path.join(temporaryFolder(), 'ledger.jsonl');
    const log = AppendLog.create<Entry>(file, LEDGER);
    const places = [1, 2, 3].map((id) => log.append(entry(id)));
    expect(places.map((place) => log.read(place))).toEqual([entry(1), entry(2), entry(3)]);
    log.close();

    expect(opened(file).found).toEqual([entry(1), entry(2), entry(3)]);
    expect(readFileSync(file, 'utf8')).toBe(lines(entry(1), entry(2), entry(3)));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('begins anew with the records it is given; a reader of the old file still has that', () => {
    const file = fileWith(lines(entry(1), entry(2)));
    const reader = openSync(file, 'r');
    onTestFinished(() => closeSync(reader));
    const log = AppendLog.create<Entry, { ledger: 1 }>(file, HEADED, [{ ledger: 1 }, entry(2)]);
    log.append(entry(3));
    log.close();

    expect(readFileSync(reader, 'utf8')).toBe(lines(entry(1), entry(2)));
    const { log: again, found } = opened(file, HEADED as never);
    expect([again.head, found]).toEqual([{ ledger: 1 }, [entry(2), entry(3)]]);
  });

  test('cut at any byte of its last line has the records before, leaves the file alone, and puts the next record in its place', () => {
    const whole = Buffer.from(lines(entry(1), entry(2)));
    const start = Buffer.byteLength(lines(entry(1)));
    const file = fileWith('');
    for (let end = start; end < whole.length; end++) {
      writeFileSync(file, whole.subarray(0, end));
      const { log, found } = opened(file);
      expect(found).toEqual([entry(1)]);
      expect(log.torn).toBe(end === start ? undefined : `${file}:2`);
      expect(statSync(file).size).toBe(end);
      log.append(entry(2));
      expect(readFileSync(file)).toEqual(whole);
    }
  });

  test('whose last line is whole but nonsense, as after a power failure, does without it', () => {
    const file = fileWith(`${lines(entry(1))}\0\0\0\n`);
    const { log, found } = opened(file);
    expect([found, log.torn]).toEqual([[entry(1)], `${file}:2`]);
  });

  test('that is damaged before its end is refused with the line, and left as it is', () => {
    const text = `${lines(entry(1))}{"id":"two"}\n${lines(entry(3))}`;
    const file = fileWith(text);
    expect(() => opened(file)).toThrow(
      expect.objectContaining({
        code: 'store',
        message: expect.stringMatching(
          /^the ledger is damaged at .*:2 \(.*id.*\): repair or delete that line$/,
        ),
      }),
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each(['my notes\n', '{"id":1}\n'])('of another kind (%j) is refused and left as it is', (text) => {
    const file = fileWith(text);
    expect(() => opened(file)).toThrow(`${file}:1: this is not the ledger, and is left unchanged`);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test.each([
    ['bytes', { maxBytes: Buffer.byteLength(lines(entry(1), entry(2))) }, 'it has room for'],
    ['lines', { maxLines: 2 }, 'it has 2 lines, its bound'],
  ])('takes records up to its bound of %s, and names it beyond', (_what, bound, message) => {
    const file = fileWith(lines(entry(1)));
    const { log } = opened(file, { ...LEDGER, ...bound });
    log.append(entry(2));
    expect(() => log.append(entry(3))).toThrow(
      expect.objectContaining({ code: 'io', message: expect.stringContaining(message) }),
    );
    expect(readFileSync(file, 'utf8')).toBe(lines(entry(1), entry(2)));
    expect(opened(file).found).toHaveLength(2);
  });

  test('with more lines than its bound is refused before they fill the memory', () => {
    const file = fileWith(lines(entry(1), entry(2), entry(3)));
    expect(() => opened(file, { ...LEDGER, maxLines: 2 })).toThrow('a ledger has at most 2 lines');
  });

  test('forgets records from one on, and goes on there', () => {
    const file = fileWith('');
    const { log } = opened(file);
    const [, second] = [1, 2, 3].map((id) => log.append(entry(id)));
    log.forgetFrom(second ?? { at: 0 }, 1);
    log.append(entry(4));
    expect(opened(file).found).toEqual([entry(1), entry(4)]);
  });

  test('is read while another process writes it, up to the last whole record', () => {
    const file = fileWith(`${lines(entry(1))}{"id"`);
    const found: Entry[] = [];
    const reader = RecordReader.open(file, LEDGER, ({ value }) => found.push(value));
    appendFileSync(file, ':2,"text":""}\n');
    expect([found, reader.torn]).toEqual([[entry(1)], `${file}:2`]);
    reader.close();
  });
});
