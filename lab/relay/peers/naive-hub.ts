/**
 * The hub that one writes first: read 4 bytes, read so many, parse, write head and body to each other, await every drain.
 * Usage: naive-hub.ts PORT PORT …
 */
import { once } from 'node:events';
import type net from 'node:net';
import { dialPorts } from './dial-ports.ts';

const sockets = await dialPorts(process.argv.slice(2));

/** Reads as many bytes as are asked for. */
function readerOf(socket: net.Socket) {
  let wake: () => void = () => undefined;
  // One listener for good: each new one would be told at once of bytes that do not suffice.
  socket.on('readable', () => wake());
  return async (length: number): Promise<Buffer> => {
    for (;;) {
      const bytes: unknown = socket.read(length);
      if (bytes instanceof Buffer) return bytes;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
}

async function serve(socket: net.Socket): Promise<never> {
  const read = readerOf(socket);
  for (;;) {
    const head = await read(4);
    const body = await read(head.readUInt32BE());
    JSON.parse(body.toString());
    for (const other of sockets) {
      if (other === socket) continue;
      if (!other.write(head)) await once(other, 'drain');
      if (!other.write(body)) await once(other, 'drain');
    }
  }
}

console.log('ready');
await Promise.all(sockets.map(serve));
