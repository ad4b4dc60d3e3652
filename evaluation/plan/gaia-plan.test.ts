import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { gaiaTable, planGaia } from './gaia-plan.ts';

test('a page of results is not written by teams that learned from earlier runs', async () => {
  const folder = temporaryFolder();
  const questions = path.join(folder, 'q.jsonl');
  writeFileSync(questions, '{"task_id":"a","question":"What is a?","Final answer":"b"}\n');
  const plan = (team: string, out: string, write: boolean) =>
    planGaia(
      gaiaTable.options.parse({ team, questions, out: path.join(folder, out), write }),
      new AbortController().signal,
    );
  const { paths } = await plan('overseer', 'a.jsonl', true);
  mkdirSync(path.dirname(paths.store), { recursive: true });
  writeFileSync(paths.store, '');

  await expect(plan('overseer', 'a.jsonl', true)).rejects.toThrow(
    /^--write: teams have learned from earlier runs \(.*attempts\.sqlite\)/,
  );
  await expect(plan('overseer', 'a.jsonl', false)).resolves.toBeDefined();
  await expect(plan('overseer', 'b.jsonl', true)).resolves.toBeDefined();
  await expect(plan('react', 'a.jsonl', true)).resolves.toBeDefined();
});
