import { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { watchPipes } from './pipes.ts';
import { fieldOf } from './tap.ts';
import { WireMeter } from './wire-meter.ts';

/** TLS servers that report their sockets already. */
const watched = new WeakSet<TlsServer>();

/** Has meters find out about every socket of this process, and the pipes of its children. */
export function watchSockets(): void {
  subscribe('net.client.socket', (message) => {
    const socket = socketIn(message);
    if (socket !== undefined) WireMeter.current?.add(socket);
  });
  subscribe('net.server.socket', (message) => {
    const socket = socketIn(message);
    if (socket !== undefined) accepted(socket);
  });
  subscribe('child_process', (message) => {
    const child = fieldOf(message, 'process');
    const meter = WireMeter.current;
    if (!(child instanceof ChildProcess) || meter === undefined) return;
    child.once('spawn', () => {
      const { stdin, stdout } = child;
      if (stdin instanceof Socket && stdout instanceof Socket) watchPipes(meter, stdout, stdin);
    });
  });
}

function accepted(socket: Socket): void {
  const meter = WireMeter.current;
  // Node tells of a socket after its server has: who counts it by itself has done so.
  if (meter === undefined || WireMeter.of(socket) !== undefined) return;
  const server: unknown = Reflect.get(socket, 'server');
  if (!(server instanceof TlsServer)) {
    meter.add(socket);
    return;
  }
  // What it gives out lies on top of what it has accepted.
  if (!watched.has(server)) server.on('secureConnection', (secured) => void WireMeter.of(secured));
  watched.add(server);
  meter.add(socket, { isTlsServer: true });
}

function socketIn(message: unknown): Socket | undefined {
  const socket = fieldOf(message, 'socket');
  return socket instanceof Socket ? socket : undefined;
}
