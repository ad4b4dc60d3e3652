import { existsSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { taskFile, writtenFile } from '../../testing/team-file.ts';

/** Batches that end before the first question. The commands run in this process, as they start no other. */

const asked: string[] = [];
let server: http.Server;
let url: string;
/** A URL where a server was. */
let gone: string;
beforeAll(async () => {
  const other = http.createServer();
  gone = await listen(other);
  other.close();
  server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const [status, body] =
      request.url === '/listed/v1/models'
        ? [200, { object: 'list', data: [{ id: 'qwen3' }, { id: 'gemma3' }] }]
        : request.url?.startsWith('/denied/') === true
          ? [401, { error: { message: 'Incorrect API key provided' } }]
          : [404, { error: { message: 'not found' } }];
    response.writeHead(status as number, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  url = await listen(server);
});
afterAll(() => server.close());

async function listen(one: http.Server): Promise<string> {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  const address = one.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}

const folder = temporaryFolder();
const QUESTIONS = writtenFile(
  folder,
  'q.jsonl',
  '{"task_id":"a","question":"What is 2 + 2?","answer":"4"}\n',
);
const TASKS = taskFile([{ task_id: 'a', question: 'What?', document: 'Ida.', answer: 'Ida' }]);

describe.each([
  ['bench --tasks', ['bench', '--team', 'single', '--tasks', TASKS]],
  ['gaia', ['gaia', '--team', 'single', '--questions', QUESTIONS, '--no-cache']],
])('%s', (_, words) => {
  async function ask(at: string, model: string) {
    const out = path.join(temporaryFolder(), words[0] === 'gaia' ? 'a.jsonl' : 'out');
    const all = [...words, '--model', model, '--base-url', at, '--out', out];
    asked.length = 0;
    return { ...(await callCli(all)), all, out };
  }

  test.each([
    ['without a server', () => `${gone}/v1`, /127\.0\.0\.1/],
    ['whose key is refused', () => `${url}/denied/v1`, /key/],
  ])('%s starts nothing, and says how to ask again', async (_, at, reason) => {
    const { code, stdout, stderr, all, out } = await ask(at(), 'qwen3');

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(/No agent was started and nothing was asked\. To ask again: \S+ /);
    expect(stderr).toContain(all.slice(1).join(' '));
    expect(existsSync(out)).toBe(false);
  });

  test('with a model that the server does not list starts nothing, and names those that it lists', async () => {
    const { code, stdout, stderr, out } = await ask(`${url}/listed/v1`, 'qwen2');

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /has no model qwen2; it has qwen3, gemma3\. No agent was started and nothing was asked \(--model\)/,
    );
    expect(asked).toContain('GET /listed/v1/models');
    expect(asked.filter((line) => line.startsWith('POST'))).toEqual([]);
    expect(existsSync(out)).toBe(false);
  });
});
