import type { Codec, ProtocolAdapter } from '../adapter.ts';
import { MeshError, messageOf, systemCodeOf } from '../errors.ts';
import { FrameSocket } from '../frame-socket.ts';
import { greetAgent, type Offers, runKeyOf } from '../handshake.ts';
import { HUB_ID, type JsonValue } from '../packet.ts';
import { Link, type MeshNode } from './link.ts';

export interface DialOptions {
  readonly runId: string;
  readonly host: string;
  readonly adapter: ProtocolAdapter;
  /** The run's secret, for what the hub writes to all. */
  readonly secret: string;
  readonly nodes: readonly MeshNode[];
  readonly maxFrameBytes: number;
}

/**
 * Dials every agent and agrees with it on the run, its tool and the adapter; all offers are exchanged on the way.
 *
 * @returns the links, and the codec for what the hub itself writes
 * @throws MeshError `agent`, naming the agent, when one is not there or is another than expected
 */
export async function dialAgents(options: DialOptions): Promise<{ links: Link[]; codec: Codec }> {
  const { runId, adapter, secret, nodes } = options;
  const member = adapter.join?.({ runId, self: HUB_ID });
  const table = member === undefined ? undefined : new OfferTable(nodes.length, member.offer);
  const opener = member ?? adapter;
  const attempts = await Promise.allSettled(
    nodes.map(async (node) => {
      try {
        return await dial(node, options, opener, table);
      } catch (error) {
        table?.breakOff(error);
        throw error;
      }
    }),
  );
  const links = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
  // The others' failures may only be that the exchange broke off.
  const failed = table?.fault ?? attempts.find((attempt) => attempt.status === 'rejected')?.reason;
  if (failed !== undefined) {
    for (const link of links) link.socket.destroy();
    throw failed;
  }
  // The hub writes one blob for all, so what it writes with belongs to no single link.
  const codec = opener.open({
    runId,
    self: HUB_ID,
    peer: '*',
    linkKey: new Uint8Array(32),
    runKey: runKeyOf(secret, runId),
    offers: new Map(Object.entries((await table?.all) ?? {})),
  });
  return { links, codec };
}

/** Collects one offer from every member. */
class OfferTable {
  readonly all: Promise<Offers>;
  fault: unknown;
  readonly #offers: Record<string, JsonValue>;
  readonly #members: number;
  readonly #complete = Promise.withResolvers<Offers>();

  constructor(agents: number, hubOffer: JsonValue) {
    this.#members = agents + 1;
    this.#offers = { [HUB_ID]: hubOffer };
    this.all = this.#complete.promise;
    // Whoever waits hears of a failure; if nobody does yet, it must not count as unhandled.
    this.all.catch(() => undefined);
  }

  take(node: string, offer: JsonValue | undefined): Promise<Offers> {
    if (offer === undefined) throw new MeshError('handshake', 'it made no offer; its adapter must make one');
    this.#offers[node] = offer;
    if (Object.keys(this.#offers).length === this.#members) this.#complete.resolve(this.#offers);
    return this.all;
  }

  /** One agent failed: nobody needs to wait for its offer. */
  breakOff(fault: unknown): void {
    this.fault ??= fault;
    this.#complete.reject(fault);
  }
}

async function dial(
  node: MeshNode,
  options: DialOptions,
  opener: Pick<ProtocolAdapter, 'open'>,
  table: OfferTable | undefined,
): Promise<Link> {
  const where = `agent ${node.id} (${node.tool}) on ${options.host}:${node.port}`;
  let socket: FrameSocket | undefined;
  try {
    socket = await FrameSocket.dial(options.host, node.port);
    const { session, subscribes, emits } = await greetAgent(socket, {
      runId: options.runId,
      node: node.id,
      tool: node.tool,
      adapter: options.adapter.name,
      secret: node.secret,
      maxFrameBytes: options.maxFrameBytes,
      ...(table === undefined ? {} : { exchange: async (offer) => table.take(node.id, offer) }),
    });
    const link = new Link(node, socket, opener.open(session), { subscribes, emits });
    link.counts.sessionRx = socket.bytesRead;
    link.counts.sessionTx = socket.bytesWritten;
    return link;
  } catch (error) {
    socket?.destroy();
    const isNobody = error instanceof Error && systemCodeOf(error.cause) === 'ECONNREFUSED';
    const reason = isNobody
      ? `nobody listens there; start it: gaia-mesh agent --id ${node.id} --tool ${node.tool} --port ${node.port}`
      : messageOf(error);
    throw new MeshError('agent', `${where}: ${reason}`, { cause: error });
  }
}
