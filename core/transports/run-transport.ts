import type { AgentPlace } from '../agent/spec.ts';
import { RETURN_PATIENCE_MS } from '../contracts/limits.ts';
import type { Team } from '../contracts/team.ts';
import type { MeshNode } from '../hub/link.ts';
import { natsAddress } from './nats/nats-address.ts';
import { NatsDialler } from './nats/nats-dialler.ts';
import { NatsServer } from './nats/nats-server.ts';
import { checkedSubject, DEFAULT_SUBJECT } from './nats/subjects.ts';
import { tcpDialler } from './tcp/tcp-transport.ts';
import type { Dialler } from './transport.ts';

/** What carries a run's frames. */
export interface RunTransport {
  readonly dialler: Dialler;
  /** Where an agent of the run listens; `port` is for those that listen on one. */
  placeOf(id: string, port: number): AgentPlace;
  /** Further variables of their environment. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Settles when agents can be reached, also after a while in which they could not.
   *
   * @throws MeshError `io` when that was too long
   */
  isThere(): Promise<void>;
  /** What carried the frames beside what they are, as its own connection counts it; undefined where each frame has a socket to itself. */
  carried(): { readonly written: number; readonly read: number } | undefined;
  close(): Promise<void>;
}

interface RunTransportOptions {
  readonly team: Pick<Team, 'transport' | 'nats_url' | 'nats_subject' | 'delivery'>;
  readonly runId: string;
  /** Agents that somebody else started: they know nothing of this run yet. */
  readonly external: ReadonlySet<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether agents that are lost are taken back: then the server may be, too. */
  readonly restarts?: boolean;
}

/** @throws MeshError `usage`; `io` when there is no server */
export async function openTransport(options: RunTransportOptions): Promise<RunTransport> {
  const { team, runId, external, environment } = options;
  if (team.transport === 'tcp') return tcpTransport;
  const subject = checkedSubject('nats_subject', team.nats_subject ?? DEFAULT_SUBJECT);
  const address = natsAddress(team.nats_url, environment);
  // Two runs may share a server: the agents of each have names of their own.
  const own = `${subject}.${runId}`;
  const server = await NatsServer.connect({
    address,
    name: `gaia-mesh hub ${runId}`,
    reconnects: options.restarts === true,
  });
  const outboxes = await openOutboxes(server, team, subject).catch(async (error) => {
    await server.close();
    throw error;
  });
  return {
    dialler: new NatsDialler(server, (node: MeshNode) => (external.has(node.id) ? subject : own)),
    placeOf: (id) => ({
      natsUrl: address.shown,
      subject: external.has(id) ? subject : own,
      outboxes: subject,
    }),
    environment: { NATS_URL: address.secretUrl },
    isThere: () => server.isThere(RETURN_PATIENCE_MS),
    carried: () => server.carried,
    async close() {
      // Its age lets go of what cannot be deleted now.
      await outboxes?.forgetOutboxes(server, subject, runId).catch(() => undefined);
      await server.close();
    },
  };
}

/** Only where deliveries are acknowledged does the server keep anything. */
async function openOutboxes(server: NatsServer, team: Pick<Team, 'delivery'>, subject: string) {
  if (team.delivery !== 'acknowledged') return undefined;
  const outboxes = await import('./nats/outbox-stream.ts');
  await outboxes.keepOutboxes(server, subject);
  return outboxes;
}

/** Needs no server, and has nothing to close. */
export const tcpTransport: RunTransport = {
  dialler: tcpDialler(),
  placeOf: (_id, port) => ({ port }),
  environment: {},
  isThere: async () => undefined,
  carried: () => undefined,
  close: async () => undefined,
};
