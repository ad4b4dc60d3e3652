import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject, Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { ToolContext } from '@gaia-mesh/core/contracts/tool.ts';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createExtractiveEngine } from '../engines/extractive.ts';
import { toolSurroundings } from '../fixtures/tool-surroundings.ts';
import { createStepTool } from './step-tool.ts';

const shout = createStepTool({
  name: 'shout',
  description: 'says it louder',
  accepts: 'said',
  input: z.object({ text: z.string() }),
  example: { text: 'hello' },
  emits: 'shouted',
  output: z.strictObject({ text: z.string(), why: z.string() }),
  said: ({ text }) => text,
  embedded: ({ text }) => ({ text: text.toUpperCase(), why: 'it was quiet' }),
  model: {
    prompt: 'shout',
    variables: ({ text }) => ({ text }),
    reply: z.object({ loud: z.string() }),
    output: ({ text }, { loud }) => ({ text: loud, why: `a model read ${text}` }),
  },
  payload: ({ text }) => ({ text }),
  emission: { tag: 'final_answer', log: 'shout.log' },
});

function packet(payload: JsonObject): Packet {
  return { type: 'said', from: 'hub', id: 'hub-1', task_id: 'task', token_used: 0, ts: 0, payload };
}

function contextOf(engine: Engine) {
  const seen = { tokens: 0, records: [] as [string, JsonObject][] };
  const context: ToolContext = {
    engine,
    signal: new AbortController().signal,
    ...toolSurroundings,
    countTokens: (count) => {
      seen.tokens += count;
    },
    record: (fileName, entry) => {
      seen.records.push([fileName, entry]);
    },
  };
  return { context, seen };
}

/** Creates an engine whose model replies with `reply`; it never uses the embedded implementation. */
function modelSaying(
  reply: unknown,
  ask: (variables: Readonly<Record<string, string>>) => void = () => undefined,
): Engine {
  return {
    name: 'model',
    tokenSource: 'model',
    async perform({ model }) {
      ask(model.variables());
      return model.result(model.reply.parse(reply));
    },
  };
}

test('a packet becomes the packet of the next step; the record has what the wire has not', async () => {
  const { context, seen } = contextOf(createExtractiveEngine());
  expect(await shout.run(packet({ text: 'good day' }), context)).toEqual([
    { type: 'shouted', payload: { text: 'GOOD DAY' }, tag: 'final_answer', log: 'shout.log' },
  ]);
  const entry = {
    task_id: 'task',
    cause: 'hub-1',
    engine: 'extractive',
    text: 'GOOD DAY',
    why: 'it was quiet',
  };
  expect(seen.records).toEqual([['shout.log', entry]]);
});

test('the embedded engine counts the words and marks that it read and wrote', async () => {
  const { context, seen } = contextOf(createExtractiveEngine());
  await shout.run(packet({ text: 'good day!', unread: 'by nobody' }), context);
  expect(seen.tokens).toBe(3 + 3 + 3);
});

test('a model is given the variables, and its reply is the output', async () => {
  const { context } = contextOf(
    modelSaying({ loud: 'HEY' }, (variables) => expect(variables).toEqual({ text: 'hey' })),
  );
  expect(await shout.run(packet({ text: 'hey' }), context)).toMatchObject([{ payload: { text: 'HEY' } }]);
});

test('half a character, left by a cut, becomes one that a packet can carry', async () => {
  const { context } = contextOf(modelSaying({ loud: 'HEY \ud83d' }));
  expect(await shout.run(packet({ text: 'hey' }), context)).toMatchObject([
    { payload: { text: 'HEY \ufffd' } },
  ]);
});

test.each<[string, JsonObject, string]>([
  ['a missing key', {}, 'text'],
  ['a value of another type', { text: 7 }, 'text'],
])('%s in the payload is refused, with tool, sender and key', async (_, payload, key) => {
  const { context, seen } = contextOf(createExtractiveEngine());
  const run = shout.run(packet(payload), context);
  await expect(run).rejects.toMatchObject({ code: 'packet', name: 'MeshError' });
  await expect(run).rejects.toThrow(new RegExp(`said from hub is invalid for shout: ${key}: `));
  expect(seen).toEqual({ tokens: 0, records: [] });
});

test('what the engine fails with is the failure of the tool', async () => {
  const failing: Engine = {
    name: 'model',
    tokenSource: 'model',
    perform: () => Promise.reject(new Error('no server')),
  };
  const { context, seen } = contextOf(failing);
  await expect(shout.run(packet({ text: 'hey' }), context)).rejects.toThrow('no server');
  expect(seen.records).toEqual([]);
});

test('an output of a model that the next step could not read is a bug, not a packet', async () => {
  const broken = createStepTool({
    name: 'broken',
    description: '',
    accepts: 'said',
    input: z.object({ text: z.string() }),
    example: { text: 'hello' },
    emits: 'never',
    output: z.strictObject({ text: z.string() }),
    said: ({ text }) => text,
    embedded: ({ text }) => ({ text }),
    model: { prompt: 'x', variables: () => ({}), reply: z.object({}), output: () => ({ text: 7 }) },
  });
  const model: Engine = {
    name: 'model',
    tokenSource: 'model',
    perform: async (step) => step.model.result({}),
  };
  const { context } = contextOf(model);
  await expect(broken.run(packet({ text: 'hey' }), context)).rejects.toBeInstanceOf(z.ZodError);
});
