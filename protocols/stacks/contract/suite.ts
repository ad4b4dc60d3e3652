import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { assertSame } from '@gaia-mesh/protocols/contract/run.ts';
import { contractSamples, fullPacket } from '@gaia-mesh/protocols/contract/samples.ts';
import { createReply, listCountingChecks, type StackCheck, withPair } from './pair.ts';
import type { Inbox, Stack, StackSettings, TlsIdentity } from './stack.ts';

/**
 * Returns the contract for `stack`, without a test runner: `run` rejects with an AssertionError, or with the error
 * that the stack threw where it should not. Each check has a server and a client of its own in this process;
 * together they take about a second. Properties of one stack alone (its messages, its protocol's demands) are in
 * the test beside it.
 *
 * @param tls a certificate for 127.0.0.1; without one nothing is checked over TLS
 */
export function listStackChecks(stack: Stack, tls: TlsIdentity | null) {
  const { oneWay, hasTls } = stack.traits;
  const checks: readonly StackCheck[] = [
    ['packets arrive as they were, and so do their answers', (each) => checkRoundTrips(each, {})],
    ['several exchanges are under way at once', checkConcurrency],
    ['a packet that nobody answers ends with no packet', checkOneWay],
    ...(oneWay === 'silent' ? [] : [['several packets answer one', checkSeveralAnswers] as const]),
    ['work that fails is an error at the client, with its reason', checkFailure],
    ['an exchange ends at its deadline, and the next one works', checkDeadline],
    ['an exchange ends when it is aborted, and the next one works', checkAbort],
    ['a message of several megabytes arrives, and so does its answer', checkLarge],
    ...listCountingChecks(null),
    ['a server that was closed is gone', checkClosed],
    ['a client says that nobody is there', checkNobodyThere],
    ...(hasTls && tls !== null ? listTlsChecks(tls) : []),
  ];
  return checks.map(([name, run]) => ({ name, run: () => run(stack) }));
}

function listTlsChecks(tls: TlsIdentity): readonly StackCheck[] {
  const roundTrips: StackCheck = [
    'packets arrive as they were, and so do their answers',
    (each) => checkRoundTrips(each, { tls }, MAX_TLS_SAMPLE_BYTES),
  ];
  return [roundTrips, ...listCountingChecks(tls)].map(([name, run]) => [`over TLS ${name}`, run] as const);
}

/** Maximum growth of JSON in a stack that doubles and escapes its content. */
const MAX_GROWTH = 4;

/**
 * Maximum bytes of a sample over TLS. The same messages go through, so only lengths of several records are of
 * interest.
 */
const MAX_TLS_SAMPLE_BYTES = 100_000;

async function checkRoundTrips(
  stack: Stack,
  settings: Partial<StackSettings>,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { deepestPayload: deepest = Number.POSITIVE_INFINITY, losesEmptyLists = false } = stack.traits;
  const most = Math.min(mostBytes, limitMessageBytes(stack) / MAX_GROWTH);
  const packets = contractSamples
    .map(({ packet }) => packet)
    .filter((packet) => JSON.stringify(packet).length < most && measureDepth(packet.payload) <= deepest)
    .filter((packet) => !losesEmptyLists || !JSON.stringify(packet).includes('[]'));
  const received: Packet[] = [];
  const inbox: Inbox = async (packet) => {
    received.push(packet);
    return [createReply(packet)];
  };
  await withPair(stack, inbox, settings, async ({ ask }) => {
    for (const packet of packets) {
      const answers = await ask(packet);
      assertSame(received.pop(), packet, 'what arrives is not what was sent');
      assertSame(answers, [createReply(packet)], 'the answer is not what was answered');
    }
  });
  assert.deepEqual(received, [], 'a packet arrived more than once');
}

function limitMessageBytes({ traits }: Stack): number {
  return traits.largestMessageBytes ?? Number.POSITIVE_INFINITY;
}

function measureDepth(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(measureDepth));
}

const MANY = 4;

async function checkConcurrency(stack: Stack): Promise<void> {
  const { promise: allCame, resolve } = Promise.withResolvers<void>();
  let came = 0;
  const inbox: Inbox = async (packet) => {
    came += 1;
    if (came === MANY) resolve();
    await allCame;
    return [createReply(packet)];
  };
  await withPair(stack, inbox, { connections: MANY }, async ({ ask }) => {
    const packets = Array.from({ length: MANY }, (_, i) => ({ ...fullPacket, id: `p-${i}` }));
    const answers = await Promise.all(packets.map((packet) => ask(packet)));
    assertSame(
      answers.map(([answer]) => answer?.reply_to),
      packets.map(({ id }) => id),
      'answers went to others than asked',
    );
    // Large and small packets overtake each other where there are several connections.
    const mixed = Array.from({ length: 8 * MANY }, (_, i) => createMixedPacket(i));
    const all = await Promise.all(mixed.map((packet) => ask(packet)));
    assertSame(
      all,
      mixed.map((packet) => [createReply(packet)]),
      'the answers to many',
    );
  });
}

function createMixedPacket(i: number): Packet {
  return { ...fullPacket, id: `m-${i}`, payload: { text: 'x'.repeat(i % 3 === 0 ? 10_000 : 1) } };
}

async function checkOneWay(stack: Stack): Promise<void> {
  const received: string[] = [];
  const inbox: Inbox = async ({ id }) => {
    received.push(id);
    return [];
  };
  await withPair(stack, inbox, {}, async ({ ask }) => {
    const { reply_to: _, ...oneWay } = fullPacket;
    assertSame(await ask(oneWay, 0), [], 'a one-way packet was answered');
    if (stack.traits.oneWay === 'silent') await pollUntil(() => received.length > 0);
    assertSame(received, [oneWay.id], 'what arrived');
  });
}

async function checkSeveralAnswers(stack: Stack): Promise<void> {
  const answers = (packet: Packet) => ['a', 'b', 'c'].map((id) => ({ ...createReply(packet), id }));
  await withPair(
    stack,
    async (packet) => answers(packet),
    {},
    async ({ ask }) => {
      assertSame(await ask(fullPacket, 3), answers(fullPacket), 'the answers');
    },
  );
}

async function checkFailure(stack: Stack): Promise<void> {
  const inbox: Inbox = async (packet) => {
    if (packet.id === 'bad') throw new MeshError('tool', 'the disk is full');
    return [createReply(packet)];
  };
  await withPair(stack, inbox, {}, async ({ ask }) => {
    await assert.rejects(ask({ ...fullPacket, id: 'bad' }), (error: unknown) => {
      assert.ok(error instanceof MeshError, 'not a MeshError');
      assert.match(error.message, /the disk is full/);
      return true;
    });
    assertSame(await ask(fullPacket), [createReply(fullPacket)], 'the next answer');
  });
}

const SHORT_DEADLINE_MS = 300;
/** Exchanges after the one that ended at its deadline; a busy machine may take longer than the deadline for some of them. */
const MAX_NEXT = 20;

async function checkDeadline(stack: Stack): Promise<void> {
  await withPair(stack, createStuckInbox('stuck'), { deadlineMs: SHORT_DEADLINE_MS }, async ({ ask }) => {
    const began = performance.now();
    await assert.rejects(ask({ ...fullPacket, id: 'stuck' }), { code: 'agent' });
    assert.ok(performance.now() - began > SHORT_DEADLINE_MS / 2, 'it ended before its deadline');
    await assertOneAnswered(ask);
  });
}

async function assertOneAnswered(ask: (packet: Packet) => Promise<readonly Packet[]>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const packet = { ...fullPacket, id: `next-${tries}` };
    try {
      assertSame(await ask(packet), [createReply(packet)], 'the next answer');
      return;
    } catch (error) {
      if (tries === MAX_NEXT || !(error instanceof MeshError) || error.code !== 'agent') throw error;
    }
  }
}

async function checkAbort(stack: Stack): Promise<void> {
  await withPair(stack, createStuckInbox('stuck'), {}, async ({ client, ask }) => {
    const abort = new AbortController();
    const asked = client.exchange({ ...fullPacket, id: 'stuck' }, abort.signal);
    const ended = assert.rejects(asked);
    abort.abort(new MeshError('interrupted', 'the user has had enough'));
    await ended;
    await assert.rejects(client.exchange(fullPacket, AbortSignal.abort(new Error('before'))));
    assertSame(await ask(fullPacket), [createReply(fullPacket)], 'the next answer');
  });
}

/** Creates an inbox that does not answer the packet of this id until its server ends. */
function createStuckInbox(stuck: string): Inbox {
  return async (packet, signal) => {
    if (packet.id === stuck) await sleep(60_000, undefined, { signal, ref: false });
    return [createReply(packet)];
  };
}

async function checkClosed(stack: Stack): Promise<void> {
  const { address, port } = await withPair(
    stack,
    async () => [],
    {},
    async ({ server, ask }) => {
      await ask(fullPacket, 0);
      return server;
    },
  );
  if (port !== undefined) assert.ok(!(await isListening(port)), `port ${port} still listens`);
  if (address.startsWith('unix:'))
    assert.ok(!existsSync(address.slice('unix:'.length)), `${address} is left`);
}

async function checkNobodyThere(stack: Stack): Promise<void> {
  // A server that its client starts can always be reached.
  if (stack.transport === 'stdio') return;
  const { address, settings } = await withPair(
    stack,
    async () => [],
    { deadlineMs: SHORT_DEADLINE_MS },
    async (pair) => ({ address: pair.server.address, settings: pair.settings }),
  );
  const session = async () => {
    const client = await stack.connect(address, settings);
    try {
      await client.exchange(fullPacket, AbortSignal.timeout(5_000));
    } finally {
      await client.close();
    }
  };
  await assert.rejects(session(), MeshError);
}

async function isListening(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function pollUntil(isSo: () => boolean): Promise<void> {
  for (let looks = 0; !isSo() && looks < 500; looks++) await sleep(10);
}

function createSizedPacket(length: number): Packet {
  return { ...fullPacket, payload: { text: 'x'.repeat(length) } };
}

/** Length of a text that is larger than what libraries take by default, such as the 4 MiB of gRPC's. */
const LARGE_LENGTH = 5 * 1024 * 1024;

/** Checks that a message is carried that is large for a protocol's library, and small for the mesh. */
async function checkLarge(stack: Stack): Promise<void> {
  if (limitMessageBytes(stack) < MAX_GROWTH * LARGE_LENGTH) return;
  const packet = createSizedPacket(LARGE_LENGTH);
  await withPair(
    stack,
    async (received) => [createReply(received)],
    {},
    async ({ ask }) => {
      const [answer] = await ask(packet);
      assert.equal(String(answer?.payload.text).length, LARGE_LENGTH, 'the length of the answered text');
    },
  );
}
