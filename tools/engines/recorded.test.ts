import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ChatRequest, Engine, EngineWork } from '@gaia-mesh/core/contracts/engine.ts';
import { hashRequest } from '@gaia-mesh/core/contracts/model-exchange.ts';
import type { BranchReply } from '@gaia-mesh/core/recording/branch-file.ts';
import { expect, test } from 'vitest';
import { createBranching } from './recorded.ts';

const ask = (content: string): ChatRequest => ({ messages: [{ role: 'user', content }] });
const reply = (to: string, content: string): BranchReply => ({
  key: hashRequest({ messages: [{ role: 'user', content: to }], tools: [] }),
  role: 'r',
  model: 'm',
  reply: { content, tool_calls: [], finish: 'stop' },
  prompt_tokens: 100,
  completion_tokens: 10,
  leads_to: 1,
});
const live: Engine = {
  name: 'live',
  tokenSource: 'model',
  perform: () => Promise.reject(new Error('no request was expected')),
  chat: async () => ({ content: 'live', toolCalls: [], finish: 'stop' }),
};

function under(replies: BranchReply[]) {
  let tokens = 0;
  const work: EngineWork = {
    signal: new AbortController().signal,
    taskId: 'branch',
    countTokens: (count) => {
      tokens += count;
    },
  };
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'branches-')), 'branches.json');
  const packets = [{ from: 'r', type: 'x', payload: {} }];
  writeFileSync(
    file,
    JSON.stringify({ branches: 1, packets, replies: { r: replies }, tasks: { branch: { keep: 1 } } }),
  );
  const { chat } = createBranching(file, 'r', live, () => '').engine;
  if (chat === undefined) throw new Error('it talks');
  const say = async (content: string, of = work) => (await chat(ask(content), of)).content;
  return { say, work, tokens: () => tokens };
}

test('before the branch recorded replies come again, whatever the order, and are not paid for; then the engine is live', async () => {
  const { say, work, tokens } = under([reply('one', '1'), reply('two', '2'), reply('one', '1 again')]);

  expect(await say('two')).toBe('2');
  expect(await say('one', { ...work, taskId: 'another' })).toBe('live');
  expect([await say('one'), await say('one'), await say('one')]).toEqual(['1', '1 again', 'live']);
  expect(tokens()).toBe(0);
});

test('a request before the branch that was not recorded fails loudly, with what was asked', async () => {
  const { say } = under([reply('one', '1')]);

  await expect(say('something else')).rejects.toThrow(
    /not as it was recorded: before its branch there is no recorded reply to this request: message 1, of the user, ends with “something else”/,
  );
  expect(await say('one')).toBe('1');
});
