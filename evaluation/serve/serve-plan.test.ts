import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test } from 'vitest';
import { checkOptionNeeds } from '../plan/option-table.ts';
import { servePlan, serveTable } from './serve-plan.ts';

const parse = (typed: object = {}) => serveTable.options.parse(typed);
const folder = temporaryFolder();
const plan = (typed: object = {}) => servePlan(parse({ out: folder, ...typed }));

describe('the options of serve', () => {
  test('ask for one team on this machine alone, with few waiting, where nothing is typed', () => {
    expect(parse()).toMatchObject({
      team: 'pipeline',
      a2a: false,
      port: 7700,
      listen: '127.0.0.1',
      waiting: 16,
      maxBytes: 1_048_576,
      pushTo: [],
      json: false,
      quiet: false,
    });
    expect(parse()).not.toHaveProperty('mcp');
    expect(parse()).not.toHaveProperty('token');
  });

  test.each([
    [{ mcp: 'http' }, { mcp: 'http' }],
    [{ mcp: 'stdio' }, { mcp: 'stdio' }],
    [{ port: '0' }, { port: 0 }],
    [{ port: '65535' }, { port: 65_535 }],
    [{ token: 'MY_TOKEN' }, { token: 'MY_TOKEN' }],
    [{ token: false }, { token: false }],
    [{ pushTo: 'a.example, b.example' }, { pushTo: ['a.example', 'b.example'] }],
    [
      { waiting: '1', maxBytes: '1' },
      { waiting: 1, maxBytes: 1 },
    ],
  ])('take %j', (typed, read) => {
    expect(parse(typed)).toMatchObject(read);
  });

  test.each([
    { port: '65536' },
    { port: '-1' },
    { mcp: 'tcp' },
    { token: true },
    { waiting: '0' },
    { maxBytes: '0' },
    { maxBytes: '1.5' },
  ])('refuse %j', (typed) => {
    expect(() => parse(typed)).toThrow();
  });

  test.each<[object, string | undefined]>([
    [{ task: 'x' }, undefined],
    [{ task: 'x', document: 'y' }, '--task does not go with --document (choose one of them)'],
    [{ port: 1, mcp: 'http' }, undefined],
    [
      { port: 1, mcp: 'stdio' },
      '--port does not go with --mcp stdio (the one client on standard input and output',
    ],
    [{ listen: 'x', mcp: 'stdio' }, '--listen does not go with --mcp stdio'],
    [{ token: 'X', mcp: 'stdio' }, '--token does not go with --mcp stdio'],
    [{ token: false, mcp: 'stdio' }, '--no-token'],
    [{ port: 1, listen: 'x', token: 'X', mcp: 'stdio', a2a: true }, undefined],
    [{ pushTo: ['x'] }, undefined],
    [
      { pushTo: ['x'], mcp: 'http' },
      '--push-to does not go with --mcp (only A2A clients have webhooks (--a2a))',
    ],
    [{ pushTo: ['x'], mcp: 'http', a2a: true }, undefined],
    [{ replies: ['x'], model: 'm' }, '--model'],
    [{ host: 'x', baseUrl: 'y' }, '--base-url does not go with --host'],
    [{ restart: 'on-failure' }, undefined],
  ])('given as %j are refused by name where they have no effect', (given, fault) => {
    const check = () => checkOptionNeeds(serveTable, new Map(Object.entries(given)));
    if (fault === undefined) check();
    else expect(check).toThrow(fault);
  });
});

describe('a team to be served', () => {
  test.each([
    [{}, { mcp: 'http', a2a: true }],
    [{ mcp: 'http' }, { mcp: 'http', a2a: false }],
    [{ mcp: 'stdio' }, { mcp: 'stdio', a2a: false }],
    [{ a2a: true }, { mcp: undefined, a2a: true }],
    [
      { a2a: true, mcp: 'stdio' },
      { mcp: 'stdio', a2a: true },
    ],
  ])('speaks the protocols of %j, or both', async (typed, protocols) => {
    expect(await plan(typed)).toMatchObject(protocols);
  });

  test('gets its questions from clients, each as a task of its own, within its limits', async () => {
    const { planned, mesh, limits, document } = await plan({
      concurrency: '3',
      waiting: '5',
      maxBytes: '700',
      portBase: '9100',
    });
    expect(planned.team.name).toBe('pipeline');
    expect(planned.out).toBe(folder);
    expect(limits).toEqual({ tasks: 3, waiting: 5, bytes: 700 });
    expect(document).toBeUndefined();
    expect(mesh).toEqual({
      questions: [],
      repeat: 1,
      isBatch: true,
      resumes: false,
      limits: {},
      external: new Set(),
      portBase: 9100,
      paths: { store: path.join(folder, 'store', 'attempts.sqlite') },
    });
  });

  test('tells clients whether it has a document, and what the team is', async () => {
    const { description } = await plan();
    expect(description).toMatch(/^A team of agents that answers a question \(\S.*\)$/);
    const file = path.join(folder, 'note.txt');
    writeFileSync(file, 'Ida built it.');
    const own = await plan({ document: file });
    expect(own.document).toBe('Ida built it.');
    expect(own.description).toBe(
      description.replace('a question', 'a question about a document that it has'),
    );
    const task = path.join(folder, 'bridge');
    mkdirSync(task);
    writeFileSync(path.join(task, 'document.txt'), 'Uta crossed it.');
    writeFileSync(path.join(task, 'ground_truth.json'), '{"question":"Who?","answer":"Uta"}');
    const given = await plan({ task });
    expect([given.document, given.description]).toEqual(['Uta crossed it.', own.description]);
  });

  test('keeps what it learned in the store that was named, and refuses one that it does not use', async () => {
    const store = path.join(folder, 'own.sqlite');
    expect((await plan({ team: 'overseer', store })).mesh.paths.store).toBe(store);
    await expect(plan({ store })).rejects.toThrow('--store has no effect');
  });
});
