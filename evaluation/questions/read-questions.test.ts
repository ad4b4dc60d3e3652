import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MAX_DOCUMENT_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readDocument, readTaskFile, readTaskFolder, readTruth } from './read-questions.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-task-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(path.join(folder, name), content);
  return path.join(folder, name);
}

describe('a task folder', () => {
  test.each(['document.txt', 'document.md', 'gaia_doc.txt'])('has its document in %s', (name) => {
    file(name, 'It is.');
    file(
      'ground_truth.json',
      '{"question": "Is it?", "answer": 42, "aliases": ["forty-two"], "note": "ignored"}',
    );

    expect(readTaskFolder(folder)).toEqual({
      taskId: path.basename(folder),
      question: 'Is it?',
      document: 'It is.',
      truths: ['42', 'forty-two'],
    });
  });

  test.each([
    ['no document', () => file('ground_truth.json', '{"question":"q","answer":"a"}'), 'document.txt'],
    ['no truth', () => file('document.txt', 'x'), 'ground_truth.json'],
    [
      'a truth without a question',
      () => {
        file('document.txt', 'x');
        file('ground_truth.json', '{"answer":"a"}');
      },
      'needs a "question"',
    ],
    [
      'a document that is a link out of it',
      () => {
        file('ground_truth.json', '{"answer":"a","question":"q"}');
        symlinkSync('/etc/hosts', path.join(folder, 'document.txt'));
      },
      'leads out of its folder',
    ],
    [
      'a truth that is no JSON',
      () => {
        file('document.txt', 'x');
        file('ground_truth.json', '{');
      },
      'not JSON',
    ],
  ])('with %s is refused by name', (_what, make, message) => {
    make();

    expect(() => readTaskFolder(folder)).toThrow(expect.objectContaining({ code: 'config' }));
    expect(() => readTaskFolder(folder)).toThrow(message);
    expect(() => readTaskFolder(folder)).toThrow(folder);
  });
});

describe('a ground truth', () => {
  test.each(['[]', '{}', '{"answer": null}', '{"answer": {}}', '"a"'])('is refused when it is %s', (text) => {
    const name = file('ground_truth.json', text);

    expect(() => readTruth(name)).toThrow(name);
  });
});

describe('a task file', () => {
  test('gives its tasks in order, with all they have', () => {
    const name = file(
      'tasks.jsonl',
      [
        '{"task_id": 7, "question": "q", "document": "d", "answer": 1.5, "aliases": [2, "two"], "level": 3, "source": "s"}',
        '',
        '{"task_id": "b", "question": "q", "document": "", "aliases": null, "more": true}',
      ].join('\n'),
    );

    expect(readTaskFile(name).tasks).toEqual([
      {
        taskId: '7',
        question: 'q',
        document: 'd',
        truths: ['1.5', '2', 'two'],
        category: 'text',
        level: '3',
        source: 's',
      },
      { taskId: 'b', question: 'q', document: '', truths: [], category: 'text' },
    ]);
  });

  test('gives a document from the line that it stands in, unless that has changed', () => {
    const name = file('changing.jsonl', '{"task_id":"a","question":"?","document":"one"}\n');
    const [task] = readTaskFile(name).tasks;
    expect(task?.document).toBe('one');
    file('changing.jsonl', '{"task_id":"b","question":"?","document":"two"}\n');
    expect(() => task?.document).toThrow(`${name}:1: the line has changed since the run began`);
  });

  test('is read no further than its limit', () => {
    const name = file('tasks.jsonl', '{"task_id":"a","question":"q","document":"d"}\nrubbish\n');

    expect(readTaskFile(name, 1).tasks).toHaveLength(1);
    expect(() => readTaskFile(name, 2)).toThrow(`${name}:2: not JSON`);
  });

  test.each([0, 257])('refuses an id of %d characters', (length) => {
    const name = file('tasks.jsonl', `{"task_id":"${'i'.repeat(length)}","question":"q","document":"d"}`);

    expect(() => readTaskFile(name)).toThrow(`${name}:1: task_id`);
  });
});

describe('a document', () => {
  test('is UTF-8, without its byte order mark', () => {
    expect(readDocument(file('a.txt', '\ufeffZoë 🏁'))).toBe('Zoë 🏁');
  });

  test('may be UTF-16, as questions may be', () => {
    const name = file('a.txt', '');
    writeFileSync(name, Buffer.from('\ufeffZoë 🏁', 'utf16le'));
    expect(readDocument(name)).toBe('Zoë 🏁');
  });

  test('has a size limit, to the byte', () => {
    const name = file('a.txt', '');
    truncateSync(name, MAX_DOCUMENT_BYTES + 1);

    expect(() => readDocument(name)).toThrow(
      `${MAX_DOCUMENT_BYTES + 1} bytes, larger than ${MAX_DOCUMENT_BYTES}`,
    );
    // A file at the limit is read, and refused only for its NUL bytes, since it is a hole.
    truncateSync(name, MAX_DOCUMENT_BYTES);
    expect(() => readDocument(name)).toThrow('NUL bytes');
    writeFileSync(name, new Uint8Array([0xff, 0xfe, 0xfd]));
    expect(() => readDocument(name)).toThrow(
      'not UTF-8 text: save it as UTF-8; a document is UTF-8 text or Markdown, or with --document PDF, DOCX, PPTX, HTML, EPUB, a spreadsheet or CSV',
    );
  });
});
