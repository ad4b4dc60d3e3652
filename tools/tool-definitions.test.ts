import { expect, test } from 'vitest';
import * as z from 'zod';
import { dataTools } from './data-tools.ts';
import { grammarFault } from './fixtures/llama-grammar.ts';
import { buildToolDefinitions, resolveCalledTool, splitReason } from './tool-definitions.ts';

const partners = Object.keys(dataTools).map((tool) => ({ id: tool, tool }));
const READERS = ['read_excel', 'read_pdf', 'read_docx', 'read_pptx', 'read_zip'];

test('every data tool but the store is an object of arguments, as every server takes it (RA-25)', async () => {
  // Tools are listed one by one, so that each is shown by its own name.
  const definitions = (await Promise.all(partners.map((partner) => buildToolDefinitions([partner])))).flat();

  expect(definitions.map(({ name }) => name).sort()).toEqual(
    Object.keys(dataTools)
      .filter((name) => name !== 'gap_store')
      .sort(),
  );
  for (const { name, description, parameters } of definitions) {
    expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(description.length).toBeGreaterThan(20);
    expect(parameters).toMatchObject({ type: 'object', properties: {} });
    expect({ name, fault: grammarFault(parameters) }).toEqual({ name, fault: undefined });
    expect(JSON.stringify(parameters)).not.toMatch(/"(?:\$schema|pattern|format|maxLength|maximum)":/);
  }
});

test('one tool reads files of every kind; the file decides which agent is asked', async () => {
  const [reader, ...others] = await buildToolDefinitions([
    ...['read_file', ...READERS].map((tool) => ({ id: tool, tool })),
    { id: 'calculator', tool: 'calculator' },
  ]);
  expect(others.map(({ name }) => name)).toEqual(['calculator']);
  expect(reader).toMatchObject({ name: 'read_file', parameters: { required: ['file'] } });
  expect(reader?.description).toMatch(/spreadsheet.*PDF/);
  expect(Object.keys(Object(reader?.parameters.properties))).toEqual(
    expect.arrayContaining(['file', 'sheet', 'pages', 'entry']),
  );
  expect(resolveCalledTool('read_file', { file: 'a.XLSX' }, partners)).toBe('read_excel');
  expect(resolveCalledTool('read_file', { file: 'a.py' }, partners)).toBe('read_file');
  expect(resolveCalledTool('read_file', { file: 'a.png' }, partners)).toBe('read_file');
  expect(resolveCalledTool('read_pdf', { file: 'a.pdf' }, partners)).toBe('read_pdf');
  expect(resolveCalledTool('read_file', { file: 'a.pdf' }, [{ id: 'read_file', tool: 'read_file' }])).toBe(
    'read_file',
  );
  expect(
    resolveCalledTool('read_pdf', { file: 'a.pdf' }, [{ id: 'read_file', tool: 'read_file' }]),
  ).toBeUndefined();
  expect(resolveCalledTool('gap_store', {}, partners)).toBeUndefined();
});

const ONLY_FOR_SOME = ['query_table', 'analyze_image', 'understand_audio', 'execute_python_file'];

test.each([
  ['a.csv', ['query_table']],
  ['a.txt', []],
  ['a.png', ['analyze_image']],
  ['a.mp3', ['understand_audio']],
  ['a.py', ['execute_python_file']],
  ['a.zip', ONLY_FOR_SOME],
  ['a.xyz', ONLY_FOR_SOME],
  [undefined, ONLY_FOR_SOME],
])(
  'beside %s a model is not offered what is for files of another kind, and may call it',
  async (file, suiting) => {
    const offered = (await buildToolDefinitions(partners, file)).map(({ name }) => name);
    expect(offered.filter((name) => ONLY_FOR_SOME.includes(name)).sort()).toEqual([...suiting].sort());
    expect(offered).toEqual(expect.arrayContaining(['read_file', 'calculator', 'python_repl']));
    for (const name of ONLY_FOR_SOME) expect(resolveCalledTool(name, {}, partners)).toBe(name);
  },
);

test('no data tool has an argument of its own that is named like the reason', async () => {
  for (const [name, { load, needs }] of Object.entries(dataTools)) {
    // Models may not call the store.
    if (needs?.store === true) continue;
    const { input } = await load();
    const schema = JSON.stringify(z.toJSONSchema(input, { io: 'input' }));
    expect({ name, hasReason: schema.includes('"reason":') }).toEqual({ name, hasReason: false });
  }
});

test('agents without a data tool are no tools of a model, and a tool of two agents is one', async () => {
  const definitions = await buildToolDefinitions([
    { id: 'planner', tool: 'plan' },
    { id: 'a', tool: 'calculator' },
    { id: 'b', tool: 'calculator' },
  ]);

  expect(definitions.map(({ name }) => name)).toEqual(['calculator']);
});

test.each([
  [{ reason: 'to know', file: 'a' }, 'to know', { file: 'a' }],
  [{ file: 'a' }, '', { file: 'a' }],
  [{ reason: 7, file: 'a' }, '', { file: 'a' }],
])('the reason is taken out of the arguments: %j', (given, reason, args) => {
  expect(splitReason(given)).toEqual({ reason, args });
});
