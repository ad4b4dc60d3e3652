import type { AgentEndpoint } from '../agent/spec.ts';
import type { Team } from '../contracts/team.ts';
import { createTcpDialler } from './tcp/tcp-transport.ts';
import type { Dialler } from './transport.ts';

/** The transport of a run's frames. */
export interface RunTransport {
  readonly dialler: Dialler;
  /** Returns the address on which an agent of the run listens; `port` is for agents that listen on one. */
  placeOf(id: string, port: number): AgentEndpoint;
  /** Additional environment variables of the agents. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Returns the bytes of the connection that carried all frames, including its overhead; undefined if each
   * link has its own socket.
   */
  carried(): { readonly written: number; readonly read: number } | undefined;
  close(): Promise<void>;
}

export interface RunTransportOptions {
  readonly team: Pick<Team, 'transport' | 'nats_url' | 'nats_subject' | 'delivery'>;
  readonly runId: string;
  /** Agents that someone else started: they know nothing of this run yet. */
  readonly external: ReadonlySet<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** @throws MeshError `usage`; `io` when there is no server */
export async function openTransport(options: RunTransportOptions): Promise<RunTransport> {
  if (options.team.transport === 'tcp') return tcpTransport;
  // A run over TCP loads nothing of NATS.
  const { openNatsTransport } = await import('./nats/nats-transport.ts');
  return openNatsTransport(options);
}

/** TCP transport, which needs no server and has nothing to close. */
export const tcpTransport: RunTransport = {
  dialler: createTcpDialler(),
  placeOf: (_id, port) => ({ port }),
  environment: {},
  carried: () => undefined,
  close: async () => undefined,
};
