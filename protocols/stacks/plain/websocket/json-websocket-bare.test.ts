import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { fullPacket } from '../../../contract/samples.ts';
import { withPair } from '../../contract/pair.ts';
import { testSettings } from '../../testing/settings.ts';
import { FrameParser, OPCODE, webSocketFrame } from './frames.ts';
import { jsonWebSocket } from './json-websocket.ts';
import { jsonWebSocketBare } from './json-websocket-bare.ts';

const reply = { ...fullPacket, id: 'answer', reply_to: fullPacket.id };

describe.each([
  ['our client and the server of ws', jsonWebSocketBare, jsonWebSocket],
  ['the client of ws and our server', jsonWebSocket, jsonWebSocketBare],
])('%s', (_name, client, server) => {
  test('speak the same protocol', async () => {
    const mixed = { ...server, connect: client.connect };
    await withPair(
      mixed,
      async () => [reply],
      {},
      async ({ ask }) => {
        expect(await ask(fullPacket)).toEqual([reply]);
      },
    );
  });
});

test('a message in pieces with a ping between them is one message, and the ping is answered', async () => {
  const heard: string[] = [];
  const server = await jsonWebSocketBare.serve(async ({ id }) => {
    heard.push(id);
    return [reply];
  }, testSettings);
  const socket = new WebSocket(server.address);
  await new Promise((resolve) => socket.once('open', resolve));
  const [ponged, answered] = [
    new Promise((resolve) => socket.once('pong', resolve)),
    new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data)))),
  ];
  const text = JSON.stringify(fullPacket);
  socket.send(text.slice(0, 10), { fin: false });
  socket.ping('x');
  socket.send(text.slice(10), { fin: true });
  expect(String(await ponged)).toBe('x');
  expect(JSON.parse(await answered)).toMatchObject({ id: 'answer' });
  expect(heard).toEqual([fullPacket.id]);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.close(1000);
  expect(await closed).toBe(1000);
  await server.close();
});

describe('frames', () => {
  const heard = (isMasked: boolean, bytes: Buffer, step = bytes.length) => {
    const messages: Buffer[] = [];
    const parser = new FrameParser(isMasked, {
      onMessage: (one) => messages.push(one),
      onControl: () => undefined,
    });
    for (let at = 0; at < bytes.length; at += step) parser.push(bytes.subarray(at, at + step));
    return messages;
  };

  test.each([0, 1, 125, 126, 65_535, 65_536])('of %i bytes come as they went, cut anywhere', (length) => {
    const payload = Buffer.alloc(length, 'né');
    for (const isMasked of [true, false]) {
      const frame = webSocketFrame(OPCODE.text, payload, isMasked);
      const twice = Buffer.concat([frame, frame]);
      for (const step of [1, 7, 4096, twice.length])
        expect(heard(isMasked, twice, step)).toEqual([payload, payload]);
    }
  });

  const text = webSocketFrame(OPCODE.text, Buffer.from('hi'), true);
  const changed = (at: number, value: number) => {
    const copy = Buffer.from(text);
    copy[at] = value;
    return copy;
  };
  const huge = Buffer.alloc(10);
  huge.set([0x81, 0x7f]);
  huge.writeBigUInt64BE(2n ** 40n, 2);

  test.each([
    ['that are not masked', true, webSocketFrame(OPCODE.text, Buffer.from('hi'), false), 'not masked'],
    ['with an extension', true, changed(0, 0xc1), 'an extension'],
    ['of no known kind', true, changed(0, 0x83), 'opcode 3'],
    ['that go on with nothing', true, changed(0, 0x80), 'the end of none'],
    ['that control and are not whole', true, changed(0, 0x09), 'not whole'],
    ['larger than any packet', false, huge, 'at most'],
  ])('%s are refused', (_name, isMasked, bytes, message) => {
    expect(() => heard(isMasked, bytes)).toThrow(message);
  });
});
