import { expect, test } from 'vitest';
import { hashText } from '../contracts/model-exchange.ts';
import type { JsonObject, Packet } from '../contracts/packet.ts';
import type { BranchFile } from '../recording/branch-file.ts';
import { Branches } from './branches.ts';

const digest = (payload: JsonObject) => hashText(JSON.stringify(payload));
const reply = (key: string, leads_to: number | null) => ({
  key,
  role: 'a',
  model: 'm',
  reply: { content: key, tool_calls: [], finish: 'stop' as const },
  prompt_tokens: 1,
  completion_tokens: 1,
  leads_to,
});
const FILE: BranchFile = {
  branches: 1,
  packets: [
    { from: 'a', to: 'b', type: 'x.call', payload: { n: 1 } },
    { from: 'b', to: 'a', type: 'x.result', cause: digest({ n: 1 }), payload: { said: 'one' } },
    { from: 'b', to: 'a', type: 'x.result', cause: digest({ n: 2 }), payload: { said: 'two' } },
    { from: 'a', type: 'answer', tag: 'final_answer', payload: { answer: 'two' } },
  ],
  replies: { a: [reply('first', 1), reply('second', 4), reply('last', null)] },
  tasks: {
    none: { keep: 0 },
    one: { keep: 1 },
    three: { keep: 3 },
    lies: { keep: 3, instead: { said: 'three' } },
    all: { keep: 4 },
  },
};
const cause = (task_id: string, payload: JsonObject = {}): Packet => ({
  type: 'x.call',
  from: 'a',
  id: 'a-1',
  task_id,
  token_used: 0,
  ts: 0,
  payload,
});
const result = { type: 'x.result', to: 'a', reply_to: 'a-1', payload: { said: 'anew' } };

test('packets up to the branch say what they said, to whatever request it was; what follows is the agent’s own', () => {
  const b = new Branches(FILE, 'b');

  expect(b.rewrite(result, cause('three', { n: 2 })).payload).toEqual({ said: 'two' });
  expect(b.rewrite(result, cause('three', { n: 1 }))).toEqual({ ...result, payload: { said: 'one' } });
  expect(b.rewrite(result, cause('three', { n: 3 }))).toBe(result);
  expect(b.rewrite(result, cause('one'))).toBe(result);
  expect(b.rewrite(result, cause('another task'))).toBe(result);
});

test('the packet at which it branches off says something else, and no other', () => {
  const b = new Branches(FILE, 'b');

  expect(b.rewrite(result, cause('lies', { n: 1 })).payload).toEqual({ said: 'one' });
  expect(b.rewrite(result, cause('lies', { n: 2 })).payload).toEqual({ said: 'three' });
});

test('who does something else before the branch is stopped, by name; a failure is let through', () => {
  const a = new Branches(FILE, 'a');
  const other = { type: 'y.call', to: 'c', payload: {} };

  expect(() => a.rewrite(other, cause('one'))).toThrow(
    'not as it was recorded: a sends y.call to c where x.call to b (message 1) was recorded',
  );
  expect(() => a.rewrite({ ...other, to: 'b', type: 'x.call' }, cause('one'))).not.toThrow();
  expect(a.rewrite(other, cause('one'))).toBe(other);
  expect(a.rewrite({ type: 'task_failed', payload: {} }, cause('all')).payload).toEqual({});
});

test('a model’s replies are given again as long as they led to packets before the branch', () => {
  const a = new Branches(FILE, 'a');
  const keys = (task: string) => a.repliesOf(task)?.map(({ key }) => key);

  expect(keys('none')).toBeUndefined();
  expect(keys('three')).toEqual(['first']);
  expect(keys('all')).toEqual(['first', 'second']);
  a.repliesOf('three')?.splice(0, 1);
  expect(keys('three')).toBeUndefined();
  expect(keys('one')).toEqual(['first']);
});
