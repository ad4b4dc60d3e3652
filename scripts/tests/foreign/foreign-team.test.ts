import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { type ModelServer, startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { endServe, startServe } from '../../testing/served.ts';
import { noteQuestion, teamFile } from '../../testing/team-file.ts';

const serverOf = (name: string) =>
  path.join(path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dist', 'index.js');
const waiter = path.join(codeFolder, 'scripts', 'testing', 'waiter-tool.ts');

const metricsIn = (out: string) => JSON.parse(readFileSync(path.join(out, 'metrics.json'), 'utf8'));
/** What the model was told last. */
const toldBy = ({ requests }: ModelServer) =>
  requests
    .at(-1)
    ?.messages.map(({ content }) => content)
    .join('\n');

describe('a team with somebody else’s servers and agents', () => {
  test('offers their tools to a model by their own schemas, and shows what is unknown as unknown', async () => {
    const clerk = await startServe([
      '--team',
      teamFile({ final: 0, agents: [{ id: 0, tool: waiter }] }),
      '--a2a',
    ]);
    onTestFinished(async () => {
      await endServe(clerk);
    });
    const folder = realpathSync(temporaryFolder());
    const file = path.join(folder, 'lamp.txt');
    writeFileSync(file, 'The lamp was lit in 1901.');
    const model = await startModelServer([
      { toolCalls: [{ name: 'files_read_text_file', arguments: { path: file } }] },
      { toolCalls: [{ name: 'clerk_ask', arguments: { message: 'When?' } }] },
      { content: 'FINAL ANSWER: 1901' },
    ]);
    onTestFinished(() => model.close());
    const team = teamFile({
      engine: 'openai',
      model: 'm',
      entry: 0,
      final: 0,
      routing: 'direct',
      agents: [
        { id: 0, tool: 'react_step', may_call: ['files', 'clerk'] },
        {
          id: 'files',
          tool: 'mcp',
          may_call: [],
          options: {
            command: process.execPath,
            args: [serverOf('@modelcontextprotocol/server-filesystem'), folder],
            tools: ['read_text_file', 'list_directory'],
            asks_models: false,
          },
        },
        { id: 'clerk', tool: 'a2a', may_call: [], options: { url: clerk.url, token: 'CLERK_TOKEN' } },
      ],
    });
    const out = temporaryFolder();
    const args = [
      'bench',
      '--team',
      team,
      '--base-url',
      `${model.url}/v1`,
      '--port-base',
      'auto',
      '--out',
      out,
    ];
    const { code, stderr, stdout } = await callCli([...args, ...noteQuestion(folder)], {
      env: { OPENAI_API_KEY: 'sk-of-this-test-alone-0123456789', CLERK_TOKEN: clerk.token ?? '' },
    });

    expect({ code, stderr: code === 0 ? '' : `${stderr}${stdout}` }).toEqual({ code: 0, stderr: '' });
    const offered = model.requests[0]?.tools.map(({ name }) => name);
    expect(offered).toEqual(['files_read_text_file', 'files_list_directory', 'clerk_ask']);
    expect(toldBy(model)).toContain('The lamp was lit in 1901.');
    expect(toldBy(model)).toContain('You said: When?');
    const metrics = metricsIn(out);
    expect(metrics).toMatchObject({ answer: '1901', model_calls: 3, prompt_tokens: null, cost_usd: null });
    const tokens = Object.fromEntries(
      metrics.agents.map((agent: { id: string; tokens: number | null }) => [agent.id, agent.tokens]),
    );
    expect(tokens).toEqual({ 0: expect.any(Number), files: 0, clerk: null });
    expect(metrics.ledger.balanced).toBe(true);
  });

  test('says at its end which server it lost, and fails for that with --strict', async () => {
    const model = await startModelServer([{ content: 'FINAL ANSWER: 1901' }]);
    onTestFinished(() => model.close());
    const options = { command: process.execPath, args: ['-e', 'console.error("no key"); process.exit(1)'] };
    const team = teamFile({
      engine: 'openai',
      model: 'm',
      entry: 0,
      final: 0,
      routing: 'direct',
      agents: [
        { id: 0, tool: 'react_step', may_call: ['files'] },
        { id: 'files', tool: 'mcp', may_call: [], options },
      ],
    });
    const out = temporaryFolder();
    const args = ['bench', '--team', team, '--base-url', `${model.url}/v1`, '--port-base', 'auto'];
    const { code, stderr, stdout } = await callCli(
      [...args, '--strict', '--out', out, ...noteQuestion(out)],
      {
        env: { OPENAI_API_KEY: 'sk-of-this-test-alone-0123456789' },
      },
    );

    expect(code).toBe(1);
    expect(stderr).toContain(
      'Warning: server lost: files, mcp: no session: Connection closed; it said: no key',
    );
    expect(stdout).toMatch(/⚠️ DONE with warnings: lost 1 server → See /);
    expect(metricsIn(out)).toMatchObject({
      status: 'answered',
      warnings: [
        { lost: 'server', agent: 'files', where: 'mcp', times: 1, why: expect.stringContaining('no key') },
      ],
    });
  });

  test('has an agent of A2A answer a task by itself', async () => {
    const clerk = await startServe([
      ...['--team', teamFile({ final: 0, agents: [{ id: 0, tool: waiter }] })],
      ...['--a2a', '--no-token'],
    ]);
    onTestFinished(async () => {
      await endServe(clerk);
    });
    const agent = { id: 0, tool: 'a2a', subscribes: ['doc_init'], options: { url: clerk.url } };
    const team = teamFile({ final: 0, agents: [agent] });
    const out = temporaryFolder();
    const args = ['bench', '--team', team, '--port-base', 'auto', '--out', out, ...noteQuestion(out)];
    const { code, stderr } = await callCli(args);

    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const metrics = metricsIn(out);
    expect(metrics).toMatchObject({ answer: 'You said: What is it?', prompt_tokens: null, cost_usd: null });
    expect(metrics.agents).toMatchObject([{ tool: 'a2a', tokens: null }]);
  });

  test.each([
    [{ tool: 'mcp', options: {} }, 'command'],
    [
      { tool: 'mcp', options: { command: 'x', env: ['NOT_SET_AT_ALL'] } },
      'the variable NOT_SET_AT_ALL, which is not set',
    ],
    [{ tool: 'a2a', options: { url: 'ftp://x' } }, 'url'],
    [{ tool: 'a2a', options: { url: 'http://127.0.0.1:1', token: 'sk-abc' } }, 'the name of a variable'],
  ])('that is described wrongly is refused before anything starts: %j', async (agent, message) => {
    const team = teamFile({ final: 0, agents: [{ id: 0, subscribes: ['doc_init'], ...agent }] });
    const out = temporaryFolder();
    const { code, stderr } = await callCli(['bench', '--team', team, '--out', out, ...noteQuestion(out)]);

    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
