import { type Dialler, tcpDialler } from '../hub/dialler.ts';
import type { MeshNode } from '../hub/link.ts';
import { natsAddress } from '../nats/nats-address.ts';
import { NatsDialler } from '../nats/nats-dialler.ts';
import { NatsServer } from '../nats/nats-server.ts';
import { checkedSubject, DEFAULT_SUBJECT } from '../nats/subjects.ts';
import type { Team } from '../team.ts';

/** Agents of a run listen on this machine alone. */
const HOST = '127.0.0.1';

/** What carries a run's frames. */
export interface RunTransport {
  readonly dialler: Dialler;
  /** Options of `gaia-mesh agent` for the agents that the run starts. */
  readonly agentOptions: readonly string[];
  /** Further variables of their environment. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface RunTransportOptions {
  readonly team: Pick<Team, 'transport' | 'nats_url' | 'nats_subject'>;
  readonly runId: string;
  /** Agents that somebody else started: they know nothing of this run yet. */
  readonly external: ReadonlySet<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** @throws MeshError `usage`; `io` when there is no server */
export async function openTransport(options: RunTransportOptions): Promise<RunTransport> {
  const { team, runId, external, environment } = options;
  if (team.transport === 'tcp') return tcpTransport;
  const subject = checkedSubject('nats_subject', team.nats_subject ?? DEFAULT_SUBJECT);
  const address = natsAddress(team.nats_url, environment);
  // Two runs may share a server: the agents of each have names of their own.
  const own = `${subject}.${runId}`;
  const server = await NatsServer.connect({ address, name: `gaia-mesh hub ${runId}`, reconnects: false });
  return {
    dialler: new NatsDialler(server, (node: MeshNode) => (external.has(node.id) ? subject : own)),
    agentOptions: ['--transport=nats', `--nats-subject=${own}`],
    environment: { NATS_URL: address.secretUrl },
    close: () => server.close(),
  };
}

/** Needs no server, and has nothing to close. */
export const tcpTransport: RunTransport = {
  dialler: tcpDialler(HOST),
  agentOptions: [],
  environment: {},
  close: async () => undefined,
};
