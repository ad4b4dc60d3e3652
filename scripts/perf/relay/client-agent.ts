/**
 * One agent of the load with Node clients.
 * Usage: client-agent.ts WIRE PORT NUMBER AGENTS BYTES WINDOW_BYTES, with a channel to whoever starts it
 */
import { eventLoopUtilization } from 'node:perf_hooks';
import * as z from 'zod';
import { CLIENT_LINKS } from './client-links.ts';
import { type Mark, orderSchema } from './client-orders.ts';
import { ClientTraffic } from './client-traffic.ts';

/** What has not come by then is lost. */
const FINISH_MS = 5000;

const number = z.coerce.number().int().nonnegative();
const [wire, port, self, agents, bytes, windowBytes] = z
  .tuple([z.enum(['frames', 'nats']), number, number, number, number, number])
  .parse(process.argv.slice(2));

const traffic = new ClientTraffic(self, agents, bytes, windowBytes);
let isSending = false;
let isPlanned = false;
/** What is to come in all, as soon as that is known. */
let due = Number.POSITIVE_INFINITY;
let finished: () => void = () => undefined;

const link = await CLIENT_LINKS[wire](port, (blob) => {
  traffic.hear(blob);
  if (traffic.heard >= due) finished();
  if (!isSending || isPlanned) return;
  // Once a turn, for all that came in it.
  isPlanned = true;
  setImmediate(sendMore);
});

function sendMore(): void {
  isPlanned = false;
  if (!isSending) return;
  const next = traffic.next();
  if (next.length > 0) link.send(next);
}

function mark(): Mark {
  const { user, system } = process.cpuUsage();
  return {
    heard: traffic.heard,
    atMs: performance.now(),
    idleMs: eventLoopUtilization().idle,
    cpuMs: (user + system) / 1000,
  };
}

function finish(all: number): void {
  due = all;
  finished = () => {
    clearTimeout(late);
    finished = () => undefined;
    process.send?.({ came: traffic.heard, bad: traffic.bad });
  };
  const late = setTimeout(() => finished(), FINISH_MS);
  if (traffic.heard >= due) finished();
}

process.on('message', (message) => {
  const order = orderSchema.parse(message);
  switch (order.kind) {
    case 'begin':
      isSending = true;
      sendMore();
      break;
    case 'mark':
      process.send?.(mark());
      break;
    case 'stop':
      isSending = false;
      process.send?.({ sent: traffic.sent });
      break;
    case 'finish':
      finish(order.due);
      break;
  }
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: link.port });
