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
