import { MeshError } from '../../contracts/errors.ts';
import type { RunTransport, RunTransportOptions } from '../run-transport.ts';
import { resolveNatsAddress } from './nats-address.ts';
import { createNatsDialler } from './nats-dialler.ts';
import { NatsServer } from './nats-server.ts';
import { checkSubject, DEFAULT_SUBJECT } from './subjects.ts';

/**
 * A run's frames over a NATS server.
 *
 * @throws MeshError `usage`, also where deliveries are to be acknowledged; `io` when there is no server
 */
export async function openNatsTransport(options: RunTransportOptions): Promise<RunTransport> {
  const { team, runId, external, environment } = options;
  if (team.delivery === 'acknowledged') {
    throw new MeshError(
      'usage',
      'acknowledged delivery goes over TCP only: take delivery: at-most-once (--delivery) or transport: tcp (--transport)',
    );
  }
  const subject = checkSubject('nats_subject', team.nats_subject ?? DEFAULT_SUBJECT);
  const address = resolveNatsAddress(team.nats_url, environment);
  // Two runs may share a server: the agents of each have names of their own.
  const subjectOf = (id: string) => (external.has(id) ? subject : `${subject}.${runId}`);
  const server = await NatsServer.connect({
    address,
    name: `gaia-mesh hub ${runId}`,
    reconnects: false,
  });
  return {
    dialler: createNatsDialler(server, ({ id }) => subjectOf(id)),
    placeOf: (id) => ({ natsUrl: address.shown, subject: subjectOf(id) }),
    environment: { NATS_URL: address.secretUrl },
    carried: () => server.carried,
    close: () => server.close(),
  };
}
