import { setImmediate as nextTurn } from 'node:timers/promises';
import { MeshError } from '../../../core/contracts/errors.ts';
import type { Packet } from '../../../core/contracts/packet.ts';
import type { Certificate } from '../../../protocols/bindings/tls/self-signed.ts';
import { type Bytes, CountingServer, type Traffic } from './counting-server.ts';
import type { HttpBinding } from './http-binding.ts';

/** A request to a server in the same process. */
const REQUEST_TIMEOUT_MS = 10_000;

/** What one server heard. */
interface Played {
  /** Sums over the packets, a sum for each binding: on a connection that was open. */
  readonly sums: readonly Traffic[];
  /** What it took on TCP to open the connection: 0 without TLS. */
  readonly opening: Bytes;
}

/**
 * Sends every packet through every binding, one request at a time, to one server.
 *
 * @throws MeshError `packet` for an answer that the protocol does not allow, `io` when somebody else's bytes were counted
 */
export async function playOverHttp(
  bindings: readonly HttpBinding[],
  packets: readonly Packet[],
  signal: AbortSignal,
  certificate?: Certificate,
): Promise<Played> {
  const answers = new Map(bindings.map(({ adapter, answer }) => [`/${adapter}`, answer]));
  const server = await CountingServer.start(answers, certificate);
  try {
    const sums: Traffic[] = [];
    let opening: Bytes | undefined;
    for (const { adapter, connect } of bindings) {
      const ask = await connect(server.url(`/${adapter}`));
      const exchange = async (packet: Packet) => {
        const before = server.traffic();
        await ask(packet, AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]));
        // fetch gives a connection free a turn after the answer has been read.
        await nextTurn();
        return minus(server.traffic(), before);
      };
      const [first] = packets;
      if (first === undefined) throw new Error('there is no packet to send');
      const [fresh, again] = [await exchange(first), await exchange(first)];
      opening ??= minusBytes(fresh.wire, again.wire);
      const before = server.traffic();
      for (const packet of packets) await exchange(packet);
      sums.push(minus(server.traffic(), before));
    }
    const { connections, requests } = server.traffic();
    const expected = bindings.length * (packets.length + 2);
    if (connections > 1 || requests !== expected) {
      const came = `${requests} on ${connections}`;
      throw new MeshError('io', `HTTP server: expected ${expected} requests on one connection, came ${came}`);
    }
    return { sums, opening: opening ?? { up: 0, down: 0 } };
  } finally {
    await server.close();
  }
}

function minus(after: Traffic, before: Traffic): Traffic {
  return {
    requests: after.requests - before.requests,
    connections: after.connections - before.connections,
    wire: minusBytes(after.wire, before.wire),
    http: minusBytes(after.http, before.http),
    bodies: minusBytes(after.bodies, before.bodies),
  };
}

function minusBytes(after: Bytes, before: Bytes): Bytes {
  return { up: after.up - before.up, down: after.down - before.down };
}
