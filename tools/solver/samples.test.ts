import { existsSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { gaiaCorrect } from '../../core/evaluation/gaia.ts';
import { solve } from './solve.ts';
import { sampleFile, sampleQuestions, toolsInProcess } from './testing/in-process.ts';

const samples = sampleQuestions();
const tools = toolsInProcess();
afterAll(() => tools.close());

/** What is asked of the embedded engine, and what it reaches: the others take a model or the web. */
const AT_LEAST = 60;

/** Seconds on an idle machine; others may keep it busy. */
const SLOW_MS = 300_000;

test(
  `of the sample questions, the rules answer at least ${AT_LEAST} right by the official scorer`,
  async () => {
    const wrong: string[] = [];
    const begin = performance.now();
    const open = samples.values();
    const lane = async () => {
      // Two lanes take from one list.
      for (const { task_id, Question, file_name, ...sample } of open) {
        const { answer } = await solve(
          { question: Question, file: file_name },
          tools.toolsFor(task_id, file_name),
        );
        if (!gaiaCorrect(answer ?? 'None', sample['Final answer'])) wrong.push(`${Question} → ${answer}`);
      }
    };
    await Promise.all([lane(), lane()]);
    const seconds = (performance.now() - begin) / 1000;
    console.info(
      `${samples.length - wrong.length} of ${samples.length} right, ${(samples.length / seconds).toFixed(1)} questions/s`,
    );
    expect(samples.length - wrong.length, wrong.join('\n')).toBeGreaterThanOrEqual(AT_LEAST);
  },
  SLOW_MS,
);

const ENGLISH = /\b(?:a|an|and|find|give|how|in|is|many|of|the|to|what|which|who)\b/gi;

test('are asked in English, one of them backwards (REQ-086)', () => {
  const strange = samples.filter(({ Question }) => (Question.match(ENGLISH) ?? []).length < 2);

  expect(strange.map(({ Question }) => [...Question].reverse().join(''))).toEqual([
    expect.stringMatching(/^If you can read this sentence, /),
  ]);
});

test('half of them at least are of Level 1, which takes up to five steps and, but for few, one tool (REQ-087)', () => {
  const first = samples.filter(({ Level }) => Level === 1);
  const numberOf = (name: 'Number of steps' | 'Number of tools') =>
    first.map((sample) => Number(sample['Annotator Metadata'][name]));

  expect(first.length).toBeGreaterThanOrEqual(samples.length / 2);
  expect(Math.max(...numberOf('Number of steps'))).toBeLessThanOrEqual(5);
  expect(numberOf('Number of tools').filter((count) => count > 1).length).toBeLessThanOrEqual(
    first.length / 10,
  );
});

test('there are at least 40 of them, each once, with a file where one is named, of all kinds', () => {
  expect(samples.length).toBeGreaterThanOrEqual(44);
  expect(new Set(samples.map(({ task_id }) => task_id)).size).toBe(samples.length);
  expect(samples.filter(({ file_name }) => file_name !== '' && !existsSync(sampleFile(file_name)))).toEqual(
    [],
  );
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
