import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { readQuestionFile, readTasks } from './question-rows.ts';

const folder = temporaryFolder();
let files = 0;

function written(extension: string, content: string | Uint8Array): string {
  files += 1;
  const file = path.join(folder, `${files}${extension}`);
  writeFileSync(file, content);
  return file;
}

/** Writes a table like the data set's own, with columns for the notes of annotators and for the paths of files. */
function gaiaTable(codec: 'SNAPPY' | 'ZSTD' = 'SNAPPY'): string {
  const buffer = parquetWriteBuffer({
    codec,
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    columnData: [
      { name: 'task_id', data: ['one', 'two'], type: 'STRING' },
      { name: 'Question', data: ['How many?', 'Which?'], type: 'STRING' },
      { name: 'Level', data: [1n, 3n], type: 'INT64' },
      { name: 'Final answer', data: ['7', '?'], type: 'STRING' },
      { name: 'file_name', data: ['', 'list.xlsx'], type: 'STRING' },
      { name: 'file_path', data: ['', '2023/validation/list.xlsx'], type: 'STRING' },
      { name: 'Annotator Metadata', data: [{ Steps: '1. Count' }, { Steps: '…' }], type: 'JSON' },
    ],
  });
  return written('.parquet', new Uint8Array(buffer));
}

test.each(['SNAPPY', 'ZSTD'] as const)('reads the table of GAIA, packed by %s', async (codec) => {
  const { questions } = await readQuestionFile(gaiaTable(codec));
  expect(questions).toEqual([
    { taskId: 'one', question: 'How many?', level: '1', category: 'text', truths: ['7'] },
    {
      taskId: 'two',
      question: 'Which?',
      level: '3',
      category: expect.any(String),
      truths: [],
      fileName: 'list.xlsx',
    },
  ]);
});

test('where a table has no name of a file, the place in the repository tells it', async () => {
  const file = written('.csv', 'task_id,question,file_path\n1,What?,2023/validation/a.csv\n');
  const { questions } = await readQuestionFile(file);
  expect(questions[0]?.fileName).toBe('a.csv');
});

test('reads tasks from CSV as from JSON lines', async () => {
  const file = written(
    '.csv',
    'task_id,question,document,answer\n7,When?,"On 3 October, 1868.",3 October\n8,Who?,Ida.,\n',
  );
  const { tasks } = await readTasks(file);
  expect(tasks).toMatchObject([
    { taskId: '7', question: 'When?', document: 'On 3 October, 1868.', truths: ['3 October'] },
    { taskId: '8', question: 'Who?', document: 'Ida.', truths: [] },
  ]);
  expect((await readTasks(file, 1)).tasks).toHaveLength(1);
  await expect(readTasks(written('.csv', 'task_id,question,document\n7,a,b\n7,c,d\n'))).rejects.toThrow(
    /:3: task_id 7 is on line 2 too/,
  );
});

test('reads CSV as people write it, with aliases as JSON', async () => {
  const text =
    '\ufefftask_id,question,answer,aliases,level\r\n7,"Who, and ""why""?",Ida,"[""I."",""Ida B.""]",\r\n';
  const { questions, sha256 } = await readQuestionFile(written('.CSV', text));
  expect(questions).toEqual([
    { taskId: '7', question: 'Who, and "why"?', category: 'text', truths: ['Ida', 'I.', 'Ida B.'] },
  ]);
  expect((await readQuestionFile(written('.csv', text))).sha256).toBe(sha256);
  expect((await readQuestionFile(written('.csv', text.replace('Ida,', 'Uta,')))).sha256).not.toBe(sha256);
});

test.each([
  ['.csv', 'task_id,question\n1,a\n1,b\n', '.csv:3: task_id 1 is on line 2 too'],
  ['.csv', 'task_id,question\n1,\n', '.csv:2: question: it has neither'],
  [
    '.csv',
    'sep=;\r\n\r\ntask_id;question\r\n1;"a\r\n\r\nb"\r\n\r\n2;"c\r\n"\r\n1;"d\r\ne"',
    '.csv:10: task_id 1 is on line 4 too',
  ],
  [
    '.csv',
    'id;question\n1;a\n',
    '.csv:1: expected the names of columns, one of them task_id, with commas, semicolons or tabs between them, not "id;question"',
  ],
  [
    '.csv',
    'task_id,question\n1,a,b\n',
    /^\S+\.csv \(23 bytes\) cannot be read as CSV: Invalid Record Length: columns length is 2, got 3 on line 2$/,
  ],
  ['.csv', new Uint8Array([0xff, 0xfe, 0xfd]), 'cannot be read'],
  ['.parquet', 'PAR1 but no more', 'cannot be read'],
])('refuses a %s that is none', async (extension, content, message) => {
  const file = written(extension, content);
  const read = readQuestionFile(file);
  await expect(read).rejects.toThrow(message);
  await expect(read).rejects.toThrow(file);
});

test('a table that was cut in the middle is refused', async () => {
  const whole = readFileSync(gaiaTable());
  for (const bytes of [Math.floor(whole.length / 2), whole.length - 1])
    await expect(readQuestionFile(written('.parquet', whole.subarray(0, bytes)))).rejects.toThrow(
      'cannot be read',
    );
});

/** A footer of 100 bytes that says that its list of columns has 2 ** 31 − 1 entries. */
function claimingTable(): Buffer {
  const footer = Buffer.concat([
    Buffer.from([0x15, 0x02, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07]),
    Buffer.alloc(91),
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.from('PAR1'), footer, length, Buffer.from('PAR1')]);
}

test('a table of 112 bytes that claims two thousand million columns is refused within its memory', async () => {
  const before = process.memoryUsage().rss;
  await expect(readQuestionFile(written('.parquet', claimingTable()))).rejects.toThrow(
    /was not read|cannot be read/,
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
}, 30_000);
