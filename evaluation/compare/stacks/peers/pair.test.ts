import path from 'node:path';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { StackSettings } from '@gaia-mesh/stacks/contract/stack.ts';
import { sumWireBytes } from '@gaia-mesh/stacks/contract/wire-sum.ts';
import { afterEach, expect, test } from 'vitest';
import { Pair } from './pair.ts';
import { makePlayable } from './planned-inbox.ts';
import type { CommandOf } from './protocol.ts';

/** Real processes: a client and a server of a stack that is in a file of its own. */

const file = path.join(import.meta.dirname, '..', 'testing', 'framed-tcp.ts');
const settings: StackSettings = {
  tls: null,
  connections: 4,
  keepAliveMs: 10_000,
  deadlineMs: 10_000,
};

function packetOf(id: string, text: string): Packet {
  return { type: 'said', from: 'a', id, task_id: 't', token_used: 0, ts: 1, payload: { text } };
}

const options: CommandOf<'serve'> = {
  stack: { name: 'framed/tcp', implementation: 'bare', file },
  settings,
  exchanges: makePlayable([
    { request: packetOf('p', 'né'), replies: [{ ...packetOf('q', 'yes'), reply_to: 'p' }] },
    { request: packetOf('p', 'né'), replies: [] },
  ]),
  workMs: 0,
};

let pair: Pair | undefined;
afterEach(() => pair?.stop());

test('plays exchanges between two processes: every byte is on a line, both ends agree, and CPU time is of a side', async () => {
  pair = await Pair.start(options, new AbortController().signal);
  expect(pair.setup.wire).toMatchObject({ connections: 1, sent: { raw: 0 }, received: { raw: 0 } });

  const one = { kind: 'closed', count: 1, concurrency: 1, maxMs: 10_000 } as const;
  const first = await pair.play(one);
  expect(first).toMatchObject({ count: 1, isOverloaded: false });
  expect(first.timesUs).toHaveLength(1);
  const oneWay = await pair.play(one, { part: 'one-way' });
  const { sent, received } = sumWireBytes([first.wire, oneWay.wire]);
  const requests = options.exchanges.map(({ request }) => JSON.stringify(request));
  const body = requests.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  expect(sent).toEqual({ raw: body + 8, tls: 0, head: 8, body, messages: 2 });
  expect(received.messages).toBe(2);

  const again = await pair.play({ kind: 'closed', count: 200, concurrency: 4, maxMs: 10_000 });
  expect(again.count).toBe(200);
  // The ids of further passes have a mark and the number of the pass.
  expect(again.wire.sent.body).toBeGreaterThan(100 * body);
  expect(again.client.user + again.client.system).toBeGreaterThan(0);
  expect(again.server.user + again.server.system).toBeGreaterThan(0);

  const paced = await pair.play({ kind: 'open', count: 50, ratePerS: 500 });
  expect(paced.count).toBe(50);
  expect(paced.elapsedMs).toBeGreaterThan(98);
});

test('a server that its client starts works by itself: packets, bytes, CPU time and memory are told by its process', async () => {
  const stdio = { ...options, stack: { name: 'mcp/stdio', implementation: 'bare' as const } };
  pair = await Pair.start(stdio, new AbortController().signal);
  const [, before] = await pair.count();
  const load = await pair.play({ kind: 'closed', count: 300, concurrency: 4, maxMs: 10_000 });
  expect(load.count).toBe(300);
  expect(load.server.user + load.server.system).toBeGreaterThan(1000);
  const [, after] = await pair.count();
  expect(after.arrived - before.arrived).toBe(300);
  // The process that asked for it to be served has done nothing meanwhile but to count.
  const own = after.cpuUs.user + after.cpuUs.system - before.cpuUs.user - before.cpuUs.system;
  expect(own).toBeLessThan(load.server.user + load.server.system);
  expect(after.rssBytes).toBeGreaterThan(1e6);
});

test('a stack that nobody has is named', async () => {
  const unknown = { ...options, stack: { name: 'no/such', implementation: 'bare' as const } };
  await expect(Pair.start(unknown, new AbortController().signal)).rejects.toThrow(
    'unknown stack "no/such"; known: ',
  );
});

test('who gives up kills both processes', async () => {
  const over = new AbortController();
  pair = await Pair.start(options, over.signal);
  const playing = pair.play({ kind: 'open', count: 10_000, ratePerS: 100 });
  over.abort(new Error('enough'));
  await expect(playing).rejects.toThrow('it ended: SIGKILL');
});
