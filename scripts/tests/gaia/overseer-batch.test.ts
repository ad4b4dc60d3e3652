import path from 'node:path';
import { openStore } from '@gaia-mesh/evaluation/store/open-store.ts';
import { OVERSEER_REPLIES, TRUTH } from '@gaia-mesh/evaluation/teams/overseer/testing/overseer.ts';
import { startRoleModel } from '@gaia-mesh/tools/roles/testing/role-model.ts';
import { expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

/** The overseer's team without its data tools: real processes, few of them. */
const TEAM = {
  ...{
    name: 'overseer',
    routing: 'direct',
    entry: 'runner',
    final: 'runner',
    scorer: 'gaia',
    use_cache: false,
  },
  agents: [
    { id: 'runner', tool: 'oversee', may_call: ['plan', 'execute', 'diagnose', 'abstract', 'gap_store'] },
    ...['plan', 'execute', 'diagnose', 'abstract', 'gap_store'].map((id) => ({ id, tool: id, may_call: [] })),
  ],
};

const QUESTIONS = ['one', 'two'].map((task_id) => ({
  task_id,
  question: `Which surname is in line ${task_id}?`,
  answer: TRUTH,
}));

test('a question that the deadline ends is an attempt on record, beside those that were answered; the batch goes on (OV-37, RA-59)', async () => {
  const model = await startRoleModel({
    ...OVERSEER_REPLIES,
    execute: ({ messages }) =>
      messages.some(({ content }) => content.includes('line one'))
        ? { hang: true }
        : { content: `FINAL ANSWER: ${TRUTH}` },
  });
  const folder = temporaryFolder();
  writtenFile(folder, 'q.jsonl', QUESTIONS.map((question) => JSON.stringify(question)).join('\n'));

  const { code, stderr } = await callCli(
    [
      ...[
        'gaia',
        '--team',
        teamFile(TEAM),
        '--questions',
        'q.jsonl',
        '--out',
        'a.jsonl',
        '--store',
        'kept.sqlite',
      ],
      ...['--engine', 'openai', '--base-url', `${model.url}/v1`, '--model', 'm', '--question-time', '6'],
    ],
    { cwd: folder },
  );

  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`may read and write all that is in ${folder}: give it a folder of its own`);
  const answers = jsonLines(path.join(folder, 'a.jsonl'));
  expect(answers.map(({ status, correct }) => [status, correct])).toEqual([
    ['timeout', false],
    ['answered', true],
  ]);
  const store = await openStore(path.join(folder, 'kept.sqlite'), { warn: (text) => expect(text).toBe('') });
  const attempts = await store.attempts({});
  await store.close();
  expect(attempts).toMatchObject([
    { task_id: 'one', resolution_type: 'tool_limit', pm_plan: { strategy: 'read the letter' } },
    { task_id: 'two', resolution_type: 'correct' },
  ]);
  expect(attempts[0]?.seconds).toBeGreaterThan(0);
});
