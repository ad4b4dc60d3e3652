import { systemCodeOf } from '../errors.ts';
import type { FrameLink } from '../frame-link.ts';
import { FrameSocket } from '../frame-socket.ts';
import type { MeshNode } from './link.ts';

/** How a hub reaches agents. */
export interface Dialler {
  /**
   * A connection to the agent; undefined where nobody listens.
   *
   * @throws MeshError `io` for any other reason
   */
  dial(node: MeshNode): Promise<FrameLink | undefined>;
  /** Where the agent is, for people. */
  where(node: MeshNode): string;
  /** Options of `gaia-mesh agent` that make it listen there. */
  listenOptions(node: MeshNode): string;
}

/** Agents that listen on ports of one host. */
export function tcpDialler(host: string): Dialler {
  return {
    async dial({ port }) {
      try {
        return await FrameSocket.dial(host, port);
      } catch (error) {
        if (error instanceof Error && systemCodeOf(error.cause) === 'ECONNREFUSED') return undefined;
        throw error;
      }
    },
    where: ({ port }) => `${host}:${port}`,
    listenOptions: ({ port }) => `--port ${port}`,
  };
}
