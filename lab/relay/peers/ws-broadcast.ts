/**
 * The broadcast server of the manual of `ws`: every message to all other clients.
 * Usage: ws-broadcast.ts PORT
 */
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2]) });
server.on('connection', (from) => {
  from.on('message', (message, isBinary) => {
    for (const to of server.clients) if (to !== from) to.send(message, { binary: isBinary });
  });
  // Who hangs up has ended the measurement.
  from.on('error', () => process.exit(0));
});
