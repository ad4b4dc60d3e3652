import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { Forwarder } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import type { Inbox, Stack, StackClient, StackServer, StackSettings, WireBytes } from './stack.ts';
import { mirror } from './wire-sum.ts';

/** Settings with which an experiment begins. Every factor that a stack may ignore is at its usual value. */
export const USUAL_SETTINGS: StackSettings = {
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

/** Opens a forwarder that counts what it carries and parses none of it. It checks the meter and shares no code with it. */
export async function openCountingProxy(): Promise<CountingProxy> {
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
export interface Pair {
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
    const [counted, served] = [client.wire(), server.wire()];
    return { client: counted ?? mirror(served), server: served ?? mirror(counted), proxy: proxy() };
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
