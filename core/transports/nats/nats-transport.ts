import { MeshError } from '../../contracts/errors.ts';
import { HANDSHAKE_LIMITS } from '../../contracts/limits.ts';
import { waitPatiently } from '../../system/process/patience.ts';
import type { FrameLink } from '../../wire/frame-link.ts';
import type { Listen, RunTransport, RunTransportOptions } from '../transport.ts';
import { type NatsAddress, resolveNatsAddress } from './nats-address.ts';
import { allocateMessage, NatsLink, readMessage } from './nats-link.ts';
import { NatsServer } from './nats-server.ts';
import { checkSubject, DEFAULT_SUBJECT, nameAgentSubjects } from './subjects.ts';

const NOTHING = new Uint8Array(0);
/**
 * Wait between calls while all answering agents work for other hubs: others may have the same name, or one
 * becomes free.
 */
const BUSY_REDIAL_MS = 20;

/** Dials an agent on a NATS server; `mesh` is the prefix of its subjects. */
async function dial(server: NatsServer, mesh: string, node: string): Promise<FrameLink | undefined> {
  const subjects = nameAgentSubjects(mesh, node);
  const ear = subjects.hubEar();
  const { promise, resolve, reject } = Promise.withResolvers<FrameLink | undefined>();
  let link: NatsLink | undefined;
  let why = `it did not answer within ${HANDSHAKE_LIMITS.messageMs / 1000} s`;
  let again: NodeJS.Timeout | undefined;
  const call = () => server.publish(subjects.dial, NOTHING, ear);
  const unsubscribe = server.subscribe(ear, (message) => {
    if (link !== undefined) return link.receive(message);
    if (message.isNobodyThere) return resolve(undefined);
    const { reply, bytes } = message;
    const kind = readMessage(bytes)?.kind;
    if (kind === 'end') {
      why = 'it works for another hub, and so do all others of that name that answered';
      again = setTimeout(call, BUSY_REDIAL_MS);
      return;
    }
    if (reply === undefined || !subjects.isAgentEar(reply) || kind !== 'open') return;
    link = new NatsLink(server, ear, reply);
    void link.closed.then(unsubscribe);
    resolve(link);
  });
  const forget = server.onLost(reject);
  const callOff = waitPatiently(HANDSHAKE_LIMITS.messageMs, () => reject(new MeshError('io', why)));
  try {
    call();
    await server.confirmed();
    return await promise;
  } finally {
    callOff();
    clearTimeout(again);
    forget();
    if (link === undefined) unsubscribe();
  }
}

/**
 * Opens the transport of a run's frames over a NATS server.
 *
 * @throws MeshError `usage`, also for acknowledged delivery; `io` when there is no server
 */
export async function openNatsTransport(options: RunTransportOptions): Promise<RunTransport> {
  const { team, runId, external, environment } = options;
  if (team.delivery === 'acknowledged') {
    throw new MeshError(
      'usage',
      'acknowledged delivery works over TCP only: use delivery: at-most-once (--delivery) or transport: tcp (--transport)',
    );
  }
  const subject = checkSubject('nats_subject', team.nats_subject ?? DEFAULT_SUBJECT);
  const address = resolveNatsAddress(team.nats_url, environment);
  // Two runs may share a server, so the agents of each get their own names.
  const subjectOf = (id: string) => (external.has(id) ? subject : `${subject}.${runId}`);
  const server = await NatsServer.connect({
    address,
    name: `gaia-mesh hub ${runId}`,
    reconnects: false,
  });
  return {
    dialler: {
      dial: ({ id }) => dial(server, subjectOf(id), id),
      where: ({ id }) => `${address.shown} as ${subjectOf(id)}.${id}`,
    },
    placeOf: (id) => ({ natsUrl: address.shown, subject: subjectOf(id) }),
    environment: { NATS_URL: address.secretUrl },
    carried: () => server.carried,
    close: () => server.close(),
  };
}

/** Queue group of all listeners for one name: the server gives each call to one of them. */
const QUEUE = 'agents';

interface NatsEndpoint {
  readonly address: NatsAddress;
  /** Prefix of the subjects; see `subjects.ts`. */
  readonly mesh: string;
  readonly node: string;
}

/** Listens for hubs on a NATS server. If the server goes away, it waits for the server to come back. */
export function createNatsListen({ address, mesh, node }: NatsEndpoint): Listen {
  return async ({ accept, fault }) => {
    const server = await NatsServer.connect({ address, name: `gaia-mesh agent ${node}`, reconnects: true });
    server.onLost(({ message }) => fault(message));
    const subjects = nameAgentSubjects(mesh, node);
    let isBusy = false;
    server.subscribe(
      subjects.dial,
      ({ reply: hub }) => {
        // A caller that expects the answer on a foreign subject is no hub.
        if (hub === undefined || !subjects.isHubEar(hub)) return;
        if (isBusy) {
          server.publish(hub, allocateMessage('end', 0));
          return;
        }
        const ear = subjects.agentEar();
        const link = new NatsLink(server, ear, hub);
        const unsubscribe = server.subscribe(ear, (message) => link.receive(message));
        void link.closed.then(unsubscribe);
        server.publish(hub, allocateMessage('open', 0), ear);
        accept(link);
      },
      QUEUE,
    );
    try {
      await server.confirmed();
    } catch (error) {
      await server.close();
      throw error;
    }
    return {
      port: 0,
      where: `${address.shown} as ${mesh}.${node}`,
      setBusy(isBusyNow) {
        isBusy = isBusyNow;
      },
      close: () => server.close(),
    };
  };
}
