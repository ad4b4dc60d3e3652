import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type net from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { trackChild } from '../../measure/bench-runs.ts';
import { resolveScript } from '../programs.ts';
import { type AgentOrder, type AgentState, agentStateSchema } from './traffic.ts';

/** Silence after which an agent has died or will never answer. */
const SILENCE_MS = 30_000;
/** Unit in which Linux reports a process's time to programs, whatever its own clock. */
const TICKS_PER_S = 100;

/**
 * Runs the load with agents as people have them: each is a Node process with the client used there. It takes
 * the settings of the load in C, and returns the same figures. `sockets` are the agents' connections to a
 * hub; agents of a broker make their own.
 */
export async function runNodeLoad(
  { wire, agents, size, window, warm_ms, run_ms, port = 0, pid }: Readonly<Record<string, string | number>>,
  sockets: readonly net.Socket[],
): Promise<unknown> {
  const gone = new AbortController();
  const children = Array.from({ length: Number(agents) }, (_, self) => {
    const socket = sockets[self];
    const settings = [wire, port, self, agents, size, window].map(String);
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc', ...(socket === undefined ? [] : [socket])] as const;
    const child = trackChild(
      fork(resolveScript('node-agents', 'node-agent.ts'), settings, { stdio: [...stdio] }),
    );
    child.once('exit', () => gone.abort(new Error('an agent has ended')));
    // The process has the socket by now.
    socket?.destroy();
    return child;
  });
  const ask = (kind: AgentOrder['kind'], due: (self: number) => number = () => 0): Promise<AgentState[]> =>
    Promise.all(
      children.map(async (child, self) => {
        const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(SILENCE_MS)]);
        const answer = once(child, 'message', { signal });
        child.send({ kind, due: due(self) } satisfies AgentOrder);
        return agentStateSchema.parse((await answer)[0]);
      }),
    );
  // All agents must be present before the first message.
  await ask('state');
  await ask('begin');
  await after(Number(warm_ms));
  const cpuBefore = readCpuSeconds(pid);
  const before = await ask('state');
  await after(Number(run_ms));
  const hubCpu = readCpuSeconds(pid) - cpuBefore;
  const behind = await ask('state');
  const sent = (await ask('stop')).map((state) => state.sent);
  // An agent does not receive its own messages.
  const finished = await ask('finish', (self) => sum(sent) - (sent[self] ?? 0));
  // Each span lies between two states of the same agent, because agents do not report at the same instant.
  const spans = behind.map((end, self) => {
    const begin = before[self] ?? end;
    const seconds = (end.atMs - begin.atMs) / 1000;
    const [idle, cpu] = [(end.idleMs - begin.idleMs) / 1000, (end.cpuMs - begin.cpuMs) / 1000];
    return { seconds, heard: end.heard - begin.heard, idle, cpu };
  });
  for (const child of children) child.kill();
  return {
    seconds: sum(spans.map(({ seconds }) => seconds)) / children.length,
    delivered: sum(spans.map(({ heard }) => heard)),
    rate: sum(spans.map(({ heard, seconds }) => heard / seconds)),
    sent: sum(sent),
    wanted: sum(sent) * (children.length - 1),
    came: sum(finished.map(({ heard }) => heard)),
    bad: sum(finished.map(({ bad }) => bad)),
    hub_cpu_s: hubCpu,
    own_cpu_s: sum(spans.map(({ cpu }) => cpu)),
    idle_s: sum(spans.map(({ idle }) => idle)) / children.length,
    hub_peak_mb: Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    cut_s: -1,
    tenths: [],
  };
}

/** Returns the processor time of a process so far, in seconds. */
function readCpuSeconds(pid: string | number | undefined): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
