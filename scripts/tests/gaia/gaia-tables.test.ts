import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { jsonLines, temporaryFolder } from '../../testing/cli.ts';

const ROWS = [
  ['Year', 'Ship, or boat', 'Port', 'Passengers'],
  ['1901', 'Halcyon', 'Dunnavoe', '1,204'],
  ['1902', 'Merrow', 'Sallow', '860'],
  ['1903', 'Petrel "II"', 'Dunnavoe', '1,950'],
];
const QUESTIONS = [
  { id: 'q-1', question: 'which ship carried the most passengers?', answers: ['Petrel "II"'] },
  { id: 'q-2', question: 'list the ships with the port dunnavoe', answers: ['Petrel "II"', 'Halcyon'] },
  { id: 'q-3', question: 'how many ships sailed from dunnavoe?', answers: ['5'] },
];
const lines = (entries: readonly object[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

function wtqFiles(table = '1-a/b') {
  const folder = temporaryFolder();
  const files = { questions: path.join(folder, 'q.jsonl.gz'), tables: path.join(folder, 't.jsonl') };
  writeFileSync(files.questions, gzipSync(lines(QUESTIONS.map((question) => ({ ...question, table })))));
  writeFileSync(
    files.tables,
    lines([
      { id: '0-0', rows: [['a'], ['b']] },
      { id: '1-a/b', rows: ROWS },
    ]),
  );
  return { ...files, out: path.join(folder, 'answers.jsonl') };
}

test('teams answer questions about tables in the form of WikiTableQuestions, judged as its evaluator does', async () => {
  const { questions, tables, out } = wtqFiles();
  const args = ['gaia', '--team', 'single,react', '--engine', 'extractive', '--format', 'wtq'];
  args.push('--engine-option', 'temperature=0', '--engine-option', 'threshold=0.05');
  const { code, stdout, stderr } = await callCli([
    ...[...args, '--questions', questions, '--tables', tables, '--out', out, '--json', '--port-base', 'auto'],
  ]);
  expect(code, stderr).toBe(0);
  const summary = JSON.parse(stdout);
  const answers = jsonLines(out);
  expect(answers.map(({ team, task_id }) => [team, task_id])).toEqual(
    ['single', 'react'].flatMap((team) => ['q-1', 'q-2', 'q-3'].map((id) => [team, id])),
  );
  for (const team of ['single', 'react']) {
    const own = answers.filter((answer) => answer.team === team);
    expect(own[0]).toMatchObject({ final_answer: 'Petrel "II"', correct: true });
    expect(own[1]).toMatchObject({ final_answer: ['Halcyon', 'Petrel "II"'], correct: true });
    expect(own[2]).toMatchObject({ final_answer: '2', correct: false });
    expect(own[0]?.confidence).toBeGreaterThan(0.05);
    expect(summary.teams[team]).toMatchObject({ questions: 3, correct: 2 });
    expect(summary.teams[team].calibration).toMatchObject({ coverage: 1, accuracy_of_given: 2 / 3 });
  }
  expect(readFileSync(out, 'utf8')).toContain('probability');
});

test.each([
  ['temperature=-1', 'temperature'],
  ['temperature', 'expected NAME=VALUE'],
])('an engine’s option %s is refused before anything starts', async (option, message) => {
  const { questions, tables, out } = wtqFiles();
  const { code, stderr } = await callCli([
    ...['gaia', '--team', 'single', '--format', 'wtq', '--questions', questions, '--tables', tables],
    ...['--out', out, '--engine-option', option],
  ]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test.each([
  ['a table that is not there', ['--tables', 'tables'], /there is no table 9-9 in /],
  ['no tables', [], /--format wtq takes --questions FILE and --tables FILE/],
])('%s is said before anything starts', async (_what, given, message) => {
  const { questions, tables, out } = wtqFiles('9-9');
  const { code, stderr } = await callCli([
    ...['gaia', '--team', 'single', '--format', 'wtq', '--questions', questions, '--out', out],
    ...given.map((word) => (word === 'tables' ? tables : word)),
  ]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
