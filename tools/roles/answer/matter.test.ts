import { expect, test } from 'vitest';
import { matterOf } from './matter.ts';

type Reply = Awaited<ReturnType<Parameters<typeof matterOf>[0]['use']>>;

/** A role that may ask these tools, by tool and file; what it said and asked is kept. */
function roleWith(replies: Readonly<Record<string, Reply>>) {
  const said: string[] = [];
  const tools = [...new Set(Object.keys(replies).map((key) => key.split(' ')[0] ?? ''))];
  const work = {
    tools: tools.map((tool) => ({ id: tool, tool })),
    reasoning: (text: string) => void said.push(text),
    use: (tool: string, { file }: { file?: unknown }) =>
      Promise.resolve(replies[`${tool} ${file}`] ?? { error: { code: 'tool', message: `no ${file}` } }),
  };
  return { work, said };
}

const TABLE = 'a.csv: spreadsheet\n\n| a | b |\n| --- | --- |\n| 1 | 2 |';

test('an archive is opened member by member: texts, tables, pictures and programs, each by the tool for it', async () => {
  const names = ['notes.txt', 'a.csv', 'sign.png', 'run.py', 'talk.mp3', 'inner.zip', 'gone.txt'];
  const { work, said } = roleWith({
    'read_zip b.zip': { text: 'list', data: { entries: names.map((name) => ({ name, bytes: 1 })) } },
    'read_file b.zip/notes.txt': { text: 'notes.txt: text\n\nThe lamp was lit.' },
    'read_excel b.zip/a.csv': { text: TABLE },
    'analyze_image b.zip/sign.png': { text: 'Text in it', data: { text: 'HARBOUR' } },
    'execute_python_file b.zip/run.py': { text: '42\n', data: { status: 'ok' } },
  });
  expect(await matterOf(work, 'b.zip')).toEqual([
    { form: 'text', name: 'b.zip/notes.txt', text: 'The lamp was lit.' },
    { form: 'table', name: 'b.zip/a.csv', text: TABLE.slice(TABLE.indexOf('|')) },
    { form: 'text', name: 'b.zip/sign.png', text: 'HARBOUR' },
    { form: 'printed', name: 'b.zip/run.py', text: '42' },
  ]);
  expect(said).toContain('opens b.zip/run.py with execute_python_file');
});

test.each([
  ['a.mp3', {}, 'a.mp3 is a recording'],
  ['a.py', {}, 'a.py is a program'],
  [
    'a.py',
    { 'execute_python_file a.py': { text: 'Traceback', data: { status: 'error' } } },
    'a.py is a program that did not run to its end',
  ],
  ['a.csv', { 'read_excel a.csv': { text: 'no table' } }, 'a.csv is a table'],
  [
    'a.zip',
    { 'read_zip a.zip': { text: 'list', data: { entries: [] } } },
    'a.zip is an archive, and nothing in it can be read',
  ],
  ['a.txt', { 'read_file a.txt': { error: { code: 'tool', message: 'it is gone' } } }, 'it is gone'],
] as const)('of %s it says what stands in the way', async (file, replies, lacking) => {
  expect(await matterOf(roleWith(replies).work, file)).toEqual({ lacking });
});
