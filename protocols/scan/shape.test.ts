import { copyHead, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, it } from 'vitest';
import { a2a } from '../a2a.ts';
import { fullPacket } from '../contract/samples.ts';
import { mcp } from '../mcp.ts';
import { opened } from '../testing/session.ts';
import { createLook, createShape } from './shape.ts';

const { reply_to: _, tag: __, ...request } = fullPacket;

describe.each([
  ['an A2A request', a2a, request],
  ['an A2A event', a2a, fullPacket],
  ['an MCP call', mcp, fullPacket],
])('%s', (_name, adapter, plain: Packet) => {
  const { codec, decode, peek } = opened(adapter);
  const plainText = Buffer.from(codec.encode(plain)).toString();

  it.each(['jsonrpc', 'type', 'task_id', 'contextId'])(
    'refuses %s twice, in a peek too, and says so',
    (key) => {
      const text = plainText.replace(`"${key}":`, `"${key}":1,"${key}":`);
      if (text === plainText) return;
      expect(() => decode(text)).toThrow('packet');
      const again = plainText.replace(new RegExp(`("${key}":"[^"]+")`), '$1,$1');
      expect(() => decode(again)).toThrow(`the key ${key} comes twice`);
      expect(() => peek(again)).toThrow(`the key ${key} comes twice`);
    },
  );

  it.each(['x', '__proto__', 'constructor'])('refuses a key %s, in a peek too, and says so', (key) => {
    for (const before of ['{"jsonrpc"', '{"jsonrpc":"2.0","id"', '"token_used"']) {
      const text = plainText.replace(
        before,
        before.replace(/"[^"]+"$/, (last) => `"${key}":{},${last}`),
      );
      expect(text).not.toBe(plainText);
      expect(() => decode(text)).toThrow(`unrecognized key "${key}"`);
      expect(() => peek(text)).toThrow(`a key "${key}" that has no place there`);
    }
  });
});

/** A message with the payload last. */
const write = ({ type, from, to, id, reply_to, task_id, tag, token_used, log_uri, ts, payload }: Packet) => ({
  version: 2,
  ids: [{ id, again: id }],
  head: { type, from, to, task_id, tag, token_used },
  body: { reply_to, log_uri, ts, payload, kind: tag === 'final_answer' ? 'end' : undefined },
});

describe('a shape', () => {
  const shape = createShape(write);
  const look = createLook([write]);
  const message = JSON.parse(JSON.stringify(write(fullPacket)));
  const changed = (part: string, change: object) => ({ ...message, [part]: { ...message[part], ...change } });

  it('reads what is written', () => {
    expect(shape.read(message)).toStrictEqual(fullPacket);
    expect(look.peek(Buffer.from(JSON.stringify(message)))).toStrictEqual(copyHead(fullPacket));
  });

  it.each([
    ['another constant', { ...message, version: 3 }, 'version: expected 2, received 3'],
    ['a constant of another kind', { ...message, version: '2' }, 'version: expected number, received string'],
    ['a missing object', { ...message, head: undefined }, 'head: expected object, received undefined'],
    ['a list for an object', { ...message, head: [] }, 'head: expected object, received array'],
    ['an item too many', { ...message, ids: [...message.ids, 1] }, 'ids: unrecognized key "1"'],
    ['no item', { ...message, ids: [] }, 'ids.0: expected object, received undefined'],
    ['a missing key', changed('head', { type: undefined }), 'head.type: expected string, received undefined'],
    [
      'two ids that differ',
      { ...message, ids: [{ id: 'x', again: 'y' }] },
      'ids.0.id: expected "y", received "x"',
    ],
    [
      'what does not follow from the packet',
      changed('body', { kind: undefined }),
      'body.kind: expected string',
    ],
    ['what follows from another packet', changed('head', { tag: 'x' }), 'body: unrecognized key "kind"'],
    ['a key of a packet that is none', changed('head', { token_used: -1 }), 'token_used'],
    ['a text', 'x', 'expected object, received string'],
  ])('refuses %s and says where it is', (_what, value, reason) => {
    expect(() => shape.read(JSON.parse(JSON.stringify(value)))).toThrow(reason);
  });

  it('is peeked up to the payload, where no key of the head can be behind it', () => {
    const text = JSON.stringify(message);
    const behind = text.slice(0, text.indexOf('"payload":') + '"payload":'.length);
    expect(look.peek(Buffer.from(`${behind}?`))).toStrictEqual(copyHead(fullPacket));
    const early = JSON.stringify({ body: message.body, ...message });
    expect(look.peek(Buffer.from(early))).toStrictEqual(copyHead(fullPacket));
    expect(() => look.peek(Buffer.from(early.replace('"head"', '?')))).toThrow('packet');
  });
});
