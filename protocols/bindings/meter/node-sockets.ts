import { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { watchPipes } from './pipes.ts';
import { fieldOf } from './tap.ts';
import { WireMeter } from './wire-meter.ts';

/** TLS servers that report their sockets already. */
const watched = new WeakSet<TlsServer>();
/** By the socket below: what is in the clear. */
const secured = new WeakMap<Socket, Socket>();

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
  if (meter === undefined) return;
  const server: unknown = Reflect.get(socket, 'server');
  if (!(server instanceof TlsServer)) {
    meter.add(socket);
    return;
  }
  if (!watched.has(server)) server.on('secureConnection', linkToRaw);
  watched.add(server);
  meter.add(socket, { clearSocket: () => secured.get(socket) });
}

/** The socket that a TLS server gives out lies on top of the one that it has accepted, which Node calls its parent. */
function linkToRaw(clear: Socket): void {
  const raw: unknown = Reflect.get(clear, '_parent');
  if (!(raw instanceof Socket)) throw new Error('the socket of a TLS connection has no parent in this Node');
  const meter = WireMeter.of(raw);
  if (meter === undefined) return;
  secured.set(raw, clear);
  meter.mark(clear);
}

function socketIn(message: unknown): Socket | undefined {
  const socket = fieldOf(message, 'socket');
  return socket instanceof Socket ? socket : undefined;
}
