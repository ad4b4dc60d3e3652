import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ControlChannel } from './control-channel.ts';
import { listenInPrivate } from './listen.ts';

/** Returns both ends of a socket. */
async function connectPair(): Promise<readonly [Socket, Socket]> {
  const server = net.createServer();
  const { file, remove } = await listenInPrivate(server);
  const accepted = once(server, 'connection');
  const client = net.connect(file);
  const [socket] = await accepted;
  remove();
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return [socket, client];
}

/** Bytes of a line around the text that it answers. */
const AROUND = '{"call":1,"value":""}'.length;

test.each([
  ['an answer of the largest line', 1000 - AROUND, 'arrives'],
  ['a longer one', 1001 - AROUND, 'ends the channel'],
])('%s of %d letters %s', async (_what, letters, outcome) => {
  const [near, far] = await connectPair();
  const text = 'x'.repeat(letters);
  const answering = new ControlChannel(far, async () => text);
  const asking = new ControlChannel(near, async () => null, 1000);
  const answer = asking.ask({ do: 'tell' });
  if (outcome === 'arrives') expect(await answer).toBe(text);
  else await expect(answer).rejects.toThrow('stdio line: expected at most 1000 bytes');
  expect(asking.isOpen).toBe(outcome === 'arrives');
  asking.close();
  await answering.ended;
});
