import assert from 'node:assert/strict';
import type { Packet } from '../../../core/contracts/packet.ts';
import { fullPacket } from '../../contract/samples.ts';
import { replyTo, withPair } from './pair.ts';
import type { Inbox, Stack } from './stack.ts';

/** Larger messages than this take seconds, and that is what frames of 64 MiB are for. */
const MAX_TRIED_BYTES = 16 * 1024 * 1024;

/** Lengths may be written in more bytes for a longer message. */
const TRIES = 4;

/** A message as long as `largestMessageBytes` says comes, one that is a byte longer is an error, and the client lives on. */
export async function checkLargest({ traits, ...rest }: Stack): Promise<void> {
  const stack = { ...rest, traits };
  const { largestMessageBytes: most } = traits;
  if (most === null || most > MAX_TRIED_BYTES) return;
  let heard = 0;
  const inbox: Inbox = async (packet) => {
    heard = String(packet.payload.text).length;
    return [replyTo({ ...packet, payload: {} })];
  };
  await withPair(stack, inbox, {}, async ({ client, ask }) => {
    /** Bytes of the message that carries a text of this length. */
    const bodyOf = async (length: number) => {
      const before = client.wire().sent.body;
      await ask(packetOf(length));
      assert.equal(heard, length, 'the length of the text that came');
      return client.wire().sent.body - before;
    };
    let length = Math.floor(most / 2);
    for (let tries = 0, body = await bodyOf(length); body !== most && tries < TRIES; tries++) {
      length += most - body;
      body = await bodyOf(length);
      if (tries === TRIES - 1) assert.equal(body, most, 'no text makes a message of the largest size');
    }
    await assert.rejects(ask(packetOf(length + 1)), `${most + 1} bytes were taken`);
    await bodyOf(10);
  });
}

function packetOf(length: number): Packet {
  return { ...fullPacket, payload: { text: 'x'.repeat(length) } };
}
