import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';
import * as z from 'zod';

const FOLDER = path.join(codeFolder, 'config', 'samples');

const sample = z.object({
  task_id: z.string(),
  Question: z.string(),
  Level: z.number(),
  file_name: z.string(),
  'Annotator Metadata': z.object({
    'Number of steps': z.coerce.number(),
    'Number of tools': z.coerce.number(),
  }),
});

const samples = readFileSync(path.join(FOLDER, 'questions.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => sample.parse(JSON.parse(line)));

const ENGLISH = /\b(?:a|an|and|find|give|how|in|is|many|of|the|to|what|which|who)\b/gi;

test('the sample questions are asked in English, one of them backwards (REQ-086)', () => {
  const strange = samples.filter(({ Question }) => (Question.match(ENGLISH) ?? []).length < 2);

  expect(strange.map(({ Question }) => [...Question].reverse().join(''))).toEqual([
    expect.stringMatching(/^If you can read this sentence, /),
  ]);
});

test('half of the sample questions at least are of Level 1, which takes up to five steps and, but for few, one tool (REQ-087)', () => {
  const first = samples.filter(({ Level }) => Level === 1);
  const numberOf = (name: 'Number of steps' | 'Number of tools') =>
    first.map((sample) => Number(sample['Annotator Metadata'][name]));

  expect(first.length).toBeGreaterThanOrEqual(samples.length / 2);
  expect(Math.max(...numberOf('Number of steps'))).toBeLessThanOrEqual(5);
  expect(numberOf('Number of tools').filter((count) => count > 1).length).toBeLessThanOrEqual(
    first.length / 10,
  );
});

test('there are at least 40 sample questions, each once, with a file where one is named, of all kinds', () => {
  expect(samples.length).toBeGreaterThanOrEqual(44);
  expect(new Set(samples.map(({ task_id }) => task_id)).size).toBe(samples.length);
  const files = samples.map(({ file_name }) => path.join(FOLDER, 'files', file_name));
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
  const kinds = new Set(samples.map(({ file_name }) => file_name.split('.').at(-1)));
  expect([...kinds].toSorted()).toEqual([
    '',
    'csv',
    'docx',
    'json',
    'md',
    'pdf',
    'png',
    'pptx',
    'py',
    'txt',
    'xlsx',
    'zip',
  ]);
  expect(new Set(samples.map(({ Level }) => Level))).toEqual(new Set([1, 2, 3]));
});
