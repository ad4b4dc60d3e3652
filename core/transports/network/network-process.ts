import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { MeshError } from '../../contracts/errors.ts';
import { AGENT_START_TIMEOUT_MS, AGENT_STOP_TIMEOUT_MS } from '../../contracts/limits.ts';
import { awaitChildEnd } from '../../system/process/child-end.ts';
import { waitPatiently } from '../../system/process/patience.ts';
import { createTcpDialler } from '../tcp/tcp-transport.ts';
import type { Dialler } from '../transport.ts';
import type { Network } from './network.ts';

/** A request to the process: it opens a relay if it has no port, and connects it with a server. */
export interface RelayRequest {
  readonly port?: number | undefined;
  /** Port of the server, once it is known. */
  readonly to?: number | undefined;
  /** Connects to the server for the next client. */
  readonly connectsAhead?: boolean | undefined;
}

const replySchema = z.strictObject({
  call: z.int(),
  relayed: z.strictObject({
    /** Port of the relay. */
    port: z.int(),
    /** False if nothing listens at the server's port. */
    isThere: z.boolean(),
    /** Round trips of all relays so far. */
    roundTrips: z.int().nonnegative(),
  }),
});
export type RelayReply = z.infer<typeof replySchema>;

/** A network between processes of this machine: its relays are in a process of their own, so that they take nothing of the ends'. */
export class NetworkProcess {
  /** Dials agents through the network: each has a line of its own. */
  readonly dialler: Dialler;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #calls = new Map<number, PromiseWithResolvers<RelayReply['relayed']>>();
  #last = 0;

  constructor(network: Network) {
    this.#child = fork(
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
    this.#child.on('message', (message) => {
      const { call, relayed } = replySchema.parse(message);
      this.#calls.get(call)?.resolve(relayed);
    });
    this.#ended = awaitChildEnd(this.#child).then(({ code, signal, error }) => {
      const why = error?.message ?? signal ?? `exit code ${code}`;
      for (const { reject } of this.#calls.values())
        reject(new MeshError('agent', `the process of the network ended: ${why}`));
    });
    this.dialler = this.#createDialler();
  }

  /** @throws MeshError `agent` if the process is gone */
  async relay(request: RelayRequest): Promise<RelayReply['relayed']> {
    if (!this.#child.connected) throw new MeshError('agent', 'the process of the network is gone');
    this.#last += 1;
    const call = this.#last;
    const reply = Promise.withResolvers<RelayReply['relayed']>();
    this.#calls.set(call, reply);
    // If it fails, the end of the process rejects the call.
    this.#child.send({ call, request }, () => undefined);
    const callOff = waitPatiently(AGENT_START_TIMEOUT_MS, () =>
      reply.reject(new MeshError('agent', 'the process of the network gives no answer')),
    );
    try {
      return await reply.promise;
    } finally {
      callOff();
      this.#calls.delete(call);
    }
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.kill(), AGENT_STOP_TIMEOUT_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #createDialler(): Dialler {
    const direct = createTcpDialler();
    const relays = new Map<number, number>();
    return {
      where: (node) => direct.where(node),
      dial: async (node) => {
        const { port, isThere } = await this.relay({
          port: relays.get(node.port),
          to: node.port,
          connectsAhead: true,
        });
        relays.set(node.port, port);
        return isThere ? direct.dial({ ...node, port }) : undefined;
      },
    };
  }
}
