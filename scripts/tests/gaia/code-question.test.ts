import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runCli, temporaryFolder } from '../../testing/cli.ts';

// The bundle has other paths than the sources, and Python's process may read few of them.
test('the built command runs the code of a question', async () => {
  const cwd = temporaryFolder();
  const question = { Question: 'What number does the attached code print?', file_name: 'c.py' };
  writeFileSync(path.join(cwd, 'c.py'), 'print(6 * 7)');
  writeFileSync(
    path.join(cwd, 'q.jsonl'),
    JSON.stringify({ task_id: 'c', Level: 1, 'Final answer': '42', ...question }),
  );
  const asked = ['gaia', '--team', 'react', '--questions', 'q.jsonl', '--files', '.', '--no-cache'];
  const { code, stdout, stderr } = await runCli(
    [...asked, '--json', '--port-base', 'auto', '--out', 'a.jsonl'],
    { cwd },
  );
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).teams.react).toMatchObject({ answered: 1, accuracy: 1 });
});
