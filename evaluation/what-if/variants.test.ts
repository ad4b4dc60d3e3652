import { expect, test } from 'vitest';
import type { ChatMessage, ToolDefinition } from '../../core/contracts/engine.ts';
import { type Prompt, VARIANTS } from './variants.ts';

const rows = Array.from({ length: 5 }, (_, id) => ({ id, name: `ferry ${id}`, seats: 40 + id }));
const tool = (name: string): ToolDefinition => ({
  name,
  description: `Does ${name}`,
  parameters: { type: 'object', properties: {} },
});
const user = (text: string, kind: 'peer' | 'file' = 'file'): ChatMessage => ({
  role: 'user',
  content: text,
  parts: [{ kind, text }],
});

function written(name: string, prompt: Prompt): Prompt {
  const variant = VARIANTS.find((one) => one.name === name);
  if (variant === undefined) throw new Error(`no variant ${name}`);
  return variant.write(prompt);
}

test.each(['compact JSON', 'TOON'])('%s writes the JSON of a prompt shorter, and nothing else', (name) => {
  const pretty = JSON.stringify(rows, null, 2);
  const prose = 'Not {JSON} at all: [1, 2';
  const { messages } = written(name, {
    tools: [],
    messages: [
      user(pretty),
      user(`See:\n\`\`\`json\n${pretty}\n\`\`\`\nand answer.`),
      user(prose),
      { role: 'tool', toolCallId: '1', name: 't', content: pretty },
    ],
  });
  expect(messages[0]?.content.length).toBeLessThan(pretty.length / 1.5);
  expect(messages[1]?.content).toMatch(/^See:\n```json\n.*\n```\nand answer\.$/s);
  expect(messages[1]?.content.length).toBeLessThan(pretty.length);
  expect(messages[2]?.content).toBe(prose);
  expect(messages[3]).toMatchObject({ role: 'tool', toolCallId: '1', content: messages[0]?.content });
});

test('a table as TOON is shorter than as compact JSON', () => {
  const prompt = { tools: [], messages: [user(JSON.stringify(rows))] };
  const length = (name: string) => written(name, prompt).messages[0]?.content.length ?? 0;
  expect(length('TOON')).toBeLessThan(length('compact JSON'));
});

test('tools on demand are one, and those that were called', () => {
  const tools = [tool('search'), tool('read'), tool('add')];
  const called: ChatMessage = {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: '1', name: 'read', arguments: {} }],
  };
  expect(written('tools on demand', { tools, messages: [] }).tools.map(({ name }) => name)).toEqual([
    'find_tools',
  ]);
  expect(written('tools on demand', { tools, messages: [called] }).tools.map(({ name }) => name)).toEqual([
    'find_tools',
    'read',
  ]);
  expect(written('tools on demand', { tools: [tool('search')], messages: [] }).tools).toHaveLength(1);
});

test('hand-offs are cut, and nothing that stood in a file', () => {
  const long = 'a plan of many words '.repeat(100);
  const { messages } = written('short hand-offs', {
    tools: [],
    messages: [user(long, 'peer'), user(long, 'file')],
  });
  expect(messages[0]?.content.length).toBeLessThan(500);
  expect(messages[1]?.content).toBe(long);
});
