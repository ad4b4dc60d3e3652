import { readdirSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { renderPrompt } from '@gaia-mesh/tools/engines/prompt.ts';
import { loadPrompt } from '@gaia-mesh/tools/prompts.ts';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../testing/cli.ts';
import { writtenFile } from '../testing/team-file.ts';
import { listVariables, readFixtures } from './prompt-test.ts';

const folder = path.join(codeFolder, 'config', 'prompt-fixtures');
const shipped = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));

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

  test.each(shipped)('%s fills in all variables of its prompt, and no others', (name) => {
    const prompt = path.basename(name, '.jsonl');
    const text = loadPrompt(prompt);
    const fixtures = readFixtures(path.join(folder, name));

    expect(fixtures.length).toBeGreaterThan(1);
    for (const { variables } of fixtures) {
      const forms = listVariables(text).filter((name) => /^(?:answer|report)_format$/.test(name));
      const given = Object.fromEntries(forms.map((name) => [name, 'as it is']));
      expect(renderPrompt(prompt, text, { ...given, ...variables })).toHaveLength(2);
    }
  });
});

describe('a file of fixtures', () => {
  const good = { name: 'a', variables: {}, expect: [{ contains: 'b' }] };

  test.each([
    ['that is no JSON', '{"name":', ':1: not JSON'],
    ['without anything expected', JSON.stringify({ ...good, expect: [] }), ':1: expect'],
    [
      'with an expectation that nobody knows',
      JSON.stringify({ ...good, expect: [{ like: 'b' }] }),
      ':1: expect.0',
    ],
    [
      'with a pattern that is none',
      JSON.stringify({ ...good, expect: [{ matches: '(' }] }),
      'no regular expression',
    ],
    ['with a key that nobody knows', JSON.stringify({ ...good, variable: {} }), 'variable'],
    ['with a mistake on a later line', `${JSON.stringify(good)}\n\n{}`, ':3: name'],
    ['without a fixture', '\n', 'it has no fixtures'],
  ])('%s is refused, with file and line', (_, text, message) => {
    const file = writtenFile(temporaryFolder(), 'fixtures.jsonl', text);

    expect(() => readFixtures(file)).toThrow(
      expect.objectContaining({ code: 'config', message: expect.stringContaining(message) }),
    );
  });

  test('that is not there is refused by its name', () => {
    const file = path.join(temporaryFolder(), 'none.jsonl');

    expect(() => readFixtures(file)).toThrow(`fixtures ${file}: there is no such file`);
  });
});
