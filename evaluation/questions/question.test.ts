import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { questionSchema, toAttemptId } from './question.ts';
import { readQuestions } from './read-questions.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-questions-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(lines: readonly (object | string)[]): string {
  const file = path.join(folder, 'metadata.jsonl');
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  writeFileSync(file, `${texts.join('\n')}\n`);
  return file;
}

describe('questions from a file', () => {
  test("are GAIA's own: Level as number or text, `?` for an answer that is kept back, no file as an empty name (REQ-007, C-27)", () => {
    const file = fileOf([
      {
        task_id: '00000000-0000-4000-8000-000000000001',
        Question: 'How many legs do three spiders have together?',
        Level: 1,
        'Final answer': '24',
        file_name: '',
        'Annotator Metadata': { Steps: '1. Multiply 8 by 3.', 'Number of tools': '0' },
      },
      { task_id: 'b', Question: 'Sum it.', Level: '2', 'Final answer': '?', file_name: 'b.xlsx' },
    ]);

    expect(readQuestions(file).questions).toEqual([
      {
        taskId: '00000000-0000-4000-8000-000000000001',
        question: 'How many legs do three spiders have together?',
        level: '1',
        category: 'text',
        truths: ['24'],
      },
      { taskId: 'b', question: 'Sum it.', level: '2', category: 'table', truths: [], fileName: 'b.xlsx' },
    ]);
  });

  test('are plain lines, in their order, with all they have', () => {
    const file = fileOf([
      { task_id: 7, question: 'q', answer: 1.5, aliases: [2, 'two'], level: 3, file_name: 'sub/notes.PDF' },
      '',
      { task_id: 'c', question: 'See https://youtu.be/x', category: 'films', document: 'A text.', more: 1 },
      { task_id: 'd', question: 'See https://www.youtube.com/watch?v=x' },
    ]);

    expect(readQuestions(file).questions).toEqual([
      {
        taskId: '7',
        question: 'q',
        level: '3',
        category: 'document',
        truths: ['1.5', '2', 'two'],
        fileName: 'notes.PDF',
      },
      { taskId: 'c', question: 'See https://youtu.be/x', category: 'films', truths: [], document: 'A text.' },
      { taskId: 'd', question: 'See https://www.youtube.com/watch?v=x', category: 'video', truths: [] },
    ]);
  });

  test.each([
    ['no JSON', '{"task_id": "b", "question":', 'not JSON'],
    ['a list', '[]', 'expected object'],
    ['no id', '{"question": "q"}', 'task_id'],
    ['no question', '{"task_id": "b"}', 'neither Question nor question'],
    ['an empty question', '{"task_id": "b", "question": ""}', 'question'],
    ['a level that is a list', '{"task_id": "b", "question": "q", "level": []}', 'level'],
    ['an id as long as a path', `{"task_id": "${'i'.repeat(249)}", "question": "q"}`, 'task_id'],
  ])(
    'with %s in a line are a critical error that names file and line (C-21, REQ-073)',
    (_what, line, message) => {
      const file = fileOf([{ task_id: 'a', question: 'q' }, line]);

      expect(() => readQuestions(file)).toThrow(expect.objectContaining({ code: 'config' }));
      expect(() => readQuestions(file)).toThrow(`${file}:2: `);
      expect(() => readQuestions(file)).toThrow(message);
    },
  );

  test('are refused when an id comes twice, when there is none, and when the file cannot be read', () => {
    const twice = fileOf([{ task_id: 7, question: 'q' }, '', { task_id: '7', question: 'r' }]);
    expect(() => readQuestions(twice)).toThrow(`${twice}:3: task_id 7 is on line 1 too`);
    expect(() => readQuestions(fileOf(['', ' ']))).toThrow('there is no question in it');
    expect(() => readQuestions(path.join(folder, 'none.jsonl'))).toThrow('there is no such file');
    expect(() => readQuestions(folder)).toThrow('it is a folder');
    writeFileSync(path.join(folder, 'x.jsonl'), Buffer.from([0xff, 0x20]));
    expect(() => readQuestions(path.join(folder, 'x.jsonl'))).toThrow('not UTF-8');
  });

  test('have a fingerprint that changes with any byte', () => {
    const first = readQuestions(fileOf([{ task_id: 'a', question: 'q' }])).sha256;

    expect(readQuestions(fileOf([{ task_id: 'a', question: 'q' }])).sha256).toBe(first);
    expect(readQuestions(fileOf([{ task_id: 'a', question: 'q', level: 1 }])).sha256).not.toBe(first);
  });
});

describe("a file's name", () => {
  const nameOf = (file_name: string) =>
    questionSchema.parse({ task_id: 'q', question: 'What is in it?', file_name }).fileName;

  test.each([
    ['data.xlsx', 'data.xlsx'],
    ['2023/validation/data.xlsx', 'data.xlsx'],
    ['../../etc/passwd', 'passwd'],
    ['/etc/passwd', 'passwd'],
    ['C:\\windows\\system.ini', 'system.ini'],
    ['a\u0000b\n.txt', 'ab.txt'],
    ['..', undefined],
    ['a/..', undefined],
    ['a/', undefined],
    ['', undefined],
    [' ', undefined],
  ])('%j becomes %j: plain, without folders (RA-03, RA-52)', (given, name) => {
    expect(nameOf(given)).toBe(name);
  });

  test('keeps its ending when it is cut to what file systems take', () => {
    const name = nameOf(`${'é'.repeat(200)}.xlsx`) ?? '';

    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect(name).toMatch(/^é+\.xlsx$/);
    expect(nameOf('a'.repeat(255))).toHaveLength(255);
  });
});

test("an attempt's id is the task's own, and from the second cycle on one of its own", () => {
  expect([toAttemptId('a', 1), toAttemptId('a', 2)]).toEqual(['a', 'a#2']);
});
