// One agent of the load with Node clients; see node-load.ts, which starts it.
// Usage: node-agent.ts WIRE PORT NUMBER AGENTS BYTES WINDOW_BYTES, with a channel, and behind it a connection to a hub if there is one.
import net from 'node:net';
import { eventLoopUtilization } from 'node:perf_hooks';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { FrameSocket } from '@gaia-mesh/core/transports/tcp/frame-socket.ts';
import { encodeFrames } from '@gaia-mesh/core/wire/frame.ts';
import * as z from 'zod';
import { type AgentState, AgentTraffic, agentOrderSchema } from './traffic.ts';

/** Descriptor behind the channel. */
const HUB_SOCKET = 4;
const SUBJECT = 'm';
/** Messages that have not arrived by then are lost. */
const FINISH_MS = 5000;

const number = z.coerce.number().int().nonnegative();
const [wire, port, self, agents, bytes, windowBytes] = z
  .tuple([z.enum(['frames', 'nats']), number, number, number, number, number])
  .parse(process.argv.slice(2));

const traffic = new AgentTraffic(self, agents, bytes, windowBytes);
let isSending = false;
let isPlanned = false;
/** Number of messages due in all, once it is known. */
let due = Number.POSITIVE_INFINITY;
let finished: () => void = () => undefined;

const send = await (wire === 'nats' ? connectNats() : connectFrames());

/**
 * Opens a connection of this project's own agents. It writes all messages at once, as the client of NATS does
 * in a turn.
 */
async function connectFrames(): Promise<(blobs: readonly Uint8Array[]) => void> {
  const link = FrameSocket.accept(new net.Socket({ fd: HUB_SOCKET }));
  link.start(MAX_FRAME_BYTES, (run) => {
    for (const blob of run.blobs()) hear(blob);
    return 'done';
  });
  // The measuring process sees that an agent has gone.
  void link.closed.then(() => process.exit(1));
  return (blobs) => link.sendFrames(encodeFrames(blobs));
}

async function connectNats(): Promise<(blobs: readonly Uint8Array[]) => void> {
  const { connect } = await import('@nats-io/transport-node');
  const connection = await connect({ servers: `127.0.0.1:${port}`, noEcho: true, reconnect: false });
  connection.subscribe(SUBJECT, {
    callback: (error, { data }) => {
      if (error === null) hear(data);
    },
  });
  // The server's answer means that it has read the subscription.
  await connection.flush();
  return (blobs) => {
    for (const blob of blobs) connection.publish(SUBJECT, blob);
  };
}

function hear(blob: Uint8Array): void {
  traffic.hear(blob);
  if (traffic.heard >= due) finished();
  if (!isSending || isPlanned) return;
  // Plan one send per turn for everything received in it.
  isPlanned = true;
  setImmediate(sendMore);
}

function sendMore(): void {
  isPlanned = false;
  const next = isSending ? traffic.next() : [];
  if (next.length > 0) send(next);
}

function sendState(): void {
  const { user, system } = process.cpuUsage();
  process.send?.({
    sent: traffic.sent,
    heard: traffic.heard,
    bad: traffic.bad,
    atMs: performance.now(),
    idleMs: eventLoopUtilization().idle,
    cpuMs: (user + system) / 1000,
  } satisfies AgentState);
}

process.on('message', (message) => {
  const order = agentOrderSchema.parse(message);
  if (order.kind === 'finish') {
    ({ due } = order);
    const late = setTimeout(() => finished(), FINISH_MS);
    finished = () => {
      clearTimeout(late);
      finished = () => undefined;
      sendState();
    };
    if (traffic.heard >= due) finished();
    return;
  }
  if (order.kind !== 'state') isSending = order.kind === 'begin';
  sendState();
  sendMore();
});
process.on('disconnect', () => process.exit(0));
