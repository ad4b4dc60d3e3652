import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { type ModelScript, startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import { loadPrompt } from '@gaia-mesh/tools/prompts.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { writtenFile } from '../../testing/team-file.ts';

const folder = temporaryFolder();
const CHANGED = writtenFile(
  folder,
  'changed.md',
  loadPrompt('route').replace('You decide', 'You, a wise one, decide'),
);
const FIXTURES = writtenFile(
  folder,
  'fixtures.jsonl',
  [
    {
      name: 'facts',
      variables: { question: 'Who wrote it?', tools: '', prior: '' },
      expect: [{ field: 'type', equals: 'web' }],
    },
    {
      name: 'a sum',
      variables: { question: '2 + 2?', tools: '', prior: '' },
      expect: [{ field: 'type', equals: 'math' }],
    },
  ]
    .map((fixture) => JSON.stringify(fixture))
    .join('\n'),
);

/** The old prompt is always answered with web, the changed one as it should be. */
const wise: ModelScript = ({ messages }) => {
  const isWise = messages[0]?.content.includes('a wise one');
  const type = isWise && messages[1]?.content.includes('2 + 2') ? 'math' : 'web';
  return { content: { type } };
};

async function promptTest(script: ModelScript, args: readonly string[], engine: readonly string[] = []) {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  const how =
    engine.length > 0 ? engine : ['--engine', 'openai', '--model', 'scripted', '--host', `${server.url}/v1`];
  return { ...(await callCli(['prompt-test', ...args, ...how])), server };
}

describe('prompt-test', () => {
  test('runs the prompt that ships and a changed one on fixtures, and shows what each passes and how they differ (REQ-081)', async () => {
    const { code, stdout, stderr, server } = await promptTest(wise, [
      'route',
      '--with',
      CHANGED,
      '--fixtures',
      FIXTURES,
    ]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      [
        'route   old     new',
        'facts   passed  passed',
        'a sum   failed  passed',
        'passed  1 of 2  2 of 2',
        'tokens  220     220',
        '',
        'facts',
        '  the replies are the same',
        '',
        'a sum',
        '  old reply: type is "web", expected "math"',
        '  - {"type":"web"}',
        '  + {"type":"math"}',
        '',
      ].join('\n'),
    );
    expect(server.requests).toHaveLength(4);
    expect(server.requests[0]?.messages[1]?.content).toBe('Question: Who wrote it?');
  });

  test('prints the same as JSON (REQ-081)', async () => {
    const { stdout } = await promptTest(wise, ['route', '--with', CHANGED, '--fixtures', FIXTURES, '--json']);

    expect(JSON.parse(stdout)).toMatchObject({
      schema_version: 1,
      prompt: 'route',
      fixtures: 2,
      passed: { old: 1, new: 2 },
      results: [{ fixture: 'facts' }, { fixture: 'a sum', new: { reply: '{"type":"math"}', faults: [] } }],
    });
  });

  test('takes the fixtures that ship where none are named, and tells the answer format (REQ-006, REQ-081)', async () => {
    const same = writtenFile(folder, 'same.md', loadPrompt('answer-math'));
    const { code, stdout, server } = await promptTest(
      [{ content: 'FINAL ANSWER: 144' }],
      ['answer-math', '--with', same],
    );

    expect(code).toBe(0);
    expect(stdout).toContain('passed                          1 of 2  1 of 2');
    expect(server.requests[0]?.messages[0]?.content).toContain('FINAL ANSWER: [YOUR FINAL ANSWER]');
  });

  test('exits with 1 where the change passes fewer', async () => {
    const { code } = await promptTest(
      ({ messages }) => ({ content: { type: messages[0]?.content.includes('a wise one') ? 'code' : 'web' } }),
      ['route', '--with', CHANGED, '--fixtures', FIXTURES],
    );

    expect(code).toBe(1);
  });

  test('works with another engine with a model, too', async () => {
    const server = await startModelServer(wise, { models: ['scripted'] });
    onTestFinished(() => server.close());
    const { code, stdout } = await promptTest(
      wise,
      ['route', '--with', CHANGED, '--fixtures', FIXTURES],
      ['--engine', 'ollama', '--model', 'scripted', '--host', server.url],
    );

    expect(code).toBe(0);
    expect(stdout).toContain('1 of 2  2 of 2');
  });

  test('writes nothing to the terminal but text, whatever a model says', async () => {
    const { stdout } = await promptTest(
      [{ content: '\u001b[2J{"type":"web"}' }],
      ['route', '--with', CHANGED, '--fixtures', FIXTURES],
    );

    expect(stdout).not.toContain('\u001b');
  });

  test.each([
    [
      'a prompt that leaves a variable out',
      'no-question.md',
      '## system\n\nx\n\n## user\n\ny\n',
      'no-question.md does not use {{question}}',
    ],
    [
      'a prompt with a variable that the step has not',
      'more.md',
      '## system\n\n{{colour}}\n\n## user\n\n{{question}}\n',
      'more.md has {{colour}}',
    ],
    ['a prompt without sections', 'flat.md', '{{question}}', 'must have a section "## system"'],
  ])('refuses %s', async (_, name, text, message) => {
    const file = writtenFile(folder, name, text);
    const { code, stderr } = await promptTest(wise, ['route', '--with', file, '--fixtures', FIXTURES]);

    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test.each([
    ['a file that is not there', ['route', '--with', 'none.md'], 'none.md: there is no such file'],
    ['a prompt that nobody knows', ['knows-nobody', '--with', CHANGED], 'unknown prompt "knows-nobody"'],
    ['a prompt without fixtures', ['search', '--with', CHANGED], 'no fixtures ship for the prompt search'],
    ['an engine without a model', ['route', '--with', CHANGED, '--engine', 'extractive'], 'has no model'],
  ])('refuses %s', async (_, args, message) => {
    const { code, stderr } = await callCli(['prompt-test', ...args]);

    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('says so where the model fails', async () => {
    const { code, stderr } = await promptTest(
      [{ status: 401, error: 'bad key' }],
      ['route', '--with', CHANGED, '--fixtures', FIXTURES],
    );

    expect(code).toBe(1);
    expect(stderr).toContain('bad key');
  });
});

const shipped = readdirSync(path.join(codeFolder, 'config', 'prompt-fixtures')).filter((name) =>
  name.endsWith('.jsonl'),
);
/** Prompts of the pipeline's steps, whose replies are numbers of the document's parts. */
const WITHOUT = ['search', 'extract', 'triple', 'reason'];

describe('the fixtures that ship', () => {
  test('are there for every prompt of a role (REQ-081)', () => {
    const prompts = readdirSync(path.join(codeFolder, 'config', 'prompts'))
      .filter((name) => name !== 'README.md')
      .map((name) => path.basename(name, '.md'))
      .filter((name) => !WITHOUT.includes(name));

    expect(shipped.map((name) => path.basename(name, '.jsonl')).sort()).toEqual(prompts.sort());
  });

  test.each(shipped)('%s fills in all variables of its prompt, and no others', async (name) => {
    const prompt = path.basename(name, '.jsonl');
    const same = path.join(codeFolder, 'config', 'prompts', `${prompt}.md`);
    const { code, stderr, server } = await promptTest([{ content: 'a reply' }], [prompt, '--with', same]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(server.requests.length).toBeGreaterThan(3);
    for (const { messages } of server.requests) expect(messages).toHaveLength(2);
  });
});

interface TriedCase {
  readonly reply: string;
  /** The reply to the changed prompt, if it is another. */
  readonly changed?: string;
  readonly expect: readonly object[];
}

/** Tries the prompt of the route with a fixture for each case, whose model gives the reply of the case to both prompts. */
async function tryCases(cases: readonly TriedCase[], ...words: readonly string[]) {
  const fixtures = writtenFile(
    temporaryFolder(),
    'cases.jsonl',
    cases
      .map((one, at) => ({
        name: `case ${at}`,
        variables: { question: `Case ${at}.`, tools: '', prior: '' },
        expect: one.expect,
      }))
      .map((fixture) => JSON.stringify(fixture))
      .join('\n'),
  );
  const script: ModelScript = ({ messages }) => {
    const { reply = '', changed = reply } =
      cases[Number(/Case (\d+)\./.exec(messages[1]?.content ?? '')?.[1])] ?? {};
    return { content: messages[0]?.content.includes('a wise one') ? changed : reply };
  };
  return promptTest(script, ['route', '--with', CHANGED, '--fixtures', fixtures, ...words]);
}

test('a reply is held to each expectation, and every one that is not met is said', async () => {
  const json = '{"type": "web", "steps": [{"uses": []}], "done": null}';
  const cases: readonly [readonly object[], string, readonly string[]][] = [
    [[{ contains: 'Heron' }], 'a heron', []],
    [[{ contains: 'heron' }], 'a crow', ['does not contain "heron"']],
    [[{ excludes: 'heron' }], 'a crow', []],
    [[{ excludes: 'Heron' }], 'a heron', ['contains "Heron"']],
    [[{ matches: '^final answer:\\s*\\d+$' }], 'FINAL ANSWER: 42', []],
    [[{ matches: '^\\d+$' }], '42 km', ['does not match /^\\d+$/']],
    [[{ field: 'type', equals: 'web' }], json, []],
    [[{ field: 'steps.0.uses', equals: [] }], json, []],
    [[{ field: 'done', equals: null }], json, []],
    [[{ field: 'type', equals: 'math' }], json, ['type is "web", expected "math"']],
    [[{ field: 'steps.1.uses', equals: [] }], json, ['steps.1.uses is not there, expected []']],
    [[{ field: 'toString', equals: 'x' }], json, ['toString is not there, expected "x"']],
    [[{ field: 'type', equals: 'web' }], `Sure:\n\`\`\`json\n${json}\n\`\`\``, []],
    [[{ field: 'type', equals: 'web' }], 'web', ['is not JSON, so it has no type']],
    [
      [{ contains: 'heron' }, { contains: 'crow' }, { excludes: 'crow' }],
      'crow',
      ['does not contain "heron"', 'contains "crow"'],
    ],
  ];
  const { stdout } = await tryCases(
    cases.map(([expected, reply]) => ({ reply, expect: expected })),
    '--json',
  );

  const { results } = JSON.parse(stdout) as { results: { new: { reply: string; faults: string[] } }[] };
  expect(results.map((one) => [one.new.reply, one.new.faults])).toEqual(
    cases.map(([, reply, faults]) => [reply, faults]),
  );
});

test('replies are compared line by line, removed lines before added ones, as far as anybody reads', async () => {
  const long = Array.from({ length: 700 }, (_, i) => `line ${i}`).join('\n');
  const cases: readonly [string, string, readonly string[]][] = [
    ['a\nb\nc', 'a\nx\nc', ['    a', '  - b', '  + x', '    c']],
    ['a\nc', 'a\nb\nc', ['    a', '  + b', '    c']],
    ['a\nb\nc', 'a\nc', ['    a', '  - b', '    c']],
    ['a', 'b', ['  - a', '  + b']],
    [long, `${long}!`, [...long.split('\n', 500).map((line) => `    ${line}`), '    [200 more lines]']],
  ];
  const expected = [{ excludes: 'none of it' }];
  const { stdout } = await tryCases(cases.map(([reply, changed]) => ({ reply, changed, expect: expected })));

  const parts = stdout.trimEnd().split('\n\n').slice(1);
  expect(parts).toEqual(cases.map(([, , lines], at) => [`case ${at}`, ...lines].join('\n')));
});

describe('a file of fixtures', () => {
  const good = { name: 'a', variables: {}, expect: [{ contains: 'b' }] };

  test.each([
    ['that is no JSON', '{"name":', ':1: not JSON'],
    ['without anything expected', JSON.stringify({ ...good, expect: [] }), ':1: expect'],
    ['with an unknown expectation', JSON.stringify({ ...good, expect: [{ like: 'b' }] }), ':1: expect.0'],
    [
      'with a pattern that is none',
      JSON.stringify({ ...good, expect: [{ matches: '(' }] }),
      'no regular expression',
    ],
    ['with an unknown key', JSON.stringify({ ...good, variable: {} }), 'variable'],
    ['with a mistake on a later line', `${JSON.stringify(good)}\n\n{}`, ':3: name'],
    ['without a fixture', '\n', 'it has no fixtures'],
    ['that is not there', undefined, 'there is no such file'],
  ])('%s is refused, with file and line', async (_, text, message) => {
    const file = path.join(temporaryFolder(), 'fixtures.jsonl');
    if (text !== undefined) writeFileSync(file, text);
    const { code, stderr } = await callCli(['prompt-test', 'route', '--with', CHANGED, '--fixtures', file]);

    expect(code).toBe(2);
    expect(stderr).toContain('fixtures.jsonl');
    expect(stderr).toContain(message);
  });
});
