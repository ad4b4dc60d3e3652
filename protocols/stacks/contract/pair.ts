import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { Forwarder } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import { fullPacket } from '@gaia-mesh/protocols/contract/samples.ts';
import type { Inbox, Stack, StackClient, StackServer, StackSettings, TlsIdentity } from './stack.ts';
import type { WireBytes } from './wire-sum.ts';
import { compareEnds } from './wire-sum.ts';

/** A check that every stack must pass. */
export type StackCheck = readonly [name: string, run: (stack: Stack) => Promise<void>];

/** Settings with which an experiment begins. Every factor that a stack may ignore is at its usual value. */
const USUAL_SETTINGS: StackSettings = {
  tls: null,
  connections: 4,
  keepAliveMs: 10_000,
  deadlineMs: 20_000,
};

/** Creates the answer of the checks' inbox: the packet itself, as a reply. */
export function createReply(packet: Packet): Packet {
  return { ...packet, id: 'answer', reply_to: packet.id };
}

/** Bytes that went through a proxy, counted as they came out of the sockets. */
interface ProxyBytes {
  readonly connections: number;
  /** Bytes from clients to the server. */
  readonly up: number;
  readonly down: number;
}

/** A forwarder between two ends. */
interface CountingProxy {
  readonly port: number;
  /** Counts from the last call of {@link forwardTo} on. */
  readonly bytes: ProxyBytes;
  forwardTo(port: number): void;
  close(): Promise<void>;
}

/** Opens a forwarder that counts bytes without parsing them. It checks the meter and shares no code with it. */
async function openCountingProxy(): Promise<CountingProxy> {
  let bytes = { connections: 0, up: 0, down: 0 };
  const forwarder = await Forwarder.listen((client, server, connect) => {
    const counters = bytes;
    counters.connections += 1;
    client.on('data', ({ length }) => {
      counters.up += length;
    });
    server.on('data', ({ length }) => {
      counters.down += length;
    });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
    connect();
  });
  return {
    port: forwarder.port,
    get bytes() {
      return { ...bytes };
    },
    forwardTo(port) {
      bytes = { connections: 0, up: 0, down: 0 };
      forwarder.forwardTo(port);
    },
    close: forwarder.close,
  };
}

/** A server and a client of it, in this process. */
interface Pair {
  readonly settings: StackSettings;
  readonly server: StackServer;
  readonly client: StackClient;
  ask(packet: Packet, answers?: number): Promise<readonly Packet[]>;
  /** Resolves with the counters of both sides, and of a proxy between them, when nothing is under way any more. */
  settled(): Promise<{ client: WireBytes; server: WireBytes; proxy: ProxyBytes | undefined }>;
}

/** Maximum wait, longer than any acknowledgement of HTTP/2, ticket of TLS or last event takes on a busy machine. */
const SETTLE_TIMEOUT_MS = 5_000;
const LOOK_EVERY_MS = 10;
/** Number of equal readings in a row after which nothing is under way. */
const SAME_LOOKS = 4;

/** Does `work` with a pair, which is closed afterwards. */
export async function withPair<Result>(
  stack: Stack,
  inbox: Inbox,
  changes: Partial<StackSettings>,
  work: (pair: Pair) => Promise<Result>,
  proxy?: CountingProxy,
): Promise<Result> {
  const settings = { ...USUAL_SETTINGS, ...changes };
  const server = await stack.serve(inbox, { ...settings, advertisedPort: proxy?.port });
  try {
    if (server.port !== undefined) proxy?.forwardTo(server.port);
    // A server on a port has advertised the proxy's port, which it knew beforehand.
    const client = await stack.connect(server.address, settings);
    try {
      return await work({
        settings,
        server,
        client,
        ask: (packet, answers) => client.exchange(packet, AbortSignal.timeout(30_000), answers),
        settled: () => awaitSettled(client, server, () => proxy?.bytes),
      });
    } finally {
      await client.close();
    }
  } finally {
    await server.close();
  }
}

async function awaitSettled(client: StackClient, server: StackServer, proxy: () => ProxyBytes | undefined) {
  const look = async () => {
    await server.ask?.();
    const counted = compareEnds(client.wire(), server.wire());
    return { client: counted.client, server: counted.server, proxy: proxy() };
  };
  let last = await look();
  const until = performance.now() + SETTLE_TIMEOUT_MS;
  for (let same = 0; same < SAME_LOOKS && performance.now() < until; ) {
    await sleep(LOOK_EVERY_MS);
    const next = await look();
    same = isDeepStrictEqual(next, last) ? same + 1 : 0;
    last = next;
  }
  return last;
}

/** Settings with which connections end after each exchange. */
const CLOSING = { keepAliveMs: 0 };

/** Returns the checks of the bytes that a stack counts, with TLS or without. */
export function listCountingChecks(tls: TlsIdentity | null): readonly StackCheck[] {
  const shared: readonly StackCheck[] = [
    ['every byte is on one line, the same ones at both ends', (stack) => checkLines(stack, tls)],
    ['a proxy between the ends counts the same bytes', (stack) => checkCountedByProxy(stack, tls)],
    ['connections that end with each exchange are counted', (stack) => checkLines(stack, tls, CLOSING)],
  ];
  return tls === null ? [...shared, ['bytes are the same from run to run', checkSameBytesAgain]] : shared;
}

const inbox: Inbox = async (packet) => [createReply(packet)];

/** A small payload, one of several writes and one of several TLS records, none of which compresses much. */
const payloads = [10, 3_000, 40_000].map((length) => ({ text: createNoise(length) }));
const packets: readonly Packet[] = payloads.map((payload, i) => ({ ...fullPacket, id: `p-${i}`, payload }));

/** Maximum attempts to have two runs within the same second of the clock; a busy machine needs several. */
const MAX_TRIES = 20;

/** Returns false for pipes and socket files: a forwarder stands between ports. */
const takesProxy = ({ transport }: Stack) => transport !== 'stdio' && transport !== 'unix';

async function askAll({ ask }: Pair): Promise<void> {
  for (const packet of packets) await ask(packet);
}

/**
 * Checks that every byte is on one line, that one end read all bytes that the other wrote, and that bodies
 * hold the payloads.
 *
 * @param changes with `keepAliveMs: 0` connections end with each exchange, and the end that closes one may not
 * read the other end's last bytes
 */
async function checkLines(
  stack: Stack,
  tls: TlsIdentity | null,
  changes: Partial<StackSettings> = {},
): Promise<void> {
  await withPair(stack, inbox, { tls, ...changes }, async (pair) => {
    const before = await pair.settled();
    // TLS is counted before it carries anything.
    assert.equal(compareEnds(before.client, before.server).why, undefined, 'the set-up');
    await askAll(pair);
    const { client, server } = await pair.settled();
    const { why, hasUnread, wire } = compareEnds(client, server);
    assert.equal(why, undefined);
    assert.ok(!hasUnread || changes.keepAliveMs === 0, 'bytes were not read, and no connection ended');
    assertLines(wire, tls !== null);
    const payloadBytes = payloads.reduce(
      (sum, payload) => sum + Buffer.byteLength(JSON.stringify(payload)),
      0,
    );
    for (const way of ['sent', 'received'] as const) {
      const body = client[way].body - before.client[way].body;
      const messages = client[way].messages - before.client[way].messages;
      assert.ok(messages >= packets.length, `${messages} messages ${way} for ${packets.length} packets`);
      // A base64 letter carries six bits of the eight that it takes.
      assert.ok(body > payloadBytes * 0.7, `bodies of ${body} bytes ${way} for payloads of ${payloadBytes}`);
    }
  });
}

function assertLines({ connections, sent, received }: WireBytes, isTls: boolean): void {
  assert.ok(connections > 0, 'no connection was counted');
  for (const { raw, tls, head, body, messages } of [sent, received]) {
    assert.equal(tls + head + body, raw, 'the lines do not sum to what the handles counted');
    const lines = JSON.stringify({ raw, tls, head, body, messages });
    assert.ok(Math.min(raw, tls, head, body, messages) >= 0, `a line is below 0: ${lines}`);
    assert.ok(body > 0 && messages > 0, `no message was counted: ${lines}`);
    assert.equal(tls > 0, isTls, `TLS is ${isTls ? 'on' : 'off'}: ${lines}`);
  }
}

/** Checks that a forwarder which shares no code with the meter counts the same bytes. */
async function checkCountedByProxy(stack: Stack, tls: TlsIdentity | null): Promise<void> {
  if (!takesProxy(stack)) return;
  const proxy = await openCountingProxy();
  try {
    await withPair(
      stack,
      inbox,
      { tls },
      async (pair) => {
        await askAll(pair);
        const { client, server, proxy: seen } = await pair.settled();
        const expected = { connections: seen?.connections, up: seen?.up, down: seen?.down };
        const atClient = { connections: client.connections, up: client.sent.raw, down: client.received.raw };
        const atServer = { connections: server.connections, up: server.received.raw, down: server.sent.raw };
        assert.deepEqual(atClient, expected, 'the client and the proxy');
        assert.deepEqual(atServer, expected, 'the server and the proxy');
      },
      proxy,
    );
  } finally {
    await proxy.close();
  }
}

/** Checks that two runs from a fresh start have the same bytes, with the same port, as it stands in heads. */
async function checkSameBytesAgain(stack: Stack): Promise<void> {
  const proxy = takesProxy(stack) ? await openCountingProxy() : undefined;
  const once = () =>
    withPair(
      stack,
      inbox,
      {},
      async (pair) => {
        await askAll(pair);
        return (await pair.settled()).client;
      },
      proxy,
    );
  try {
    for (let tries = 1; ; tries += 1) {
      const startedS = Math.floor(Date.now() / 1000);
      const first = await once();
      const second = await once();
      const isWithinASecond = Math.floor(Date.now() / 1000) === startedS;
      // Heads may carry the date, which compression repeats in a byte until the second changes.
      if (!isWithinASecond && tries < MAX_TRIES && !isDeepStrictEqual(first, second)) continue;
      assert.deepEqual(second, first, 'the second run and the first');
      return;
    }
  } finally {
    await proxy?.close();
  }
}

/** Returns the same letters for the same length. */
function createNoise(length: number): string {
  const random = new Random(length);
  return Buffer.from(Array.from({ length }, () => random.integer(256)))
    .toString('base64')
    .slice(0, length);
}
