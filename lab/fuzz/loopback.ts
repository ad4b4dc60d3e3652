import net from 'node:net';
import { trackConnections } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';

/** A server on a free port of this machine; `close` ends it with all its connections. */
interface FuzzListener {
  readonly port: number;
  close(): Promise<void>;
}

export async function listen(onConnection: (socket: net.Socket) => void): Promise<FuzzListener> {
  const server = net.createServer({ noDelay: true }, (socket) => {
    // A peer that was cut off gets an error, which is what the test expects.
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  const close = trackConnections(server);
  return { port: await listenOnPlace(server, { port: 0 }), close };
}

/** Settles like `promise`, or with `late` after `ms`. */
export async function raceTimeout<T, Late>(ms: number, promise: Promise<T>, late: Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
