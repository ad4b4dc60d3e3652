import path from 'node:path';
import { attemptSchema } from '@gaia-mesh/evaluation/attempts/attempt.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { startPipelineModel } from '../../testing/pipeline-model.ts';
import { readMetrics, summarySchema } from '../../testing/run-files.ts';
import { taskFile, writtenFile } from '../../testing/team-file.ts';

/** A model whose price is known: 100 tokens in at $2.50 a million, 10 out at $10. */
const MODEL = 'gpt-4o';
const CALL = { model_calls: 1, prompt_tokens: 100, completion_tokens: 10, cost_usd: 0.00035 };
const calls = (n: number) => ({
  model_calls: n,
  prompt_tokens: CALL.prompt_tokens * n,
  completion_tokens: CALL.completion_tokens * n,
  cost_usd: expect.closeTo(CALL.cost_usd * n, 9),
});

const DOCUMENT = 'Ida built the bridge over the Orra. It has stood for eighty years. Its stones are grey.';
/** One request after the other, so that the task is out of time before any of them is. */
const SLOW = { extract: { delayMs: 1000 }, triple: { hang: true } };
/** What comes before the request that hangs, and the other task whole, must fit into it on a busy machine. */
const SECONDS = '6';
const UNFIT = { triple: { content: 'no JSON at all' } };
const QUESTIONS = [
  { task_id: 'good', question: 'Who built the bridge?', document: DOCUMENT, answer: 'Ida' },
  { task_id: 'bad', question: 'Who built the bridge of trouble?', document: DOCUMENT, answer: 'Ida' },
];

describe('bench with a model', () => {
  const bench = (url: string, args: readonly string[], model = MODEL) =>
    callCli([
      ...['bench', '--engine', 'openai', '--model', model, '--host', `${url}/v1`, '--port-base', 'auto'],
      ...args,
    ]);

  test('counts the calls, tokens and dollars of the default team, prints them, and answers again from the replies', async () => {
    const model = await startPipelineModel();
    const out = temporaryFolder();
    const document = writtenFile(out, 'bridge.txt', DOCUMENT);

    const { code, stdout, stderr } = await bench(model.url, [
      '--document',
      document,
      '--question',
      'Who built the bridge?',
      '--out',
      path.join(out, 'run'),
    ]);

    // What the model will be used for is said before anything is asked.
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`${MODEL} at ${model.url}/v1: replies held to schemas`),
    ]);
    const metrics = readMetrics(path.join(out, 'run'));
    expect(metrics).toMatchObject({ ...calls(4), token_sum: 440 });
    const sum = (lines: readonly { tokens: number }[] = []) =>
      lines.reduce((all, { tokens }) => all + tokens, 0);
    expect(sum(metrics.token_ledger?.prompt)).toBe(metrics.prompt_tokens);
    expect(sum(metrics.token_ledger?.completion)).toBe(metrics.completion_tokens);
    expect(new Set(metrics.token_ledger?.prompt.map(({ kind }) => kind))).toEqual(
      new Set(['system', 'structure', 'question', 'file', 'peer', 'residual']),
    );
    expect(stdout).toContain('Model     4 calls, 400 tokens in, 40 out, $0.0014');
    expect(model.invalid).toEqual([]);

    // Its replies answer the same question again, without a model; what was not asked then fails by name.
    const asking = (question: string, name: string) => [
      ...['--document', document, '--question', question, '--out', path.join(out, name)],
    ];
    const { answer } = metrics;
    const asked = model.requests.length;
    const replies = [
      'bench',
      '--replies',
      path.join(out, 'run', 'run_artifacts.tar.gz'),
      '--port-base',
      'auto',
    ];

    const again = await callCli([...replies, ...asking('Who built the bridge?', 'again')]);
    const other = await callCli([...replies, ...asking('Where is the bridge?', 'other')]);

    expect([again.code, readMetrics(path.join(out, 'again'))]).toEqual([
      0,
      expect.objectContaining({ answer, engine: 'recorded', ...calls(4), cost_usd: 0 }),
    ]);
    expect(other.code).toBe(1);
    expect(readMetrics(path.join(out, 'other')).reason).toContain(
      'search: no reply was recorded for this request',
    );
    expect(model.requests).toHaveLength(asked);
  });

  test.each([
    ['runs out of time', 'timeout', SLOW, 2],
    ['fails', 'failed', UNFIT, 4],
  ] as const)('keeps what a task had cost that %s', async (_, status, instead, spent) => {
    const model = await startPipelineModel(instead);
    const out = temporaryFolder();

    const { stdout } = await bench(model.url, [
      '--tasks',
      taskFile(QUESTIONS),
      '--timeout',
      SECONDS,
      '--json',
      '--out',
      out,
    ]);

    const results = jsonLines(path.join(out, 'results.jsonl')).map((line) => attemptSchema.parse(line));
    expect(results.find(({ task_id }) => task_id === 'good')).toMatchObject({
      status: 'answered',
      ...calls(4),
    });
    expect(results.find(({ task_id }) => task_id === 'bad')).toMatchObject({ status, ...calls(spent) });
    expect(summarySchema.parse(JSON.parse(stdout))).toMatchObject({ tasks: 2, ...calls(4 + spent) });
    expect(readMetrics(out)).toMatchObject(calls(4 + spent));
  });

  test('says that the cost is not known where the price is not', async () => {
    const model = await startPipelineModel();
    const out = temporaryFolder();

    const { stdout } = await bench(model.url, ['--tasks', taskFile(QUESTIONS), '--out', out], 'of-my-own');

    expect(stdout).toContain('Model     8 calls, 800 tokens in, 80 out, cost not known');
    expect(readMetrics(out)).toMatchObject({ model_calls: 8, cost_usd: null });
  });
});

describe('gaia with a model', () => {
  async function gaia(url: string, ...args: string[]) {
    const folder = temporaryFolder();
    writtenFile(folder, 'q.jsonl', QUESTIONS.map((line) => JSON.stringify(line)).join('\n'));
    const { code, stdout, stderr } = await callCli(
      [
        ...['gaia', '--team', 'pipeline', '--questions', 'q.jsonl', '--out', 'a.jsonl', '--no-cache'],
        ...['--model', MODEL, '--base-url', `${url}/v1`, ...args],
      ],
      { cwd: folder },
    );
    const journal = () => jsonLines(path.join(folder, 'a.jsonl.journal'));
    return { code, stdout, stderr, journal };
  }

  test('shows what the pipeline took as it does for the other teams', async () => {
    const model = await startPipelineModel();

    const { code, stdout, stderr, journal } = await gaia(model.url);

    expect([code, stderr]).toEqual([0, expect.anything()]);
    for (const line of journal()) {
      expect(line).toMatchObject({ prompt_tokens: 400, model_calls: 4, cost_usd: expect.closeTo(0.0014, 9) });
      expect(line.usage).toEqual(
        ['search', 'extract', 'triple', 'reason'].map((role) => ({
          role,
          model: MODEL,
          calls: 1,
          prompt_tokens: 100,
          completion_tokens: 10,
          cost_usd: expect.closeTo(CALL.cost_usd, 9),
        })),
      );
    }
    expect(stdout).toMatch(/pipeline +in total +880 +0\.0028 /);
    expect(stdout).toContain('per question 4.0 model calls');
  });

  // What ends a task in another way ends it as it does in `bench`.
  test.each([['the time of the question', 'timeout', SLOW, ['--question-time', SECONDS], 2]] as const)(
    'keeps what a question had cost that ended by %s',
    async (_, status, instead, args, spent) => {
      const model = await startPipelineModel(instead);

      const { stdout, journal } = await gaia(model.url, '--json', ...args);

      const cost = (n: number) => expect.closeTo(CALL.cost_usd * n, 9);
      expect(journal().find(({ task_id }) => task_id === 'bad')).toMatchObject({
        status,
        prompt_tokens: 100 * spent,
        model_calls: spent,
        cost_usd: cost(spent),
      });
      const { pipeline } = JSON.parse(stdout).teams;
      expect(pipeline).toMatchObject({
        cost: cost(4 + spent),
        tokens: 110 * (4 + spent),
        metrics: { model_calls_per_question: (4 + spent) / 2 },
      });
    },
  );
});
