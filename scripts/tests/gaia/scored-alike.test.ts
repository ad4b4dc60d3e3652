import path from 'node:path';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { ANSWER_FORMAT } from '@gaia-mesh/tools/answers/answer-format.ts';
import { dataTools } from '@gaia-mesh/tools/data-tools.ts';
import { type ModelScript, startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import { expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { jsonLines } from '../../testing/cli.ts';
import { place } from '../../testing/gaia-questions.ts';
import { trimTeam } from '../../testing/team-file.ts';

const TEAMS = ['single', 'pipeline', 'supervisor', 'react', 'overseer', 'panel'] as const;

/** What the model says to each question, whatever team asks, and what is scored. */
const CASES = [
  { said: 'FINAL ANSWER: 272 bicycles', answer: '272 bicycles', truth: '272', correct: false, lenient: true },
  { said: 'FINAL ANSWER: White; 5876', answer: 'White; 5876', truth: 'White; 5876', correct: true },
  {
    said: 'FINAL ANSWER: 3.1.3.1; 1.11.1.7',
    answer: '3.1.3.1; 1.11.1.7',
    truth: '3.1.3.1; 1.11.1.7',
    correct: true,
  },
  { said: '**FINAL ANSWER:** "Elm, 4239".', answer: 'Elm, 4239', truth: 'Elm, 4239', correct: true },
  { said: 'FINAL ANSWER: 1,234', answer: '1,234', truth: '1234', correct: true },
].map((one, index) => ({ lenient: one.correct, ...one, task_id: `q${index}` }));

/** Beginnings of the prompts whose reply is JSON, and what the model replies. */
const STRUCTURED: readonly (readonly [string, JsonObject])[] = [
  ['You search a document', { chunks: [0] }],
  ['You pick sentences', { sentences: [0] }],
  ['You state facts', { triples: [] }],
  ['You decide who works', { type: 'web' }],
  [
    'You plan how',
    {
      question_type: 'lookup',
      sub_problems: ['all of it'],
      strategy: 'read',
      steps: [{ task: 'read', tool: '', needs_information: false, uses: [] }],
      needs_information: false,
    },
  ],
  [
    'You judge the work of one role',
    { quality: 9, relevance: 9, missing: [], weaknesses: [], suggestions: [] },
  ],
  ['An attempt at a question', { point: 'answer_form', tool: '', diagnosis: 'it has a unit' }],
  ['You turn the diagnosis', { kind: 'planning_hint', pattern: 'p', cause: 'c', advice: 'a' }],
];

/** A question in whose middle the model is lost: what was done until then is all that there is to show. */
const LOST = 'lost';
const FIRST = 'I look at it from the left first.';

const model: ModelScript = ({ messages }) => {
  const system = messages[0]?.content ?? '';
  const isOnTheWay = messages.some(({ role }) => role === 'assistant');
  if (messages[1]?.content.includes(`(${LOST})`) && isOnTheWay)
    return { status: 400, error: 'out of memory' };
  const said = CASES.find(({ task_id }) => messages[1]?.content.includes(`(${task_id})`))?.said ?? FIRST;
  if (system.startsWith('Your task: reason final')) return { content: { sentence: 0, answer: said } };
  const structured = STRUCTURED.find(([opening]) => system.startsWith(opening));
  return { content: structured === undefined ? `I thought about it.\n${said}` : structured[1] };
};

/** Nobody asks the data tools here. */
const isRole = (tool: string) => !Object.hasOwn(dataTools, tool) || tool === 'gap_store';

test('the same reply of a model scores the same in all six teams, and each was told the form in the same words', async () => {
  const server = await startModelServer(model);
  onTestFinished(() => server.close());
  const folder = place(
    [...CASES, { task_id: LOST, truth: 'heron' }].map(({ task_id, truth }) => ({
      task_id,
      question: `What is it (${task_id})? Give the number only.`,
      answer: truth,
      document: 'It is what it is.',
    })),
  );

  const { code, stderr, stdout } = await callCli(
    [
      ...[
        'gaia',
        '--team',
        TEAMS.map((name) => trimTeam(name, isRole)).join(','),
        '--questions',
        'q.jsonl',
        '--out',
        'a.jsonl',
        '--json',
      ],
      ...['--base-url', `${server.url}/v1`, '--model', 'm', '--no-cache'],
    ],
    { cwd: folder },
  );

  expect(code, stderr).toBe(0);
  const lines = jsonLines(path.join(folder, 'a.jsonl'));
  for (const team of TEAMS) {
    const given = lines.filter((line) => line.team === team && line.task_id !== LOST);
    expect(
      given.map(({ task_id, final_answer, correct, correct_lenient }) => [
        task_id,
        final_answer,
        correct,
        correct_lenient,
      ]),
      team,
    ).toEqual(CASES.map(({ task_id, answer, correct, lenient }) => [task_id, answer, correct, lenient]));
    const { correct, correct_lenient } = JSON.parse(stdout).teams[team];
    expect([correct, correct_lenient], team).toEqual([4, 5]);
  }
  for (const team of ['single', 'supervisor', 'react', 'overseer', 'panel']) {
    const lost = lines.find((line) => line.team === team && line.task_id === LOST);
    expect([lost?.status, lost?.reason, lost?.reasoning_trace], team).toEqual([
      'failed',
      expect.stringContaining('out of memory'),
      expect.stringContaining(FIRST),
    ]);
  }
  const read = server.requests.flatMap(({ messages }) => messages.map(({ content }) => content));
  expect(read.filter((content) => /\((?:none|nothing)\)/i.test(content))).toEqual([]);
  const told = server.requests
    .filter(({ messages }) => messages[0]?.content.includes(ANSWER_FORMAT))
    .filter(({ messages }) => messages[1]?.content.includes(`(${LOST})`) === false);
  const roles = [
    'You answer a question on your own',
    'Your task: reason final',
    'You are the web specialist',
    'You answer a question by reasoning',
    'You carry out a plan',
    'You answer a question from facts',
    'You write the final answer',
  ];
  for (const opening of roles)
    expect(
      told.filter(({ messages }) => messages[0]?.content.startsWith(opening)),
      opening,
    ).toHaveLength(CASES.length);
  expect(server.invalid).toEqual([]);
});
