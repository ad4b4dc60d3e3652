import { once } from 'node:events';
import net from 'node:net';

/** Connects to agents on those ports, in order. The process ends with the first of them: what is measured needs all. */
export function dialPorts(ports: readonly string[]): Promise<net.Socket[]> {
  return Promise.all(
    ports.map(async (port) => {
      const socket = net.connect({ host: '127.0.0.1', port: Number(port), noDelay: true });
      socket.on('close', () => process.exit(0)).on('error', () => process.exit(0));
      await once(socket, 'connect');
      return socket;
    }),
  );
}
