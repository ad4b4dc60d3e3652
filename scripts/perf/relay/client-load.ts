/**
 * The load of `perf --relay` with agents as people have them: each a Node process of its own, with the client that is used there. It is
 * started, and answers, like the one in load.c. Usage: client-load.ts wire=frames agents=4 size=512 window=262144 warm=1
 * seconds=1 [port=… pid=…]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import * as z from 'zod';
import { finishedSchema, markSchema, type Order, stoppedSchema, upSchema } from './client-orders.ts';
import { cpuSecondsOf, peakMbOf } from './hub-process.ts';
import { scriptOf } from './programs.ts';

/** An agent that says nothing for so long has died or never will: then this ends, and whoever started it sees that. */
const SILENCE_MS = 30_000;

const number = z.coerce.number().nonnegative();
const settings = z
  .object({
    wire: z.enum(['frames', 'nats']),
    agents: number.int().min(2),
    size: number.int(),
    /** Bytes that an agent may be ahead of the others. */
    window: number.int(),
    warm: number,
    seconds: number,
    /** Of a broker, and its process. */
    port: number.int().default(0),
    pid: number.int().default(0),
  })
  .parse(Object.fromEntries(process.argv.slice(2).map((setting) => setting.split('='))));
const { wire, agents, size, window, port } = settings;

const children = Array.from({ length: agents }, (_, self) => {
  const child = fork(scriptOf('client-agent.ts'), [wire, port, self, agents, size, window].map(String), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.once('exit', () => process.exit(1));
  return child;
});

const ports = (await Promise.all(children.map((child) => answerOf(child, upSchema)))).map((up) => up.port);
const hub = wire === 'frames' ? await hubThatDials() : settings.pid;

for (const child of children) child.send({ kind: 'begin' });
await after(settings.warm * 1000);
const cpuBefore = cpuSecondsOf(hub);
const before = await askEach({ kind: 'mark' }, markSchema);
await after(settings.seconds * 1000);
const hubCpu = cpuSecondsOf(hub) - cpuBefore;
const behind = await askEach({ kind: 'mark' }, markSchema);

const sent = (await askEach({ kind: 'stop' }, stoppedSchema)).map((stopped) => stopped.sent);
const sentByAll = sum(sent);
const finished = await Promise.all(
  // What an agent has sent does not come back to it.
  sent.map((own, self) => ask(self, { kind: 'finish', due: sentByAll - own }, finishedSchema)),
);

// Between its own two marks: they are not made at the same instant by all.
const spans = behind.map((end, self) => {
  const begin = before[self] ?? end;
  const seconds = (end.atMs - begin.atMs) / 1000;
  const heard = end.heard - begin.heard;
  return { seconds, heard, idle: (end.idleMs - begin.idleMs) / 1000, cpu: (end.cpuMs - begin.cpuMs) / 1000 };
});
console.log(
  JSON.stringify({
    seconds: sum(spans.map(({ seconds }) => seconds)) / agents,
    delivered: sum(spans.map(({ heard }) => heard)),
    rate: sum(spans.map(({ heard, seconds }) => heard / seconds)),
    sent: sentByAll,
    wanted: sentByAll * (agents - 1),
    came: sum(finished.map(({ came }) => came)),
    bad: sum(finished.map(({ bad }) => bad)),
    hub_cpu_s: hubCpu,
    own_cpu_s: sum(spans.map(({ cpu }) => cpu)),
    idle_s: sum(spans.map(({ idle }) => idle)) / agents,
    hub_peak_mb: peakMbOf(hub),
    cut_s: -1,
    tenths: [],
  }),
);
process.exit(0);

/** Says where the agents listen; the hub's process id comes when it has dialled them. */
async function hubThatDials(): Promise<number> {
  console.log(ports.join(','));
  const [line] = await once(createInterface({ input: process.stdin }), 'line');
  return number.int().parse(line);
}

async function answerOf<T>(child: ChildProcess, schema: z.ZodType<T>): Promise<T> {
  const [message] = await once(child, 'message', { signal: AbortSignal.timeout(SILENCE_MS) });
  return schema.parse(message);
}

function ask<T>(self: number, order: Order, schema: z.ZodType<T>): Promise<T> {
  const child = children[self];
  if (child === undefined) throw new Error(`no agent ${self}`);
  const answer = answerOf(child, schema);
  child.send(order);
  return answer;
}

function askEach<T>(order: Order, schema: z.ZodType<T>): Promise<T[]> {
  return Promise.all(children.map((_, self) => ask(self, order, schema)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
