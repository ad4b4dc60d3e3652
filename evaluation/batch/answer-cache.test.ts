import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gaiaTable, planGaia } from '../plan/gaia-plan.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { createStoreCache, exportCacheFile, importCacheFile } from './answer-cache.ts';
import { attemptOf, questionOf } from './testing/results.ts';

let folder = '';
let store: Store;
const warnings: string[] = [];
beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-cache-'));
  warnings.length = 0;
  store = await openStore(path.join(folder, 'store.sqlite'), { warn: (text) => warnings.push(text) });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const setup = { model: 'openai/m', promptVersion: 'p1' };
const answer = attemptOf('a');
const file = (sha256: string) => ({
  status: 'placed' as const,
  name: 'x',
  file: '/x',
  bytes: 1,
  sha256,
  from: 'folder' as const,
});

describe("a team's part of the answer cache", () => {
  test('is kept by question, file, team, model and prompts (C-11)', async () => {
    const cache = createStoreCache(store, 'panel', setup);
    const question = questionOf('a', { attachment: file('1') });
    await cache.put(question, answer);

    expect(await cache.get(question)).toMatchObject({
      final_answer: '4',
      reasoning_trace: expect.stringMatching(/^From the answer cache/),
    });
    expect(
      await cache.get(questionOf('b', { question: question.question, attachment: file('1') })),
    ).toBeDefined();
    const others = [
      createStoreCache(store, 'react', setup).get(question),
      createStoreCache(store, 'panel', { ...setup, model: 'openai/n' }).get(question),
      createStoreCache(store, 'panel', { ...setup, promptVersion: 'p2' }).get(question),
      createStoreCache(store, 'panel', { ...setup, servers: 'http://127.0.0.1:1/v1' }).get(question),
      createStoreCache(store, 'panel', { ...setup, servers: `http://127.0.0.1:1/${'v1'.repeat(99)}` }).get(
        question,
      ),
      cache.get(questionOf('a', { attachment: file('2') })),
      cache.get(questionOf('a', { attachment: file('1'), document: 'A text.' })),
      cache.get(questionOf('a')),
    ];
    for (const other of await Promise.all(others)) expect(other).toBeUndefined();
  });

  test('keeps models apart whose many servers have the same beginning', async () => {
    const at = (last: string) => ({
      ...setup,
      servers: `http://127.0.0.1:1/${'v1'.repeat(99)} http://${last}`,
    });
    const question = questionOf('a');
    await createStoreCache(store, 'panel', at('one')).put(question, answer);
    expect(await createStoreCache(store, 'panel', at('two')).get(question)).toBeUndefined();
    expect(await createStoreCache(store, 'panel', at('one')).get(question)).toBeDefined();
  });

  test('keeps nothing of a question whose file was missing: with it, the answer may be another', async () => {
    const cache = createStoreCache(store, 'panel', setup);
    const question = questionOf('a', { attachment: { status: 'missing', name: 'x', reason: 'none' } });
    await cache.put(question, answer);

    expect(await cache.get(question)).toBeUndefined();
    expect(await cache.get(questionOf('a'))).toBeUndefined();
  });
});

describe('the plain cache file', () => {
  /** Plans a batch of the team `single` with two questions, one of which has a file. */
  async function planned() {
    writeFileSync(
      path.join(folder, 'q.jsonl'),
      '{"task_id":"a","question":"What is a?"}\n{"task_id":"b","question":"What is b?","file_name":"b.txt"}\n',
    );
    const cacheFile = path.join(folder, 'agent_cache.json');
    const options = gaiaTable.options.parse({
      team: 'single',
      questions: path.join(folder, 'q.jsonl'),
      out: path.join(folder, 'a.jsonl'),
      cacheFile,
    });
    const plan = await planGaia(options, new AbortController().signal);
    const [only] = plan.teams;
    if (only === undefined) throw new Error('there is one team');
    const take = () => importCacheFile(plan, store, (text) => warnings.push(text));
    const cache = createStoreCache(store, only.team.name, only.fingerprint);
    return { plan, cacheFile, take, cache };
  }

  test('is taken in before a batch, but for questions with a file, and written after it (RA-07, RA-13)', async () => {
    const { plan, cacheFile, take, cache } = await planned();
    writeFileSync(cacheFile, JSON.stringify({ 'What is a?': 'A', 'What is b?': 'B', 'What is c?': ' ' }));
    await take();

    expect(await cache.get(questionOf('a'))).toMatchObject({ final_answer: 'A' });
    expect(await cache.get(questionOf('b'))).toBeUndefined();

    await cache.put(questionOf('b', { attachment: file('1') }), { ...answer, final_answer: 'B2' });
    await exportCacheFile(plan, store);
    expect(JSON.parse(readFileSync(cacheFile, 'utf8'))).toEqual({ 'What is a?': 'A', 'What is b?': 'B2' });
  });

  test('that is corrupt is put aside, and the user is told (RA-09, RA-59)', async () => {
    const { cacheFile, take, cache } = await planned();
    writeFileSync(cacheFile, '{"What is a?": "A"');
    await take();

    expect(await cache.get(questionOf('a'))).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('the cache starts empty')]);
    expect(readdirSync(folder)).toContain('agent_cache.json.corrupt-1');
  });
});
