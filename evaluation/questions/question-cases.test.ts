import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readQuestionFile } from './question-rows.ts';
import { readTaskFile } from './read-questions.ts';

/** Files of questions as people and their programs write them. To add one, write a row. */
interface Case {
  readonly what: string;
  readonly name: string;
  readonly content: string | Buffer;
  /** Ids with their truths, or a part of the error. */
  readonly read: Readonly<Record<string, readonly string[]>> | string;
}

const rows = [
  { task_id: 'a', question: 'What is the capital of France?', answer: 'Paris' },
  { task_id: 'b', question: 'And “of” Norway; really?', answer: 'Oslo' },
];
const both = { a: ['Paris'], b: ['Oslo'] };
const lines = rows.map((row) => JSON.stringify(row)).join('\n');
const pretty = rows.map((row) => JSON.stringify(row, null, 2)).join('\n');
const toUtf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const toCsv = (delimiter: string) =>
  ['task_id', 'question', 'answer'].join(delimiter) +
  rows.map((row) => `\r\n${row.task_id}${delimiter}"${row.question}"${delimiter}${row.answer}`).join('');

const cases: readonly Case[] = [
  {
    what: 'an empty truth is none, as a question mark is',
    name: 'q.jsonl',
    content: [
      { task_id: 'a', Question: 'q', 'Final answer': '' },
      { task_id: 'b', Question: 'q', 'Final answer': '?' },
      { task_id: 'c', Question: 'q', 'Final answer': ' ', answer: 'Oslo', aliases: ['', 'oslo'] },
      { task_id: 'd', question: 'q', answer: '', aliases: [] },
    ]
      .map((row) => JSON.stringify(row))
      .join('\n'),
    read: { a: [], b: [], c: ['Oslo', 'oslo'], d: [] },
  },
  { what: 'a JSON array', name: 'q.json', content: JSON.stringify(rows), read: both },
  {
    what: 'an array over lines, with a mark',
    name: 'q.json',
    content: `\ufeff${JSON.stringify(rows, null, 2)}`,
    read: both,
  },
  {
    what: 'an array that is longer than what is looked at first',
    name: 'q.json',
    content: JSON.stringify([...rows, { task_id: 'c', question: 'é'.repeat(100_000) }]),
    read: { ...both, c: [] },
  },
  {
    what: 'a broken array',
    name: 'q.json',
    content: '[{"task_id":"a"},',
    read: 'expected a JSON array of objects',
  },
  {
    what: 'an item that is no question, by its line',
    name: 'q.json',
    content: JSON.stringify([rows[0], { task_id: 'b' }], null, 2),
    read: 'q.json:7: question: ',
  },
  { what: 'values over several lines', name: 'q.jsonl', content: pretty, read: both },
  {
    what: 'a value over several lines that is cut',
    name: 'q.jsonl',
    content: pretty.slice(0, 50),
    read: 'q.jsonl:1: not JSON',
  },
  {
    what: 'a line that is no JSON',
    name: 'q.jsonl',
    content: `${lines}\n{"task_id": "c",\n"question": "q"}`,
    read: 'expected one JSON object a line, or all of them in a JSON array',
  },
  { what: 'UTF-16', name: 'q.jsonl', content: toUtf16(lines), read: both },
  { what: 'an array in UTF-16', name: 'q.json', content: toUtf16(JSON.stringify(rows)), read: both },
  { what: 'CSV with semicolons and a mark', name: 'q.csv', content: `\ufeff${toCsv(';')}`, read: both },
  { what: 'CSV that names its delimiter', name: 'q.csv', content: `sep=|\r\n${toCsv('|')}`, read: both },
  { what: 'CSV with tabs in UTF-16', name: 'q.csv', content: toUtf16(toCsv('\t')), read: both },
  {
    what: 'CSV that is not Unicode',
    name: 'q.csv',
    content: Buffer.from('task_id,question\na,caf\u00e9\n', 'latin1'),
    read: 'cannot be read as CSV: The encoded data was not valid for encoding utf-8',
  },
  { what: 'CSV with commas', name: 'q.csv', content: toCsv(','), read: both },
];

const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-questions-'));
afterAll(() => rmSync(folder, { recursive: true }));

function written({ name, content }: Pick<Case, 'name' | 'content'>): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

test.each(cases)('$what', async ({ read, ...own }) => {
  const questions = readQuestionFile(written(own));
  if (typeof read === 'string') {
    await expect(questions).rejects.toThrow(read);
    return;
  }
  const found = (await questions).questions.map(({ taskId, truths }) => [taskId, truths]);
  expect(Object.fromEntries(found)).toEqual(read);
});

test('tasks with documents may be an array, too', () => {
  const tasks = rows.map((row) => ({ ...row, document: `about ${row.task_id}` }));
  const file = written({ name: 't.json', content: JSON.stringify(tasks, null, 1) });
  expect(readTaskFile(file).tasks).toMatchObject([
    { taskId: 'a', document: 'about a', truths: ['Paris'] },
    { taskId: 'b', document: 'about b', truths: ['Oslo'] },
  ]);
});
