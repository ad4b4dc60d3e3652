import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { FileLock } from './file-lock.ts';

let file = '';
beforeEach(() => {
  file = path.join(temporaryFolder(), 'inside', 'lock');
});
afterEach(() => void vi.restoreAllMocks());

const take = () => FileLock.take(file, (holder) => `process ${holder} has it`);

/** Answers for the process that the lock names. */
function answerSignal(code: string | undefined): void {
  vi.spyOn(process, 'kill').mockImplementation(() => {
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    return true;
  });
}

test('is held until it is released', () => {
  const lock = take();
  expect(readFileSync(file, 'utf8')).toBe(`${process.pid}\n`);
  expect(take).toThrow(expect.objectContaining({ code: 'locked', message: `process ${process.pid} has it` }));
  lock.release();
  expect(existsSync(file)).toBe(false);
  take().release();
});

test.each([
  ['that runs', undefined, true],
  ['of another user that runs', 'EPERM', true],
  ['that has died', 'ESRCH', false],
])('of a process %s is held: %s, %s', (_what, code, isHeld) => {
  take().release();
  writeFileSync(file, '4242\n');
  answerSignal(code);
  if (isHeld) expect(take).toThrow('process 4242 has it');
  else take();
  expect(readFileSync(file, 'utf8')).toBe(isHeld ? '4242\n' : `${process.pid}\n`);
});

test.each(['', 'x', '-1', '0'])('that names no process, but %j, is free', (text) => {
  take().release();
  writeFileSync(file, text);
  take();
  expect(readFileSync(file, 'utf8')).toBe(`${process.pid}\n`);
});
