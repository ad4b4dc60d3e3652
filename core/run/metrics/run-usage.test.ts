import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Workspace } from '../../agent/workspace.ts';
import { teamSchema } from '../../contracts/team.ts';
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

test('a reply counts once, however often its usage is read', () => {
  const usage = new RunUsage(folder, ['a', 'b']);
  const a = workspaceOf('a');
  a.noteUsage('t', reply('m', 1));

  expect([usage.total, usage.total]).toEqual([sums(1, 1), sums(1, 1)]);
  const book = usage.ended('t');
  expect(book.total).toEqual(sums(1, 1));
  expect(book.total).toEqual(sums(1, 1));
  expect(usage.ended('t').total).toEqual(sums(0, 0));

  // Another task, and the same one when it is asked again, start from nothing.
  a.noteUsage('t', reply('m', 2));
  a.noteUsage('other', reply('m', 4));
  expect(usage.ended('t').total).toEqual(sums(1, 2));
  expect(usage.ended('other').total).toEqual(sums(1, 4));
  expect(book.total).toEqual(sums(1, 1));
  expect(usage.total).toEqual(sums(3, 7));
  a.close();
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

/** Appends lines of usage to the file of the agent `a`, as any program may write them. */
function appendLines(...lines: readonly object[]): void {
  mkdirSync(path.join(folder, 'a'), { recursive: true });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  appendFileSync(path.join(folder, 'a', 'usage.log'), text);
}
const line = { task_id: 't', ...reply('m', 0.5) };

test('what one reply did not say is unknown in the sum, of its task and of all, and 0 nowhere', () => {
  const usage = new RunUsage(folder, ['a']);
  appendLines(
    { ...line, prompt_tokens: null },
    { ...line, task_id: 'u', completion_tokens: null },
    { ...line, task_id: 'v', cost_usd: null },
    { ...line, task_id: 'w', prompt_tokens: 0, completion_tokens: 0, cost_usd: 0 },
    line,
  );
  const known = { model_calls: 1, prompt_tokens: 100, completion_tokens: 10, cost_usd: 0.5 };
  expect(usage.ended('t').total).toEqual({ ...sums(2, 1), prompt_tokens: null });
  expect(usage.ended('u').total).toEqual({ ...known, completion_tokens: null });
  expect(usage.ended('v').total).toEqual({ ...known, cost_usd: null });
  expect(usage.ended('w').total).toEqual({ ...sums(0, 0), model_calls: 1 });
  expect(usage.total).toEqual({
    model_calls: 5,
    prompt_tokens: null,
    completion_tokens: null,
    cost_usd: null,
  });
});

test('cached tokens add up where a server says them, and are no prompt tokens of their own', () => {
  const usage = new RunUsage(folder, ['a']);
  appendLines({ ...line, cached_tokens: 60 }, line, { ...line, cached_tokens: 7 }, { ...line, role: 'plan' });
  const book = usage.ended('t');
  expect(book.entries).toEqual([
    { ...reply('m', 1.5), calls: 3, prompt_tokens: 300, completion_tokens: 30, cached_tokens: 67 },
    { ...reply('m', 0.5), role: 'plan' },
  ]);
  expect(book.total).toEqual(sums(4, 2));
});

test.each([
  { task_id: undefined },
  { task_id: 1 },
  { role: undefined },
  { model: null },
  { calls: -1 },
  { calls: 0.5 },
  { calls: null },
  { prompt_tokens: -1 },
  { prompt_tokens: 0.5 },
  { completion_tokens: '10' },
  { cached_tokens: -1 },
  { cached_tokens: null },
  { cost_usd: -0.01 },
])('a line is no usage with %o, and those around it are', (wrong) => {
  const usage = new RunUsage(folder, ['a']);
  appendLines(line, { ...line, ...wrong }, line);
  expect(usage.total).toEqual(sums(2, 1));
  expect(usage.ended('t').entries).toEqual([
    { ...reply('m', 1), calls: 2, prompt_tokens: 200, completion_tokens: 20 },
  ]);
});

describe('usage is read', () => {
  const teamWith = (...engines: readonly (string | undefined)[]) =>
    teamSchema.parse({
      version: 1,
      name: 'team',
      final: 'a',
      agents: engines.map((engine, index) => ({ id: ['a', 'b'][index], tool: 'none', engine })),
    });
  const embedded = { name: 'extractive', tokenSource: 'embedded' as const };
  const served = { name: 'openai', tokenSource: 'model' as const };

  test.each([
    ['where the team asks a model', { engine: served, team: teamWith(undefined) }],
    ['where one agent has another engine', { engine: embedded, team: teamWith(undefined, 'openai') }],
    [
      'where one agent hands work on',
      { engine: embedded, team: teamWith(undefined), unseen: new Set(['a']) },
    ],
  ])('%s', (_where, options) => {
    const usage = RunUsage.of(folder, options);
    appendLines(line);
    expect(usage?.total).toEqual(sums(1, 0.5));
  });

  test.each([
    ['an embedded engine', { engine: embedded, team: teamWith(undefined) }],
    ['agents that name the team’s own engine', { engine: embedded, team: teamWith('extractive', undefined) }],
    [
      'no agent that hands work on',
      { engine: embedded, team: teamWith(undefined), unseen: new Set<string>() },
    ],
  ])('nowhere in a team with %s', (_team, options) => {
    expect(RunUsage.of(folder, options)).toBeUndefined();
  });
});
