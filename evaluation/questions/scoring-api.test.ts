import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { resolveTaskFolder } from '@gaia-mesh/core/agent/task-files.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ScoringScript,
  type ScoringServer,
  startScoringServer,
} from '../batch/testing/scoring-server.ts';
import { findMissingFiles, placeFile } from './place-file.ts';
import { ScoringApi } from './scoring-api.ts';

const items = [
  { task_id: 'a-1', question: 'How many legs do three spiders have together?', Level: '1', file_name: '' },
  { task_id: 'b-2', question: 'Sum the second column.', Level: '1', file_name: 'b-2.xlsx' },
];

let folder = '';
const servers: ScoringServer[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-api-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  for (const server of servers.splice(0)) await server.close();
});

async function apiOf(script: Partial<ScoringScript> = {}, signal = new AbortController().signal) {
  const server = await startScoringServer({ questions: items, ...script });
  servers.push(server);
  return { server, api: new ScoringApi(server.url, signal, { firstBackoffMs: 1 }) };
}

describe('the scoring API', () => {
  test('gives its questions, checked, with their files’ names (SV-02, RA-02)', async () => {
    const { api } = await apiOf();

    const { questions, sha256 } = await api.questions();

    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(questions).toEqual([
      { taskId: 'a-1', question: items[0]?.question, level: '1', category: 'text', truths: [] },
      {
        taskId: 'b-2',
        question: items[1]?.question,
        level: '1',
        category: 'table',
        truths: [],
        fileName: 'b-2.xlsx',
      },
    ]);
  });

  test.each([
    ['no JSON', '<html>', 'the reply is not JSON'],
    ['no list', '{"detail": "x"}', 'expected array'],
    ['nothing', '[]', 'there is no question in it'],
    ['an item without a question', '[{"task_id": "a"}]', '0.question'],
    [
      'an id twice',
      '[{"task_id":"a","question":"q"},{"task_id":"a","question":"q"}]',
      'task_id a comes twice',
    ],
  ])('that replies with %s is named, with what is wrong (RA-02)', async (_what, questions, message) => {
    const { api, server } = await apiOf({ questions });

    await expect(api.questions()).rejects.toMatchObject({ code: 'config' });
    await expect(api.questions()).rejects.toThrow(`${server.url}/questions: `);
    await expect(api.questions()).rejects.toThrow(message);
  });

  test('is asked for the file of a question alone, whatever its id is', async () => {
    const id = '../submit?a=b#c';
    const bytes = Buffer.from('1,2');
    const { api, server } = await apiOf({ files: { [id]: { name: 'a.csv', bytes } } });
    const target = path.join(folder, 'a.csv');
    expect(await api.file(id, target)).toMatchObject({ bytes: 3 });
    expect(readFileSync(target)).toEqual(bytes);
    expect(server.requests).toEqual([`GET /files/${encodeURIComponent(id)}`]);
  });

  test('that is busy is asked again, five times at most', async () => {
    const patient = await apiOf({ refusals: 5 });
    expect((await patient.api.questions()).questions).toHaveLength(2);
    expect(patient.server.requests).toHaveLength(6);

    const busy = await apiOf({ refusals: 6 });
    await expect(busy.api.questions()).rejects.toThrow('HTTP 429: Too many requests');
    expect(busy.server.requests).toHaveLength(6);
  });

  test('that names a time to wait is given it, and Ctrl-C ends the waiting', async () => {
    const interrupt = new AbortController();
    const { api, server } = await apiOf({ refusals: 1, retryAfter: '3600' }, interrupt.signal);

    const asked = api.questions();
    await expect.poll(() => server.requests.length).toBe(1);
    interrupt.abort(new Error('interrupted'));

    await expect(asked).rejects.toThrow('interrupted');
    expect(server.requests).toHaveLength(1);
  });

  test('that refuses a submission says which field it missed', async () => {
    const body = '{"detail":[{"type":"missing","loc":["body","answers"],"msg":"Field required","input":{}}]}';
    const { api } = await apiOf({ submitFailure: { status: 422, body } });

    await expect(api.submit({ username: 'u', agent_code: 'c', answers: [] })).rejects.toThrow(
      'HTTP 422: body.answers: Field required',
    );
  });

  test('that is not there is said to be, and an address that is none is refused', async () => {
    const { api, server } = await apiOf();
    await server.close();
    servers.splice(0);

    await expect(api.questions()).rejects.toMatchObject({ code: 'io' });
    const signal = new AbortController().signal;
    for (const url of ['', 'questions.jsonl', 'file:///etc', 'http://me:secret@host'])
      expect(() => new ScoringApi(url, signal)).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(() => new ScoringApi('http://me:secret@host', signal)).not.toThrow('secret');
  });
});

describe("a question's file", () => {
  const question = {
    taskId: 'b-2',
    question: 'Sum it.',
    category: 'table',
    truths: [],
    fileName: 'b-2.xlsx',
  };
  const bytes = Buffer.from('a,b\n1,2\n');
  const rootOf = () => path.join(folder, 'files');
  const own = () => path.join(folder, 'own');

  function ownFile(name: string): string {
    mkdirSync(own(), { recursive: true });
    writeFileSync(path.join(own(), name), bytes);
    return path.join(own(), name);
  }

  test('is copied from the user’s folder into the task’s own before it is asked, and the API is left alone (REQ-051, C-34, C-35)', async () => {
    ownFile('b-2.xlsx');
    const { api, server } = await apiOf({
      files: { 'b-2': { name: 'b-2.xlsx', bytes: Buffer.from('other') } },
    });

    const { attachment } = await placeFile(question, 1, { root: rootOf(), folder: own(), api });

    const file = path.join(resolveTaskFolder(rootOf(), 'b-2'), 'b-2.xlsx');
    expect(attachment).toMatchObject({ status: 'placed', file, bytes: 8, from: 'folder' });
    expect(readFileSync(file)).toEqual(bytes);
    expect(server.requests).toEqual([]);
  });

  test('that is a link out of the folder is not read: a private key would become a document', async () => {
    const key = path.join(path.dirname(own()), 'id_rsa');
    mkdirSync(own(), { recursive: true });
    writeFileSync(key, 'PRIVATE');
    symlinkSync(key, path.join(own(), 'b-2.xlsx'));

    const { attachment } = await placeFile(question, 1, { root: rootOf(), folder: own() });

    expect(attachment).toMatchObject({
      status: 'missing',
      reason: expect.stringContaining('leads out of its folder'),
    });
    expect(readdirSync(resolveTaskFolder(rootOf(), 'b-2'))).toEqual(['downloads']);
    rmSync(key);
  });

  test('is fetched to downloads/ where the folder has none (RA-03, SV-12)', async () => {
    const { api, server } = await apiOf({ files: { 'b-2': { name: '../../x.xlsx', bytes } } });

    const { attachment } = await placeFile(question, 1, { root: rootOf(), folder: own(), api });

    const file = path.join(resolveTaskFolder(rootOf(), 'b-2'), 'downloads', 'b-2.xlsx');
    expect(attachment).toMatchObject({ status: 'placed', file, bytes: 8, from: 'api' });
    expect(readFileSync(file)).toEqual(bytes);
    expect(server.requests).toEqual(['GET /files/b-2']);
  });

  test('that nobody has is said to be missing, with both places, and nothing throws (RA-04, RA-59, C-35)', async () => {
    const { api, server } = await apiOf();

    const { attachment } = await placeFile(question, 1, { root: rootOf(), folder: own(), api });

    expect(attachment).toEqual({
      status: 'missing',
      name: 'b-2.xlsx',
      reason:
        `${path.join(own(), 'b-2.xlsx')}: there is no such file; ` +
        `${server.url}/files/b-2: HTTP 404: No file path associated with task_id b-2.`,
    });
  });

  test('that breaks off leaves nothing behind', async () => {
    const large = Buffer.alloc(200_000, 1);
    const { api } = await apiOf({ files: { 'b-2': { name: 'b-2.xlsx', bytes: large } }, tearsFiles: true });

    const { attachment } = await placeFile(question, 1, { root: rootOf(), api });

    expect(attachment).toMatchObject({ status: 'missing', reason: expect.stringContaining('it was lost') });
    expect(readdirSync(path.join(resolveTaskFolder(rootOf(), 'b-2'), 'downloads'))).toEqual([]);
  });

  test('that cannot be had is reported with its path before anything is asked (REQ-052)', async () => {
    ownFile('there.csv');
    mkdirSync(path.join(own(), 'folder.csv'));
    const of = (taskId: string, fileName: string) => ({ ...question, taskId, fileName });
    const { fileName: _none, ...bare } = question;

    expect(
      await findMissingFiles([of('a', 'there.csv'), of('b', 'none.csv'), of('c', 'folder.csv'), bare], own()),
    ).toEqual([
      { taskId: 'b', why: `${path.join(own(), 'none.csv')}: there is no such file` },
      { taskId: 'c', why: `${path.join(own(), 'folder.csv')}: it is a folder` },
    ]);
  });
});
