import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { docxOf, docxParagraph, pdfOf, pdfText } from './testing/documents.ts';
import { taskPlace } from './testing/task-place.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('documents are read for a process that may read the code and the files of the task only, and links lead nowhere (RA-52)', async () => {
  const place = taskPlace({
    'a.csv': 'a,b\n1,2\n',
    'a.pdf': pdfOf([pdfText(['a page'])]),
    'a.docx': await docxOf(docxParagraph('a letter')),
  });
  writeFileSync(path.join(place.outside, 'secret.txt'), 'secret');
  symlinkSync('../secret.txt', path.join(place.files, 'link.txt'));
  const script = `
    import { dataTools } from ${JSON.stringify(new URL('../data-tools.ts', import.meta.url).href)};
    const place = { ...${JSON.stringify({ ...place, signal: undefined })}, signal: new AbortController().signal };
    const said = [];
    for (const [name, file] of [['read_excel', 'A.CSV'], ['read_pdf', 'a.pdf'], ['read_docx', 'a.docx'], ['read_file', 'link.txt']]) {
      const tool = await dataTools[name].load();
      said.push(await tool.run({ file }, place).then(({ text }) => text, ({ message }) => message));
    }
    console.log(JSON.stringify(said));`;
  const main = path.join(place.outside, 'main.mjs');
  writeFileSync(main, script);
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--permission',
    '--allow-child-process',
    `--allow-fs-read=${root}`,
    `--allow-fs-read=${place.files}${path.sep}`,
    `--allow-fs-read=${main}`,
    main,
  ]);
  expect(JSON.parse(stdout)).toEqual([
    expect.stringContaining('| 2 | 1 | 2 |'),
    expect.stringContaining('a page'),
    expect.stringContaining('a letter'),
    expect.stringContaining('link to something outside'),
  ]);
});
