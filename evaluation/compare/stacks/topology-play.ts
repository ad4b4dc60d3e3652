import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '../../../core/contracts/errors.ts';
import type { Recording } from '../../../core/recording/recording.ts';
import type { StackSettings, WireBytes } from '../../../protocols/stacks/contract/stack.ts';
import { disagreementOf, since, sumOf } from '../../../protocols/stacks/contract/wire-sum.ts';
import { type Exchange, type ExchangePlan, exchangesOf, type Fit, type Topology } from './exchanges.ts';
import { PeerProcess } from './peers/peer-process.ts';
import { playable } from './peers/planned-inbox.ts';
import type { PlannedExchange, StackRef } from './peers/protocol.ts';

export interface TopologyOptions {
  readonly topology: Topology;
  readonly fit: Fit;
  /** Agents in all, if more than were recorded. */
  readonly agents?: number;
  readonly stack: StackRef;
  readonly settings: StackSettings;
  readonly workMs: number;
}

/** A whole recording, played once between as many processes as it has nodes. */
export interface TopologyPlay {
  readonly plan: ExchangePlan;
  /** Sessions, one for each pair of nodes of which one asks the other, and what setting them all up took. */
  readonly sessions: number;
  readonly setup: WireBytes;
  readonly setupMs: number;
  /** Of all clients together; their servers counted the same. */
  readonly wire: WireBytes;
  /** Milliseconds of all exchanges, one after the other, that were not waited for at the same time. */
  readonly exchangesMs: number;
}

const AGREEMENT_MS = 5000;
const LOOK_AGAIN_MS = 10;

/**
 * Plays a recording through a topology: each node is a process that serves those who ask it and has a client for each that it asks.
 * Exchanges are played one after the other, so an answer that is held while others are asked is played before them: the same bytes and
 * the same times, in another order.
 *
 * @throws MeshError `packet` when other packets came than were recorded, or bytes do not agree; `agent` when a process fails
 */
export async function playTopology(
  recording: Recording,
  { topology, fit, agents, stack, settings, workMs }: TopologyOptions,
  signal: AbortSignal,
): Promise<TopologyPlay> {
  const plan = exchangesOf(recording, { topology, fit, ...(agents === undefined ? {} : { agents }) });
  const served = servedExchanges(plan);
  const names = new Set(plan.exchanges.flatMap(({ client, server }) => [client, server]));
  const nodes = new Map([...names].map((name) => [name, new PeerProcess(`node ${name} of ${stack.name}`)]));
  const kill = () => {
    for (const node of nodes.values()) node.kill();
  };
  signal.addEventListener('abort', kill, { once: true });
  try {
    const addresses = new Map<string, string>();
    await Promise.all(
      [...served].map(async ([name, exchanges]) => {
        addresses.set(name, await nodeOf(name).serve({ stack, settings, exchanges, workMs }));
      }),
    );
    const addressOf = (name: string) => addresses.get(name) ?? '';
    const pairs = Map.groupBy(plan.exchanges, ({ client, server }) => `${client} ${server}`);
    let setupMs = 0;
    for (const exchanges of pairs.values()) {
      const [first] = exchanges;
      if (first === undefined) continue;
      const { client, server } = first;
      const own = (served.get(server) ?? []).filter((_, index) => askersOf(plan, server)[index] === client);
      const connecting = { stack, settings, address: addressOf(server), exchanges: own };
      setupMs += (await nodeOf(client).connect(connecting)).ms;
    }
    const setup = await settled(nodes, new Map());
    let exchangesMs = 0;
    for (const { client, server, count } of runsOf(plan.exchanges)) {
      signal.throwIfAborted();
      const load = { kind: 'closed', count, concurrency: 1, maxMs: settings.deadlineMs * 2 } as const;
      const played = await nodeOf(client).play({
        address: addressOf(server),
        part: 'all',
        from: null,
        tasks: 'new',
        load,
      });
      if (played.count < count) throw new MeshError('packet', `${client} asked ${server} too slowly`);
      exchangesMs += played.timesUs.reduce((sum, us) => sum + us, 0) / 1000;
    }
    const arrivals = new Map([...served].map(([name, exchanges]) => [name, exchanges.length]));
    const wire = since(setup, await settled(nodes, arrivals));
    await Promise.all([...nodes.values()].map((node) => node.stop()));
    return { plan, sessions: pairs.size, setup, setupMs, wire, exchangesMs };
  } catch (error) {
    kill();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', kill);
  }

  function nodeOf(name: string): PeerProcess {
    const node = nodes.get(name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    return node;
  }
}

/** What each server answers, in the order of the plan, with ids that it can tell apart. */
function servedExchanges({ exchanges }: ExchangePlan): ReadonlyMap<string, readonly PlannedExchange[]> {
  const byServer = Map.groupBy(exchanges, ({ server }) => server);
  return new Map([...byServer].map(([server, own]) => [server, playable(own)]));
}

/** Who asks for each of the exchanges that a server answers. */
function askersOf({ exchanges }: ExchangePlan, name: string): readonly string[] {
  return exchanges.filter(({ server }) => server === name).map(({ client }) => client);
}

/** Neighbours in the plan between the same two nodes are one load. */
function runsOf(exchanges: readonly Exchange[]): { client: string; server: string; count: number }[] {
  const runs: { client: string; server: string; count: number }[] = [];
  for (const { client, server } of exchanges) {
    const last = runs.at(-1);
    if (last?.client === client && last.server === server) last.count += 1;
    else runs.push({ client, server, count: 1 });
  }
  return runs;
}

/** Waits until clients and servers have counted the same bytes and every packet has arrived where it should; the clients' bytes. */
async function settled(
  nodes: ReadonlyMap<string, PeerProcess>,
  expected: ReadonlyMap<string, number>,
): Promise<WireBytes> {
  const startMs = performance.now();
  for (;;) {
    const counted = await Promise.all([...nodes.values()].map((node) => node.count()));
    const clients = sumOf(counted.flatMap(({ clients: own }) => own ?? []));
    const servers = sumOf(counted.flatMap(({ server }) => server ?? []));
    const missing = [...nodes.keys()].find(
      (name, index) => counted[index]?.arrived !== (expected.get(name) ?? 0),
    );
    const why =
      disagreementOf(
        clients,
        servers,
        counted.some(({ hasBroker }) => hasBroker),
      ) ??
      (missing === undefined
        ? undefined
        : `not all ${expected.get(missing) ?? 0} packets arrived at ${missing}`);
    if (why === undefined) return clients;
    if (performance.now() - startMs > AGREEMENT_MS)
      throw new MeshError('packet', `the nodes do not agree: ${why}`);
    await sleep(LOOK_AGAIN_MS);
  }
}
