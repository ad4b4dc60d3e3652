import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BEHAVIOURS, behaving, behaviourOf } from '@gaia-mesh/tools/fixtures/model-behaviours.ts';
import { startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import { expect, test } from 'vitest';
import { readScript } from './model-server-command.ts';

function scriptOf(...lines: object[]) {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'script-')), 'script.jsonl');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return readScript(file);
}

async function say(url: string, content: string, more: object = {}) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more }),
  });
  const text = await response.text();
  return { status: response.status, text };
}

test('of the lines that fit a request each is said as often as it says, and the last one for ever', async () => {
  const script = scriptOf(
    { when: 'heron', content: 'a bird', times: 2 },
    { content: 'nothing' },
    { content: 'nothing more' },
  );
  const server = await startModelServer(script);
  const said = [];
  for (const word of ['Heron?', 'why', 'heron', 'heron', 'why', 'why'])
    said.push(/"content":"([^"]*)"/.exec((await say(server.url, word)).text)?.[1]);
  expect(said).toEqual(['a bird', 'nothing', 'a bird', 'nothing more', 'nothing more', 'nothing more']);
  await server.close();
});

test('a script that cannot be used is refused with file and line', () => {
  expect(() => scriptOf({ content: 'a' }, { says: 'b' })).toThrow(/script\.jsonl:2/);
  expect(() => scriptOf({ when: '(' })).toThrow(/script\.jsonl:1: when/);
  expect(() => readScript('/nowhere/script.jsonl')).toThrow(/nowhere/);
});

test('a behaviour is named, with a number where it has one, and those that refuse take no line of the script', async () => {
  for (const [name, { number }] of Object.entries(BEHAVIOURS)) {
    expect(behaviourOf(number === undefined ? name : `${name}=5`)).toBeDefined();
    expect(behaviourOf(number === undefined ? `${name}=5` : name)).toBeUndefined();
  }
  const behaviours = ['no-tools', 'context=100', 'no-usage'].flatMap((text) => behaviourOf(text) ?? []);
  const server = await startModelServer(behaving([{ content: 'first' }, { content: 'second' }], behaviours));
  const tools = [{ type: 'function', function: { name: 't', parameters: { type: 'object' } } }];
  expect((await say(server.url, 'a', { tools })).text).toContain('m does not support tools');
  expect((await say(server.url, 'x'.repeat(1_000))).text).toContain(
    'exceeds the available context size (100 tokens)',
  );
  const { status, text } = await say(server.url, 'a');
  expect(status).toBe(200);
  expect(text).toContain('first');
  expect(text).not.toContain('usage');
  await server.close();
});
