import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Endpoint } from '../listen.ts';
import { CountingProxy, type ProxyBytes } from './counting-proxy.ts';
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
  const server = await stack.serve(inbox, { ...settings, advertisedPort: proxy?.tcpPort });
  // An answer that is an exchange of its own travels over another connection.
  const back =
    proxy !== undefined && stack.traits.replies === 'own exchange' ? await CountingProxy.listen() : undefined;
  try {
    const { address, to } = routeThroughProxy(server, proxy);
    if (to !== undefined) proxy?.forwardTo(to);
    const client = await stack.connect(address, { ...settings, advertisedPort: back?.tcpPort });
    if (client.port !== undefined) back?.forwardTo({ port: client.port });
    try {
      return await work({
        server,
        client,
        ask: (packet, answers) => client.exchange(packet, AbortSignal.timeout(30_000), answers),
        settled: () => awaitSettled(client, server, () => readProxyBytes(proxy, back)),
      });
    } finally {
      await client.close();
    }
  } finally {
    await server.close();
    await back?.close();
  }
}

function readProxyBytes(
  proxy: CountingProxy | undefined,
  back: CountingProxy | undefined,
): ProxyBytes | undefined {
  if (proxy === undefined || back === undefined) return proxy?.bytes;
  const [there, here] = [proxy.bytes, back.bytes];
  return {
    connections: there.connections + here.connections,
    up: there.up + here.down,
    down: there.down + here.up,
  };
}

const UNIX = 'unix:';

function routeThroughProxy(
  { address, port }: StackServer,
  proxy: CountingProxy | undefined,
): { address: string; to: Endpoint | undefined } {
  if (proxy === undefined) return { address, to: undefined };
  // A server on a port has advertised the proxy's port, which it knew beforehand.
  if (port !== undefined) return { address, to: { port } };
  if (!address.startsWith(UNIX) || proxy.path === undefined) {
    throw new Error(`${address}: there is no way to put a proxy before it`);
  }
  return { address: UNIX + proxy.path, to: { path: address.slice(UNIX.length) } };
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
