import { expect, test } from 'vitest';
import * as z from 'zod';
import type { ChatRequest } from '../core/contracts/engine.ts';
import type { Packet } from '../core/contracts/packet.ts';
import type { ToolContext } from '../core/contracts/tool.ts';
import { dataTool } from './data-tool.ts';

const asksModel = dataTool({
  name: 'look',
  description: 'Asks the model of its agent.',
  input: z.strictObject({}),
  async run(_, { model }) {
    const turn = await model?.chat({ messages: [{ role: 'user', content: 'What is it?' }] });
    return { text: turn === undefined ? 'no model' : `${model?.name}: ${turn.content}` };
  },
});

const call: Packet = {
  type: 'look.call',
  from: 'react',
  to: 'look',
  id: 'p1',
  task_id: 't1',
  payload: { arguments: {} },
  token_used: 0,
  ts: 1,
};

test('a data tool may ask the model of its agent’s engine, under its own name and with what counts its tokens', async () => {
  const seen: unknown[] = [];
  const context: ToolContext = {
    engine: {
      name: 'seeing',
      tokenSource: 'model',
      perform: () => Promise.reject(new Error('no step')),
      chat: (request: ChatRequest, { role, countTokens }) => {
        seen.push(request.messages, role);
        countTokens(3);
        return Promise.resolve({ content: 'a boat', toolCalls: [], finish: 'stop' });
      },
    },
    workspace: '',
    files: undefined,
    store: undefined,
    options: {},
    partners: [],
    prompt: () => '',
    signal: new AbortController().signal,
    countTokens: (count) => seen.push(count),
    ask: () => Promise.reject(new Error('nobody')),
    record: () => undefined,
  };
  const [reply] = await asksModel.run(call, context);
  expect(reply?.payload).toEqual({ text: 'seeing: a boat' });
  expect(seen).toEqual([[{ role: 'user', content: 'What is it?' }], 'look', 3]);

  const { chat: _, ...engine } = context.engine;
  const [without] = await asksModel.run(call, { ...context, engine });
  expect(without?.payload).toEqual({ text: 'no model' });
});
