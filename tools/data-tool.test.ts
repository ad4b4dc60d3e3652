import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
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

test('a data tool names itself once before what a foreign agent or server said', async () => {
  const run = async (message: string) => {
    const refusing = createDataTool({
      name: 'a2a',
      description: 'Refuses.',
      input: z.strictObject({}),
      run: () => Promise.reject(new MeshError('packet', message)),
    });
    const idle: Engine = { name: 'idle', tokenSource: 'model', perform: () => Promise.reject(new Error()) };
    const [reply] = await refusing.run({ ...call, type: 'a2a.call' }, toolContext(idle));
    return reply?.payload;
  };
  expect(await run('A2A: refused: no')).toEqual({ error: { code: 'packet', message: 'a2a: refused: no' } });
  expect(await run('no: session')).toEqual({ error: { code: 'packet', message: 'a2a: no: session' } });
});

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
