import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { REPORT_FORMAT } from '../answers/fact.ts';
import { diagnosisSchema, gapSchema } from './overseer/diagnose.ts';
import { critiqueReply } from './panel/critique.ts';
import { researchReply } from './panel/research.ts';
import { planSchema } from './plan.ts';

const folder = fileURLToPath(new URL('../../config/prompts/', import.meta.url));
const names = readdirSync(folder).filter((name) => name !== 'README.md');
/** Returns what a model is sent of a prompt, before its variables are filled in. */
const readSent = (name: string) =>
  readFileSync(`${folder}${name}`, 'utf8')
    .replace(/^[\s\S]*?^## system/m, '')
    .replace('## user', '');

/** Parses the one example of JSON in a text. */
const parseExample = (text: string): unknown =>
  JSON.parse(/(?<=for example:\s)\{[\s\S]*?\}(?=\s*(?:\n\n|$))/.exec(text)?.[0] ?? 'none');

test.each([
  ['plan.md', planSchema],
  ['critique.md', critiqueReply.omit({ accepted: true })],
  ['diagnose.md', diagnosisSchema],
  ['abstract.md', gapSchema],
])('the example in %s is a reply that its step takes', (name, schema) => {
  expect(schema.safeParse(parseExample(readSent(name))).error).toBeUndefined();
});

test('the example of a report is one that the researcher’s step takes', () => {
  expect(researchReply.safeParse(parseExample(REPORT_FORMAT)).error).toBeUndefined();
});

test('every prompt is short: small models lose the thread of more, and each call pays for it', () => {
  const long = names.map((name) => [name, readSent(name).split(/\s+/).length] as const);

  expect(names).toHaveLength(20);
  expect(long.filter(([, words]) => words > 150)).toEqual([]);
});

test('an example does no harm where a small model copies it: the plan answers the question, and the critic accepts', () => {
  expect(planSchema.parse(parseExample(readSent('plan.md')))).toMatchObject({
    steps: [{ tool: '' }, { task: 'answer the question', tool: '', uses: [1] }],
    contradictions: [],
  });
  const { quality, relevance, ...lists } = critiqueReply
    .omit({ accepted: true })
    .parse(parseExample(readSent('critique.md')));
  expect(Math.min(quality, relevance)).toBeGreaterThan(6);
  expect(lists).toEqual({ missing: [], weaknesses: [], suggestions: [] });
});
