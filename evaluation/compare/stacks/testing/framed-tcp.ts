import net from 'node:net';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Inbox, Stack } from '@gaia-mesh/stacks/contract/stack.ts';
import type { DirectionBytes, WireBytes } from '@gaia-mesh/stacks/contract/wire-sum.ts';

/** A minimal stack, as a user might write one: JSON behind a length, on one TCP connection. */
export const framedTcp: Stack = {
  name: 'framed/tcp',
  protocol: 'json',
  transport: 'tcp',
  implementation: 'bare',
  traits: { oneWay: 'acknowledged', hasTls: false },
  async serve(inbox: Inbox) {
    const framed = new Set<Framed>();
    const signal = new AbortController().signal;
    const server = net.createServer({ noDelay: true }, (socket) => {
      const connection = new Framed(socket, (message) => {
        const packet: Packet = JSON.parse(message);
        inbox(packet, signal).then(
          (packets) => connection.send(JSON.stringify({ id: packet.id, packets })),
          () => socket.destroy(),
        );
      });
      framed.add(connection);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return {
      address: String(typeof address === 'object' ? address?.port : address),
      wire: () => wireOf([...framed]),
      async close() {
        for (const { socket } of framed) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
  async connect(address) {
    const socket = net.connect({ port: Number(address), host: '127.0.0.1', noDelay: true });
    const waiting = new Map<string, (packets: readonly Packet[]) => void>();
    const framed = new Framed(socket, (message) => {
      const { id, packets }: { id: string; packets: readonly Packet[] } = JSON.parse(message);
      waiting.get(id)?.(packets);
      waiting.delete(id);
    });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return {
      exchange: (packet) =>
        new Promise((resolve, reject) => {
          if (socket.destroyed) reject(new Error('the connection is closed'));
          waiting.set(packet.id, resolve);
          framed.send(JSON.stringify(packet));
        }),
      wire: () => wireOf([framed]),
      async close() {
        socket.destroy();
      },
    };
  },
};

const LENGTH_BYTES = 4;

class Framed {
  readonly socket: net.Socket;
  messagesSent = 0;
  messagesReceived = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: net.Socket, onMessage: (message: string) => void) {
    this.socket = socket;
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => {
      this.#rest = Buffer.concat([this.#rest, data]);
      while (this.#rest.length >= LENGTH_BYTES) {
        const end = LENGTH_BYTES + this.#rest.readUInt32BE(0);
        if (this.#rest.length < end) return;
        const message = this.#rest.toString('utf8', LENGTH_BYTES, end);
        this.#rest = this.#rest.subarray(end);
        this.messagesReceived += 1;
        onMessage(message);
      }
    });
  }

  send(message: string): void {
    const body = Buffer.from(message);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(body.length);
    this.messagesSent += 1;
    this.socket.write(Buffer.concat([length, body]));
  }
}

function wireOf(connections: readonly Framed[]): WireBytes {
  const sum = (of: (one: Framed) => number) => connections.reduce((total, one) => total + of(one), 0);
  const direction = (raw: number, messages: number): DirectionBytes => {
    const head = messages * LENGTH_BYTES;
    return { raw, tls: 0, head, body: raw - head, messages };
  };
  return {
    connections: connections.length,
    sent: direction(
      sum(({ socket }) => socket.bytesWritten),
      sum(({ messagesSent }) => messagesSent),
    ),
    received: direction(
      sum(({ socket }) => socket.bytesRead),
      sum(({ messagesReceived }) => messagesReceived),
    ),
  };
}
