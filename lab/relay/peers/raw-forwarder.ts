/**
 * Forwards chunks to all others and looks at nothing: what Node's sockets cost. Frames of several senders come out torn.
 * Usage: raw-forwarder.ts PORT PORT …
 */
import type net from 'node:net';
import { dialPorts } from './dial-ports.ts';

const sockets = await dialPorts(process.argv.slice(2));
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
