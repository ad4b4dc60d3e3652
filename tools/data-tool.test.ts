import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createDataTool } from './data-tool.ts';
import { toolContext } from './fixtures/tool-surroundings.ts';

const asksModel = createDataTool({
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
  const engine: Engine = {
    name: 'seeing',
    tokenSource: 'model',
    perform: () => Promise.reject(new Error('no step')),
  };
  const chat: Engine['chat'] = (request, { role, countTokens }) => {
    seen.push(request.messages, role);
    countTokens(3);
    return Promise.resolve({ content: 'a boat', toolCalls: [], finish: 'stop' });
  };
  const countTokens = (count: number) => seen.push(count);
  const [reply] = await asksModel.run(call, toolContext({ ...engine, chat }, { countTokens }));
  expect(reply?.payload).toEqual({ text: 'seeing: a boat' });
  expect(seen).toEqual([[{ role: 'user', content: 'What is it?' }], 'look', 3]);

  const [without] = await asksModel.run(call, toolContext(engine, { countTokens }));
  expect(without?.payload).toEqual({ text: 'no model' });
});
