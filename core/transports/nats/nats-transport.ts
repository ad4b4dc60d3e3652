import { RETURN_PATIENCE_MS } from '../../contracts/limits.ts';
import type { Team } from '../../contracts/team.ts';
import type { RunTransport, RunTransportOptions } from '../run-transport.ts';
import { natsAddress } from './nats-address.ts';
import { natsDialler } from './nats-dialler.ts';
import { NatsServer } from './nats-server.ts';
import { checkedSubject, DEFAULT_SUBJECT } from './subjects.ts';

/**
 * A run's frames over a NATS server.
 *
 * @throws MeshError `usage`; `io` when there is no server
 */
export async function natsTransport(options: RunTransportOptions): Promise<RunTransport> {
  const { team, runId, external, environment } = options;
  const subject = checkedSubject('nats_subject', team.nats_subject ?? DEFAULT_SUBJECT);
  const address = natsAddress(team.nats_url, environment);
  // Two runs may share a server: the agents of each have names of their own.
  const subjectOf = (id: string) => (external.has(id) ? subject : `${subject}.${runId}`);
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
    dialler: natsDialler(server, ({ id }) => subjectOf(id)),
    placeOf: (id) => ({ natsUrl: address.shown, subject: subjectOf(id), outboxes: subject }),
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
  const outboxes = await import('./outbox-stream.ts');
  await outboxes.keepOutboxes(server, subject);
  return outboxes;
}
