import { onTestFinished } from 'vitest';
import type { MeshNode } from '../../../hub/link.ts';
import type { FrameLink } from '../../../wire/frame-link.ts';
import type { Dialler, Listener } from '../../transport.ts';
import { resolveNatsAddress } from '../nats-address.ts';
import { NatsServer } from '../nats-server.ts';
import { createNatsListen, openNatsTransport } from '../nats-transport.ts';

export const MESH = 'test';
const DEFAULTS = { transport: 'nats', delivery: 'at-most-once' } as const;

export function nodeNamed(id: string): MeshNode {
  return { id, tool: 'reason', port: 0, secret: '' };
}

/** Connects this process to the server as a client until the test is over. */
export async function clientOf(url: string): Promise<NatsServer> {
  const server = await NatsServer.connect({
    address: resolveNatsAddress(url, {}),
    name: 'test',
    reconnects: false,
  });
  onTestFinished(() => server.close());
  return server;
}

/** Returns the dialler of a run for agents that were started by hand. */
export async function diallerOf(url: string): Promise<Dialler> {
  const team = { ...DEFAULTS, nats_url: url, nats_subject: MESH };
  const byHand = Object.assign(new Set<string>(), { has: () => true });
  const transport = await openNatsTransport({ team, runId: 'run', external: byHand, environment: {} });
  onTestFinished(() => transport.close());
  return transport.dialler;
}

interface ListeningEnd {
  readonly listener: Listener;
  /** Returns the next connection that is opened to it. */
  accepted(): Promise<FrameLink>;
  /** Returns the number of connections that have been opened so far. */
  opened(): number;
  readonly faults: readonly string[];
}

/** Opens an agent's end that has no connection yet. */
export async function listeningEnd(url: string, node: string): Promise<ListeningEnd> {
  const links: FrameLink[] = [];
  let opened = 0;
  const waiting: ((link: FrameLink) => void)[] = [];
  const faults: string[] = [];
  const listen = createNatsListen({ address: resolveNatsAddress(url, {}), mesh: MESH, node });
  const listener = await listen({
    accept(link) {
      opened += 1;
      const next = waiting.shift();
      if (next === undefined) links.push(link);
      else next(link);
    },
    fault: (message) => faults.push(message),
  });
  onTestFinished(async () => {
    for (const link of links) link.destroy();
    await listener.close();
  });
  const accepted = () => {
    const link = links.shift();
    return link === undefined
      ? new Promise<FrameLink>((resolve) => waiting.push(resolve))
      : Promise.resolve(link);
  };
  return { listener, accepted, opened: () => opened, faults };
}

/** Returns both ends of a connection over the server. */
export async function linkedEnds(url: string): Promise<{ hub: FrameLink; agent: FrameLink }> {
  const end = await listeningEnd(url, '0');
  const hub = await (await diallerOf(url)).dial(nodeNamed('0'));
  if (hub === undefined) throw new Error('nobody listens');
  const agent = await end.accepted();
  onTestFinished(() => {
    hub.destroy();
    agent.destroy();
  });
  return { hub, agent };
}
