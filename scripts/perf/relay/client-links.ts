import { tcpListen } from '../../../core/agent/listener.ts';
import { framesOf } from '../../../core/frame.ts';
import type { FrameLink } from '../../../core/frame-link.ts';
import { MAX_FRAME_BYTES } from '../../../core/limits.ts';

/** An agent's connection, as the client that its server is used with in Node gives it. */
export interface ClientLink {
  /** Where a hub is to dial it; 0 if it has dialled itself. */
  readonly port: number;
  /** Sends messages that are there at the same time; each is everybody else's. */
  send(blobs: readonly Uint8Array[]): void;
}

/** Connects to the server on `port`, if it is to be dialled; `hear` gets every message of the others. */
type OpenLink = (port: number, hear: (blob: Uint8Array) => void) => Promise<ClientLink>;

/** The connection of this project's own agents, without a handshake. */
const overFrames: OpenLink = async (_port, hear) => {
  let link: FrameLink | undefined;
  const listen = tcpListen('127.0.0.1', 0);
  const { port } = await listen({
    accept(accepted) {
      link = accepted;
      link.start(MAX_FRAME_BYTES, (run) => {
        for (const blob of run.blobs()) hear(blob);
        return 'done';
      });
      // Whoever measures sees that an agent has gone.
      void link.closed.then(() => process.exit(1));
    },
    fault: (message) => console.error(message),
  });
  // One write for all of them, as the client of NATS makes one of what is published in a turn.
  return { port, send: (blobs) => link?.sendFrames(framesOf(blobs)) };
};

const SUBJECT = 'm';

const overNats: OpenLink = async (port, hear) => {
  const { connect } = await import('@nats-io/transport-node');
  const connection = await connect({ servers: `127.0.0.1:${port}`, noEcho: true, reconnect: false });
  connection.subscribe(SUBJECT, {
    callback: (error, { data }) => {
      if (error === null) hear(data);
    },
  });
  // Before it answers the server has read the subscription.
  await connection.flush();
  return {
    port: 0,
    send: (blobs) => {
      for (const blob of blobs) connection.publish(SUBJECT, blob);
    },
  };
};

export const CLIENT_LINKS = { frames: overFrames, nats: overNats } as const;
