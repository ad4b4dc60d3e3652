import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { jsonLines } from '../../testing/cli.ts';
import { oneByOne, place, run } from '../../testing/gaia-questions.ts';

describe('gaia with a model', () => {
  const args = [...oneByOne('single'), '--model', 'm'];
  const many = Array.from({ length: 9 }, (_, i) => ({
    task_id: `q-${i}`,
    question: `What is 2 + ${i}?`,
    answer: 4,
  }));
  const env = { OPENAI_API_KEY: 'sk-of-this-test-alone-0123456789' };

  test('at --base-url counts its tokens by role and its calls, and no key is in any file (RA-50, RA-57)', async () => {
    const server = await startModelServer([{ content: 'Two and two.\nFINAL ANSWER: 4' }]);
    onTestFinished(() => server.close());
    const folder = place(many.slice(0, 3));

    const { code, stdout } = await callCli(['gaia', ...args, '--base-url', `${server.url}/v1`, '--json'], {
      cwd: folder,
      env,
    });

    expect(code).toBe(0);
    const { single } = JSON.parse(stdout).teams;
    expect(single).toMatchObject({
      correct: 3,
      engine: 'openai',
      model: 'm',
      tokens: 330,
      metrics: { model_calls_per_question: 1 },
    });
    expect(Object.values(single.roles)).toMatchObject([
      { calls: 3, prompt_tokens: 300, completion_tokens: 30 },
    ]);
    const prompts: readonly { kind: string; read: number; tokens: number }[] = single.token_ledger.prompt;
    expect(prompts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(300);
    expect(prompts.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['system', 'question', 'structure']),
    );
    expect(server.requests).toHaveLength(3);
    for (const name of readdirSync(folder)) {
      if (/jsonl|journal|log/.test(name))
        expect(readFileSync(path.join(folder, name), 'utf8')).not.toContain(env.OPENAI_API_KEY);
    }
  });

  test('that cannot do what one team asks of it fails each of its questions, and no question of the next team; one that is gone starts none', async () => {
    const server = await startModelServer([{ content: 'FINAL ANSWER: 4' }]);
    onTestFinished(() => server.close());
    const folder = place(many.slice(0, 3));
    const teams = (names: string, ...more: string[]) =>
      run(folder, '--team', names, '--model', 'm', '--base-url', `${server.url}/v1`, '--no-cache', ...more);

    // The pipeline wants JSON.
    const one = await teams('pipeline,single', '--json');

    expect([one.code, one.stderr]).toEqual([0, expect.not.stringContaining('is skipped')]);
    const summary = JSON.parse(one.stdout);
    expect(summary).toMatchObject({ complete: true });
    expect([summary.teams.pipeline.failed, summary.teams.single.answered]).toEqual([3, 3]);

    await server.close();
    const gone = await teams('single,react');
    expect([gone.code, gone.stdout]).toEqual([1, '']);
    expect(gone.stderr).toContain('No agent was started and nothing was asked. To ask again: ');
    expect(existsSync(path.join(folder, 'a.runs', 'react'))).toBe(false);
  });

  test('in which every question runs out of time shows no figures, and exits with 3', async () => {
    const server = await startModelServer(() => ({ hang: true }));
    onTestFinished(() => server.close());
    const folder = place(many.slice(0, 2));
    const more = ['--question-time', '1'];
    const { code, stdout, stderr } = await callCli(
      ['gaia', ...args, '--base-url', `${server.url}/v1`, ...more],
      { cwd: folder, env },
    );

    expect([code, stdout.trim()]).toEqual([3, '']);
    expect(stderr).toMatch(/No question was answered: q-0: timeout: no answer within .*To ask again: npm/s);
    expect(stderr).not.toMatch(/DONE|--resume/);
  });

  test('that is gone in the middle stops with component, question and cause; resumed, it asks what was not finished (REQ-067)', async () => {
    let isGone = true;
    const server = await startModelServer((_request, index) =>
      isGone && index >= 4
        ? { status: 404, error: 'The model m does not exist', code: 'model_not_found' }
        : { content: 'FINAL ANSWER: 4' },
    );
    onTestFinished(() => server.close());
    const folder = place(many);
    const all = ['gaia', ...args, '--base-url', `${server.url}/v1`];

    const gone = await callCli(all, { cwd: folder, env });

    expect(gone.code).toBe(1);
    expect(gone.stderr).toMatch(
      /The batch ended early: the model, team single, question q-6 \(What is 2 \+ 6\?\): 3 questions in a row failed/,
    );
    expect(gone.stderr).toContain(' --resume');
    const partial = jsonLines(path.join(folder, 'a.jsonl'));
    expect(partial.map((line) => `${line.task_id} ${line.status}`)).toEqual([
      ...['q-0 answered', 'q-1 answered', 'q-2 answered', 'q-3 answered'],
      ...['q-4 failed', 'q-5 failed', 'q-6 failed'],
    ]);

    isGone = false;
    const asked = server.requests.length;
    const again = await callCli([...all, '--resume'], { cwd: folder, env });
    expect(again.code).toBe(0);
    expect(server.requests.length - asked).toBe(5);
    expect(jsonLines(path.join(folder, 'a.jsonl')).map((line) => [line.task_id, line.status])).toEqual(
      many.map(({ task_id }) => [task_id, 'answered']),
    );
  });
});
