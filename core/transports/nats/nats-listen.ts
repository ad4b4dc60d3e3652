import type { Listen } from '../transport.ts';
import { allocateMessage } from './link-message.ts';
import type { NatsAddress } from './nats-address.ts';
import { NatsLink } from './nats-link.ts';
import { NatsServer } from './nats-server.ts';
import { nameAgentSubjects } from './subjects.ts';

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
