import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Workspace } from '../../agent/workspace.ts';
import { toUsage } from '../../contracts/usage.ts';
import { RunUsage } from './run-usage.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-usage-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const workspaceOf = (id: string) =>
  new Workspace(path.join(folder, id), { id, tool: 'reason', engine: 'openai' });
const reply = (model: string, costUsd: number | null) =>
  toUsage('reason', { model, promptTokens: 100, completionTokens: 10, costUsd });
const sums = (n: number, cost_usd: number | null) => ({
  model_calls: n,
  prompt_tokens: 100 * n,
  completion_tokens: 10 * n,
  cost_usd,
});

test('what agents note of a task is there as soon as it is noted, by role and model', () => {
  const usage = new RunUsage(folder, ['a', 'b']);
  const [a, b] = [workspaceOf('a'), workspaceOf('b')];
  a.noteUsage('t', reply('large', 0.5));
  a.noteUsage('other', reply('large', 1));
  b.noteUsage('t', reply('large', 0.25));
  b.noteUsage('t', reply('small', 0.125));

  const book = usage.ended('t');

  expect(book.entries).toEqual([
    { ...reply('large', 0.75), calls: 2, prompt_tokens: 200, completion_tokens: 20 },
    reply('small', 0.125),
  ]);
  expect(book.total).toEqual(sums(3, 0.875));
  expect(usage.total).toEqual(sums(4, 1.875));
  a.close();
  b.close();
});

test('a task that asked no model took nothing; what comes after its end is in the total', () => {
  const usage = new RunUsage(folder, ['a']);
  expect(usage.ended('t').total).toEqual(sums(0, 0));

  const a = workspaceOf('a');
  a.noteUsage('t', reply('m', null));
  a.close();

  expect(usage.total).toEqual(sums(1, null));
});

test('what an earlier run left in the file of an agent that was started by hand is not of this one', () => {
  const before = workspaceOf('a');
  before.noteUsage('t', reply('m', 1));
  before.close();
  const usage = new RunUsage(folder, ['a']);

  const now = workspaceOf('a');
  now.noteUsage('t', reply('m', 2));
  now.close();

  expect(usage.ended('t').total).toEqual(sums(1, 2));
});

test('a line counts when it is whole, wherever it was cut; what is none is left out', () => {
  const line = `${JSON.stringify({ level: 'info', task_id: 't', ...reply('größer', 1) })}\n`;
  const bytes = Buffer.from(line);
  const file = path.join(folder, 'a', 'usage.log');
  mkdirSync(path.dirname(file));
  for (let cut = 0; cut <= bytes.length; cut++) {
    rmSync(file, { force: true });
    const usage = new RunUsage(folder, ['a']);
    appendFileSync(file, 'none of ours\n{"cut":"the log reached its end"}\n');
    appendFileSync(file, bytes.subarray(0, cut));
    const early = usage.total.model_calls;
    appendFileSync(file, bytes.subarray(cut));
    expect([cut, early, usage.ended('t').total]).toEqual([cut, cut === bytes.length ? 1 : 0, sums(1, 1)]);
  }
});

test('a file without lines, however long, and a link in its place show nothing and stop nobody', () => {
  const usage = new RunUsage(folder, ['a', 'b']);
  const a = workspaceOf('a');
  writeFileSync(path.join(folder, 'a', 'usage.log'), `${'x'.repeat(3 * 1024 * 1024)}\n`);
  mkdirSync(path.join(folder, 'b'));
  symlinkSync('/dev/zero', path.join(folder, 'b', 'usage.log'));
  expect(usage.total).toEqual(sums(0, 0));

  a.noteUsage('t', reply('m', 1));
  a.close();

  expect(usage.total).toEqual(sums(1, 1));
});
