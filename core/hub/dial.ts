import { setTimeout as sleep } from 'node:timers/promises';
import type { Codec, ProtocolAdapter } from '../contracts/adapter.ts';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { HUB_ID, type JsonValue } from '../contracts/packet.ts';
import { tcpDialler } from '../transports/tcp/tcp-transport.ts';
import type { Dialler } from '../transports/transport.ts';
import type { FrameLink } from '../wire/frame-link.ts';
import { ANY, deriveRunKey, greetAgent, type Offers } from '../wire/handshake.ts';
import { slabs } from '../wire/slab.ts';
import type { DeliveryStrategy } from './delivery/delivery-strategy.ts';
import { Link, type MeshNode } from './link.ts';

export interface DialOptions {
  readonly runId: string;
  /** Alternative to reaching agents over ports of this machine. */
  readonly dialler?: Dialler;
  readonly adapter: ProtocolAdapter;
  /** Secret of the run, from which the key for the hub's own packets is derived. */
  readonly secret: string;
  readonly nodes: readonly MeshNode[];
  readonly maxFrameBytes: number;
  /** Time to wait for agents that do not listen yet; without it they must be listening. */
  readonly patienceMs?: number;
  /** Aborts the waiting. */
  readonly signal?: AbortSignal | undefined;
  /**
   * For foreign agents that send packets from the first byte on: there is no handshake, and no agent proves
   * its identity.
   */
  readonly skipsHandshake?: boolean;
  readonly delivery: Pick<DeliveryStrategy, 'terms'>;
}

/** Maximum dials of an agent that hung up without a word because it had too many connections. */
const MAX_DIALS = 10;

/** Wait before redialling an agent that does not listen yet. */
const REDIAL_MS = 50;

/**
 * Dials every agent and agrees with it on the run, its tool and the adapter, exchanging all offers on the
 * way.
 *
 * @returns the links, and the codec for the hub's own packets
 * @throws MeshError `agent`, naming the agent, when one is missing or is not the expected one
 */
export async function dialAgents(options: DialOptions): Promise<{ links: Link[]; codec: Codec }> {
  const { runId, adapter, secret, nodes } = options;
  const member = adapter.join?.({ runId, self: HUB_ID });
  const table = member === undefined ? undefined : new OfferTable(nodes.length, member.offer);
  const opener = member ?? adapter;
  const names = new Names();
  // Expect all readers from the start, so that the first ones read as they will when all are connected.
  slabs.expectReaders(nodes.length);
  const attempts = await Promise.allSettled(
    nodes.map(async (node) => {
      try {
        return await dial(node, options, opener, (id, offer) => {
          names.take(id, node.port);
          return table?.take(id, offer);
        });
      } catch (error) {
        table?.breakOff(error);
        throw error;
      }
    }),
  );
  slabs.expectReaders(0);
  const links = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
  // The other agents' failures may be mere consequences of the aborted exchange.
  const failed = table?.fault ?? attempts.find((attempt) => attempt.status === 'rejected')?.reason;
  if (failed !== undefined) {
    for (const link of links) link.socket.destroy();
    throw failed;
  }
  // The hub writes one blob for all agents, so its codec belongs to no single link.
  const codec = opener.open({
    runId,
    self: HUB_ID,
    peer: '*',
    linkKey: new Uint8Array(32),
    runKey: deriveRunKey(secret, runId),
    offers: new Map(Object.entries((await table?.all) ?? {})),
  });
  return { links, codec };
}

/**
 * Dials one agent again and repeats the handshake for the same run. It refuses adapters with a `join`,
 * because the other members know the agent's first offer.
 *
 * @throws MeshError `agent`
 */
export async function dialAgain(node: MeshNode, options: DialOptions): Promise<Link> {
  if (options.adapter.join !== undefined) {
    throw new MeshError('agent', `${options.adapter.name} cannot add a member during a run`);
  }
  return dial(node, options, options.adapter);
}

/** Names of a run's members. A duplicate name would mix up two members' packets and keys. */
class Names {
  readonly #ports = new Map<string, number>();

  /** @throws MeshError `agent` when another member has the name */
  take(id: string, port: number): void {
    if (id === HUB_ID) throw new MeshError('agent', `the agent on port ${port} claims to be the ${HUB_ID}`);
    const other = this.#ports.get(id);
    if (other !== undefined) {
      throw new MeshError('agent', `agents on ports ${other} and ${port} both claim to be ${id}`);
    }
    this.#ports.set(id, port);
  }
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
    // Waiters receive the failure; without waiters it must not count as unhandled.
    this.all.catch(() => undefined);
  }

  take(node: string, offer: JsonValue | undefined): Promise<Offers> {
    if (offer === undefined) throw new MeshError('handshake', 'it sent no offer, which its adapter requires');
    this.#offers[node] = offer;
    if (Object.keys(this.#offers).length === this.#members) this.#complete.resolve(this.#offers);
    return this.all;
  }

  /** Rejects the exchange after one agent has failed, since its offer will not come. */
  breakOff(fault: unknown): void {
    this.fault ??= fault;
    this.#complete.reject(fault);
  }
}

async function dial(
  node: MeshNode,
  options: DialOptions,
  opener: Pick<ProtocolAdapter, 'open'>,
  join?: (id: string, offer: JsonValue | undefined) => Promise<Offers> | undefined,
): Promise<Link> {
  const { dialler = tcpDialler } = options;
  const place = dialler.where(node);
  const where = node.id === ANY ? place : `agent ${node.id} (${node.tool}) on ${place}`;
  for (let dials = 1; ; dials++) {
    let socket: FrameLink | undefined;
    try {
      socket = await reach(dialler, node, options.patienceMs ?? 0, options.signal);
      if (options.skipsHandshake === true) return createForeignLink(node, options, socket);
      return await greet(node, options, socket, opener, join);
    } catch (error) {
      const wasCrowdedOut = socket?.isClosed === true && socket.bytesRead === 0;
      socket?.destroy();
      if (!wasCrowdedOut || dials === MAX_DIALS)
        throw new MeshError('agent', `${where}: ${toErrorMessage(error)}`, { cause: error });
    }
    await sleep(REDIAL_MS, undefined, { signal: options.signal });
  }
}

async function greet(
  node: MeshNode,
  options: DialOptions,
  socket: FrameLink,
  opener: Pick<ProtocolAdapter, 'open'>,
  join?: (id: string, offer: JsonValue | undefined) => Promise<Offers> | undefined,
): Promise<Link> {
  const terms = options.delivery.terms(node.id);
  const agreed = await greetAgent(socket, {
    runId: options.runId,
    node: node.id,
    tool: node.tool,
    adapter: options.adapter.name,
    secret: node.secret,
    maxFrameBytes: options.maxFrameBytes,
    delivery: terms,
    exchange: join && (async (id, offer) => join(id, offer)),
  });
  const { node: id, tool, session, subscribes, emits } = agreed;
  const done = agreed.delivery?.done ?? [];
  const read = () => opener.open(session);
  const link = new Link({ ...node, id, tool }, socket, read, { subscribes, emits, done });
  link.counts.sessionRx = socket.bytesRead - socket.pendingBytes;
  link.counts.sessionTx = socket.bytesWritten;
  return link;
}

async function reach(
  dialler: Dialler,
  node: MeshNode,
  patienceMs: number,
  signal: AbortSignal | undefined,
): Promise<FrameLink> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const link = await dialler.dial(node);
    if (link !== undefined) return link;
    if (performance.now() + REDIAL_MS > deadlineMs) break;
    await sleep(REDIAL_MS, undefined, { signal });
  }
  const start = node.start === undefined ? '' : `; start it: ${node.start}`;
  throw new MeshError('agent', `no agent listens there${start}`);
}

/** Creates a link to an agent whose id is unknown and whose packets prove no sender. */
function createForeignLink(
  node: MeshNode,
  { runId, adapter, maxFrameBytes }: DialOptions,
  socket: FrameLink,
): Link {
  socket.expectPackets(maxFrameBytes, 0);
  const keys = { linkKey: new Uint8Array(32), runKey: new Uint8Array(32) };
  const id = `port-${node.port}`;
  const read = () => adapter.open({ runId, self: HUB_ID, peer: id, offers: new Map(), ...keys });
  return new Link({ ...node, id, isForeign: true }, socket, read, { subscribes: [], emits: [], done: [] });
}
