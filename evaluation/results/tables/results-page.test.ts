import { expect, test } from 'vitest';
import { sampleSource } from '../../report/testing/sample-batch.ts';
import { buildGaiaPart } from './results-page.ts';

/** Facts of a team's run beside its summary. */
const facts = {
  engine: 'extractive',
  model: null,
  adapter: 'json',
  wall_seconds: 4,
  questions_per_s: 5,
  warnings: [],
};

test('the page of results has every team against single, what answers took, and what the numbers cannot tell', () => {
  const { batch, summaries } = sampleSource({
    teams: ['single', 'react'],
    questions: 20,
    result: ({ team, index }) =>
      team === 'react' || index < 5 ? {} : { correct: false, correct_lenient: false },
  });

  const {
    facts: about,
    body: page,
    limits,
  } = buildGaiaPart({
    batch,
    summaries: Object.fromEntries(
      Object.entries(summaries).map(([name, summary]) => [name, { ...summary, ...facts }]),
    ),
  });

  expect(about).toContain('20 questions of `questions.jsonl`');
  expect(limits.join()).toContain('nothing about GAIA');
  expect(page).toMatch(
    /\| single \| 5 of 20 \| 25\.0 % \(11\.2–46\.9 %\) \| 5 \| – \| – \| – \| baseline \|/,
  );
  expect(page).toMatch(
    /\| react \| 20 of 20 \| 100\.0 % .* \| \+75\.0 \(\+\d.* to \+\d.*\) \| &lt;0\.001 \| 38\.8 \| better \|/,
  );
  expect(page).toContain('| single | in total | 200 | 40 | 2,000 | 0.2000 | 10.00 | 5.0 |');
  expect(page).toContain('|  | per right answer | 40.0 | 8.0 | 400 | 0.0400 | 2.00 |  |');
  expect(page).toContain('| table | 2 of 10 | 10 of 10 |');
});

test('with repeats it sets each team against itself', () => {
  const { batch, summaries } = sampleSource({
    teams: ['single'],
    questions: 20,
    repeat: 2,
    result: ({ index, cycle }) => ({ correct: index < 8 || (cycle === 2 && index === 8) }),
  });
  const { single } = summaries;
  if (single === undefined) throw new Error('the sample has it');
  const { body } = buildGaiaPart({ batch, summaries: { single: { ...single, ...facts } } });
  expect(body).toContain('## Further pairs');
  expect(body).toMatch(/\| single, second attempts \| its first \| \+5\.0 \(.*\) \| .* \| cannot tell \|/);
  expect(body).toMatch(/\| single \| 8 of 20 \|/);
});

test('of questions about tables it says by whose rules, how sure the teams may be, and that it is no language model', () => {
  const { batch, summaries } = sampleSource({
    teams: ['single'],
    questions: 4,
    result: ({ index }) => (index < 2 ? { confidence: 0.9 } : { confidence: 0.3, correct: false }),
  });
  const questions = batch.questions.map((question) => ({ ...question, scorer: 'wtq' as const }));
  const { single } = summaries;
  if (single === undefined) throw new Error('the sample has it');
  const {
    body,
    limits,
    facts: about,
  } = buildGaiaPart({
    batch: { ...batch, questions, head: { ...batch.head, source: '/home/ida/dev.jsonl' } },
    summaries: { single: { ...single, ...facts } },
  });
  expect(body).toContain('official evaluator of WikiTableQuestions');
  expect(body).toContain('| single | 100.0 % | 50.0 % | 100.0 % | 20.0 % |');
  expect(limits.join(' ')).toContain('not a language model');
  // The page must not reveal the folder of the user's file.
  expect(about).toContain('questions of `dev.jsonl`');
});
