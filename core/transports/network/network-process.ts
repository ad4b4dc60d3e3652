import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { MeshError } from '../../contracts/errors.ts';
import { AGENT_LIMITS } from '../../contracts/limits.ts';
import { ChildCalls } from '../../system/process/child-calls.ts';
import { tcpDialler } from '../tcp/tcp-transport.ts';
import type { Dialler } from '../transport.ts';
import type { Network } from './network.ts';

/** A request to the process: it opens a relay if it has no port, and connects it with a server. */
interface RelayRequest {
  readonly port?: number | undefined;
  /** Port of the server, once it is known. */
  readonly to?: number | undefined;
  /** Connects to the server for the next client. */
  readonly connectsAhead?: boolean | undefined;
}

const relayedSchema = z.strictObject({
  /** Port of the relay. */
  port: z.int(),
  /** False if nothing listens at the server's port. */
  isThere: z.boolean(),
  /** Round trips of all relays so far. */
  roundTrips: z.int().nonnegative(),
});
const replySchema = z.strictObject({ call: z.int(), relayed: z.unknown() });

/** A network between processes of this machine: its relays are in a process of their own, so that they take nothing of the ends'. */
export class NetworkProcess {
  /** Dials agents through the network: each has a line of its own. */
  readonly dialler: Dialler;
  readonly #calls: ChildCalls;

  constructor(network: Network) {
    const child = fork(
      fileURLToPath(new URL('./launched-network.ts', import.meta.url)),
      [JSON.stringify(network)],
      {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        // Ctrl-C reaches only the run, which stops its processes in order.
        detached: true,
        env: {},
        execArgv: [],
      },
    );
    this.#calls = new ChildCalls(
      child,
      (why) => new MeshError('agent', `the process of the network: ${why}`),
    );
    child.on('message', (message) => {
      const { call, relayed } = replySchema.parse(message);
      this.#calls.find(call)?.resolve(relayed);
    });
    this.dialler = this.#createDialler();
  }

  /** @throws MeshError `agent` if the process is gone */
  async relay(request: RelayRequest): Promise<z.infer<typeof relayedSchema>> {
    return relayedSchema.parse(await this.#calls.ask({ request }, 'relay', AGENT_LIMITS.startMs));
  }

  async stop(): Promise<void> {
    await this.#calls.stop();
  }

  kill(): void {
    this.#calls.kill();
  }

  #createDialler(): Dialler {
    const relays = new Map<number, number>();
    return {
      where: (node) => tcpDialler.where(node),
      dial: async (node) => {
        const { port, isThere } = await this.relay({
          port: relays.get(node.port),
          to: node.port,
          connectsAhead: true,
        });
        relays.set(node.port, port);
        return isThere ? tcpDialler.dial({ ...node, port }) : undefined;
      },
    };
  }
}
