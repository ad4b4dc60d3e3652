/**
 * Forwards chunks to all other connections without reading them, to measure the cost of Node's sockets.
 * Frames of several senders come out torn.
 * Usage: raw-forwarder.ts PORT PORT …
 */
import { once } from 'node:events';
import net from 'node:net';

// The process ends when a connection does: the measurement needs all agents.
const sockets = await Promise.all(
  process.argv.slice(2).map(async (port) => {
    const socket = net.connect({ host: '127.0.0.1', port: Number(port), noDelay: true });
    socket.on('close', () => process.exit(0)).on('error', () => process.exit(0));
    await once(socket, 'connect');
    return socket;
  }),
);
const full = new Set<net.Socket>();
for (const socket of sockets) {
  socket.on('data', (chunk) => {
    for (const other of sockets) {
      if (other === socket || other.write(chunk) || full.has(other)) continue;
      full.add(other);
      for (const each of sockets) each.pause();
      other.once('drain', () => {
        full.delete(other);
        if (full.size === 0) for (const each of sockets) each.resume();
      });
    }
  });
}
console.log('ready');
