import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { AGENT_START_TIMEOUT_MS, AGENT_STOP_TIMEOUT_MS } from '@gaia-mesh/core/contracts/limits.ts';
import type { MeshNode } from '@gaia-mesh/core/hub/link.ts';
import * as z from 'zod';
import { type Flood, SYNTHETIC_TOOL } from './synthetic-agent.ts';

/**
 * Messages between the launcher of synthetic agents and the process that hosts them, over the process's
 * channel.
 */
export const orderSchema = z.discriminatedUnion('kind', [
  /** Sessions send from now on, as fast as the hub accepts it, including sessions that begin later. */
  z.object({
    kind: z.literal('flood'),
    seed: z.int(),
    brokenRate: z.number(),
    pauseMs: z.number(),
    ahead: z.number(),
  }),
  /** Sessions stop sending and report the number of packets sent. */
  z.object({ kind: z.literal('quiet') }),
  /** An agent stops reading for `ms`. */
  z.object({ kind: z.literal('doze'), agent: z.string(), ms: z.number() }),
]);
type Order = z.infer<typeof orderSchema>;

const eventSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('listening'), ports: z.record(z.string(), z.int().positive()) }),
  /** `sent` counts the packets of an agent's present session; null for an agent without one. */
  z.object({ kind: z.literal('quiet'), sent: z.record(z.string(), z.int().nullable()), rss: z.int() }),
  /** An agent saw a packet missing, repeated or out of order. */
  z.object({ kind: z.literal('violation'), agent: z.string(), message: z.string() }),
]);
export type SwarmEvent = z.infer<typeof eventSchema>;

/**
 * Maximum packets that all agents together may be ahead of each other. Without a bound the buffers of their
 * connections fill, and each packet in them is as many deliveries as there are agents: 256 agents had a
 * minute's work left when they had stopped.
 */
const ALL_AHEAD = 16_384;

/** Time limit for becoming quiet: an agent that stopped reading for a while may notice the order late. */
const QUIET_TIMEOUT_MS = 60_000;

/**
 * Synthetic agents in a few processes. Agent `i` has id `i`; the first and the last have their parts in
 * tasks.
 */
export class Swarm {
  readonly secret: string = randomBytes(32).toString('hex');
  readonly #processes: SwarmProcess[];
  readonly #agents: number;

  private constructor(agents: number, processes: number, onViolation: (message: string) => void) {
    this.#agents = agents;
    const ids = Array.from({ length: agents }, (_, index) => index);
    this.#processes = Array.from({ length: processes }, (_, process) => {
      const own = ids.filter((id) => id % processes === process);
      const parts = own.map((id) => `${id}:${id === 0 ? 'first' : id === agents - 1 ? 'last' : 'filler'}`);
      return new SwarmProcess(parts, this.secret, onViolation);
    });
  }

  /** @throws MeshError `agent` when a process does not come up; none is left then */
  static async start(
    agents: number,
    processes: number,
    onViolation: (message: string) => void,
  ): Promise<Swarm> {
    const swarm = new Swarm(agents, processes, onViolation);
    try {
      await swarm.nodes();
      return swarm;
    } catch (error) {
      await swarm.stop();
      throw error;
    }
  }

  get processes(): number {
    return this.#processes.length;
  }

  get final(): string {
    return String(this.#agents - 1);
  }

  /** Returns the present addresses of all agents, by their ids. */
  async nodes(): Promise<MeshNode[]> {
    const all = await Promise.all(this.#processes.map((process) => process.ports));
    return all
      .flatMap((ports) => Object.entries(ports))
      .map(([id, port]) => ({ id, tool: SYNTHETIC_TOOL, port, secret: this.secret }))
      .sort((a, b) => Number(a.id) - Number(b.id));
  }

  /** Returns the address of an agent, after its process has come back if it was killed. */
  async node(id: string): Promise<MeshNode> {
    const port = (await this.#of(id).ports)[id] ?? 0;
    return { id, tool: SYNTHETIC_TOOL, port, secret: this.secret };
  }

  flood(flood: Omit<Flood, 'ahead'>): void {
    const ahead = Math.ceil(ALL_AHEAD / this.#agents);
    for (const process of this.#processes) process.order({ kind: 'flood', ...flood, ahead });
  }

  /**
   * Ends the flood; returns the packets that each agent has sent in its session, and the largest process's
   * memory.
   */
  async quiet(): Promise<{ sent: ReadonlyMap<string, number | null>; rss: number }> {
    const events = await Promise.all(this.#processes.map((process) => process.quiet()));
    const sent = new Map(events.flatMap((one) => Object.entries(one.sent)));
    return { sent, rss: Math.max(...events.map(({ rss }) => rss)) };
  }

  doze(id: string, ms: number): void {
    this.#of(id).order({ kind: 'doze', agent: id, ms });
  }

  /** Kills a process with all of its agents and starts it again. */
  kill(index: number): void {
    this.#processes[index]?.kill();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
  }

  #of(id: string): SwarmProcess {
    const process = this.#processes.find(({ ids }) => ids.includes(id));
    if (process === undefined) throw new Error(`no process has agent ${id}`);
    return process;
  }
}

/** One process, and its replacement when it is killed. */
class SwarmProcess {
  readonly ids: readonly string[];
  ports: Promise<Record<string, number>>;
  readonly #parts: readonly string[];
  readonly #secret: string;
  readonly #onViolation: (message: string) => void;
  #child: ChildProcess;
  /** Order that a replacement process must receive. */
  #flood: Order | undefined;
  #onQuiet: ((event: Extract<SwarmEvent, { kind: 'quiet' }>) => void) | undefined;
  #isStopping = false;

  constructor(parts: readonly string[], secret: string, onViolation: (message: string) => void) {
    this.#parts = parts;
    this.ids = parts.map((part) => part.split(':')[0] ?? '');
    this.#secret = secret;
    this.#onViolation = onViolation;
    [this.#child, this.ports] = this.#launch();
  }

  order(order: Order): void {
    if (order.kind === 'flood') this.#flood = order;
    // A process that was just killed does not receive it; its replacement need not.
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  async quiet(): Promise<Extract<SwarmEvent, { kind: 'quiet' }>> {
    this.#flood = undefined;
    // A process that was killed a moment ago would not receive the order.
    await this.ports;
    const { promise, resolve, reject } = Promise.withResolvers<Extract<SwarmEvent, { kind: 'quiet' }>>();
    this.#onQuiet = resolve;
    const late = new MeshError('agent', `agents ${this.ids.join(', ')} did not become quiet`);
    const timer = setTimeout(() => reject(late), QUIET_TIMEOUT_MS);
    this.order({ kind: 'quiet' });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  kill(): void {
    const child = this.#child;
    // A replacement is already being started.
    if (this.#isStopping || child.killed) return;
    child.kill('SIGKILL');
    this.ports = once(child, 'exit').then(() => {
      if (this.#isStopping) return {};
      const [next, ports] = this.#launch();
      this.#child = next;
      return ports;
    });
    this.ports.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    if (child.connected) child.disconnect();
    const timer = setTimeout(() => child.kill('SIGKILL'), AGENT_STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }

  #launch(): [ChildProcess, Promise<Record<string, number>>] {
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, number>>();
    const child = fork(path.join(import.meta.dirname, 'swarm-process.ts'), this.#parts, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // A terminal's Ctrl-C is for the hub, which ends the process in order.
      detached: true,
      env: { ...process.env, GAIA_MESH_SECRET: this.#secret },
    });
    const fail = (reason: string) =>
      reject(new MeshError('agent', `the process of agents ${this.ids.join(', ')} ${reason}`));
    const timer = setTimeout(() => fail('did not come up'), AGENT_START_TIMEOUT_MS);
    child.on('message', (message) => {
      const event = eventSchema.parse(message);
      switch (event.kind) {
        case 'listening':
          clearTimeout(timer);
          if (this.#flood !== undefined) child.send(this.#flood, () => undefined);
          resolve(event.ports);
          break;
        case 'quiet':
          this.#onQuiet?.(event);
          break;
        case 'violation':
          this.#onViolation(`agent ${event.agent}: ${event.message}`);
          break;
      }
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      fail(`ended (${signal ?? code})`);
      if (!this.#isStopping && signal !== 'SIGKILL') {
        this.#onViolation(`the process of agents ${this.ids.join(', ')} ended by itself (${signal ?? code})`);
      }
    });
    promise.catch(() => undefined);
    return [child, promise];
  }
}
