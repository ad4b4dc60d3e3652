import { expect, test } from 'vitest';
import type { JsonObject, Packet } from '../contracts/packet.ts';
import { createLiar } from './lies.ts';

const asked = { question: 'Who designed the footbridge over Kestrel Gorge?' };
const cause: Packet = {
  type: 'call',
  from: 'a',
  id: '1',
  task_id: 't',
  token_used: 0,
  ts: 0,
  payload: asked,
};
const log = { info: () => undefined };
const lie = (payload: JsonObject, seed = 7) =>
  createLiar({ types: ['result'], seed }, { log })({ type: 'result', payload }, cause).payload;

test('a lie has the shape of what was said, with other names and numbers, and is about the same question', () => {
  const said = {
    text: 'The footbridge over Kestrel Gorge is by Philippa Dunmore (1932).\nFINAL ANSWER: Philippa Dunmore',
    data: { answer: 'Philippa Dunmore', trace: [{ by: 'expert', kind: 'result', text: 'Dunmore, 1932' }] },
    ...asked,
    file: 'Dunmore 1932.pdf',
  };
  const told = lie(said);
  const name = /FINAL ANSWER: (.+)$/.exec(told.text as string)?.[1];

  expect(name).toMatch(/^\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+$/u);
  expect(JSON.stringify(told.data)).not.toContain('Dunmore');
  expect(told).toMatchObject({
    text: expect.stringMatching(`^The footbridge over Kestrel Gorge is by ${name} \\([1-9]\\d{3}\\)\\.\n`),
    data: { answer: name, trace: [{ by: 'expert', kind: 'result' }] },
    ...asked,
    file: said.file,
  });
  expect(told.text).not.toContain('1932');
});

test('the seed and what is replaced decide, and nothing else', () => {
  const texts = [{ answer: 'Rome' }, { answer: '1932' }, { answer: 'plum tart' }, { answer: '0' }];

  expect(texts.map((text) => lie(text))).toEqual(texts.map((text) => lie(text)));
  for (const text of texts) {
    expect(lie(text)).not.toEqual(text);
    expect(lie(text, 8)).not.toEqual(lie(text, 7));
  }
  expect(lie({ text: 'In Rome.' }).text).toBe(`In ${lie({ answer: 'Rome' }).answer}.`);
});

test('a number has as many digits, and is always another', () => {
  for (let seed = 0; seed < 200; seed++) {
    const { answer } = lie({ answer: '9' }, seed);
    expect(answer).toMatch(/^[1-8]$/);
    expect(lie({ answer: '1,205.50' }, seed).answer).toMatch(/^[2-9],[1-9]\d\d\.[1-9]\d$/);
  }
});

test('an answer in small letters, and a text without names and numbers, are changed too', () => {
  expect(lie({ answer: 'white' }).answer).toMatch(/^[a-z]+$/);
  expect(lie({ fact: 'the door is white' }).fact).toMatch(/^the door is (?!white)[a-z]+$/);
});

test('who has nothing to lie about says so by name', () => {
  expect(() => lie({ accepted: true, usage: [] })).toThrow(
    /no text to lie in: its fields are accepted, usage/,
  );
});
