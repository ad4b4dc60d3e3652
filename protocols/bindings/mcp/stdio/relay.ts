import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import net, { type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { watchPipes } from '../../meter/pipes.ts';
import { WireMeter } from '../../meter/wire-meter.ts';

/**
 * A client of MCP over stdio starts its server, but the inbox of a binding is in a process that runs already. So what is started passes the
 * bytes of its pipes on to a socket of that process, where the server is; what the server counts is what went over the pipes. Its one
 * hop more is in the latency, and its CPU time is nobody's.
 */
const PASS_ON = [
  'const socket = require("node:net").connect(process.argv[1]);',
  'process.stdin.pipe(socket).pipe(process.stdout);',
  'socket.on("error", () => process.exit(1)).on("close", () => process.exit(0));',
].join(' ');

export interface StdioServer {
  /** JSON of the command that a client starts. */
  readonly address: string;
  close(): Promise<void>;
}

/** @param serve is called for each client with what stands for its pipes */
export async function listenForPipes(meter: WireMeter, serve: (pipes: Socket) => void): Promise<StdioServer> {
  const file = path.join(os.tmpdir(), `gaia-mesh-${randomUUID().slice(0, 8)}.sock`);
  const open = new Set<Socket>();
  // Not a connection of the binding's own, which is a pair of pipes.
  const server = net.createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket)).on('error', () => socket.destroy());
    meter.run(() => {
      watchPipes(meter, socket, socket);
      serve(socket);
    });
  });
  // Whoever listens is told of its sockets.
  WireMeter.exit(() => server.listen(file));
  await once(server, 'listening');
  return {
    address: JSON.stringify({ command: process.execPath, args: ['-e', PASS_ON, file] }),
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
      await rm(file, { force: true });
    },
  };
}
