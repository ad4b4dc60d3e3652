import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { awaitChildEnd } from './child-end.ts';

/** A shell whose grandchild leaves its process group and holds the output for a minute. */
const LEAVES_ONE = 'setsid sleep 60 & echo said; exit 3';

test('a process that a child left behind holds neither its end nor its output', async () => {
  const child = spawn('sh', ['-c', LEAVES_ONE], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  expect(await awaitChildEnd(child)).toEqual({ code: 3, signal: null });
  expect(said).toBe('said\n');
  expect(child.stdout.destroyed && child.stderr.destroyed).toBe(true);
});

test('a program that cannot be started ends with its error', async () => {
  const child = spawn('/no/such/program', [], { stdio: 'ignore' });
  expect(await awaitChildEnd(child)).toMatchObject({ code: null, error: { code: 'ENOENT' } });
});
