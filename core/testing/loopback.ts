import net from 'node:net';
import { FrameSocket } from '../transports/tcp/frame-socket.ts';

/** Both ends of a real TCP connection on this machine, as hub and agent have them. */
interface Loopback {
  /** The end that dialled. */
  readonly hub: FrameSocket;
  /** The end that listened. */
  readonly agent: FrameSocket;
}

export async function loopback(): Promise<Loopback> {
  const { port, accepted, close } = await listening();
  const hub = await FrameSocket.dial('127.0.0.1', port);
  const agent = FrameSocket.accept(await accepted);
  close();
  return { hub, agent };
}

/** Returns both ends; the dialling one is a bare socket, which can send what no hub would. */
export async function bareDialler(): Promise<{ bare: net.Socket; agent: FrameSocket }> {
  const { port, accepted, close } = await listening();
  const bare = net.connect({ host: '127.0.0.1', port });
  const agent = FrameSocket.accept(await accepted);
  close();
  return { bare, agent };
}

/** Returns both ends; the listening one is a bare socket, which can send what no agent would. */
export async function bareListener(): Promise<{ hub: FrameSocket; bare: net.Socket }> {
  const { port, accepted, close } = await listening();
  const hub = await FrameSocket.dial('127.0.0.1', port);
  const bare = await accepted;
  close();
  return { hub, bare };
}

async function listening(): Promise<{ port: number; accepted: Promise<net.Socket>; close: () => void }> {
  const server = net.createServer();
  const accepted = new Promise<net.Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return { port: address.port, accepted, close: () => server.close() };
}
