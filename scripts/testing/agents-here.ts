import childProcess from 'node:child_process';
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { PassThrough } from 'node:stream';
import type { Agent } from '@gaia-mesh/core/agent/agent.ts';
import { agentSpecSchema } from '@gaia-mesh/core/agent/spec.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { startAgent } from '@gaia-mesh/evaluation/teams/start-agent.ts';
import { createLauncherPermits } from '@gaia-mesh/tools/engines/permits.ts';
import { entry } from './cli.ts';

/** The first process id of agents in this process; the ids of real processes are lower. */
const FIRST_PID = 2 ** 30;

let agents = 0;

/**
 * An agent in this process that stands in for the child process of a launcher. It ends as a process would, but shares memory and
 * event loop with this one.
 */
class AgentHere extends EventEmitter {
  readonly pid: number = FIRST_PID + agents++;
  readonly stdin = null;
  readonly stdout = null;
  readonly stderr = new PassThrough();
  connected = true;
  killed = false;
  /** The agent's own end of the channel. */
  readonly #channel = Object.assign(new EventEmitter(), {
    connected: true,
    send: (message: unknown) => this.#receive(message),
  });
  #agent: Promise<Agent | undefined> | undefined;
  readonly #secret: string | undefined;

  constructor(secret: string | undefined) {
    super();
    this.#secret = secret;
  }

  /** Takes a message of the launcher; the first one is the agent's spec. */
  send(message: unknown, ...rest: readonly unknown[]): boolean {
    const copy = structuredClone(message);
    const done = rest.find((one) => typeof one === 'function');
    if (this.#agent !== undefined) this.#channel.emit('message', copy);
    // The launcher opened the port, since an agent process may open none. It closes it now, and this agent opens it.
    done?.();
    this.#agent ??= this.#start(copy);
    return true;
  }

  disconnect(): void {
    void this.#end(0, null);
  }

  kill(signal: NodeJS.Signals = 'SIGTERM'): boolean {
    this.killed = true;
    void this.#end(null, signal);
    return true;
  }

  async #start(message: unknown): Promise<Agent | undefined> {
    try {
      process.env.GAIA_MESH_SECRET = this.#secret;
      const agent = await startAgent(agentSpecSchema.parse(message), createLauncherPermits(this.#channel));
      this.#receive({ listening: agent.port });
      return agent;
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      this.#receive({ failed: error.message });
      void this.#end(1, null);
      return undefined;
    }
  }

  #receive(message: unknown): boolean {
    const copy = structuredClone(message);
    setImmediate(() => this.emit('message', copy));
    return true;
  }

  async #end(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    if (!this.connected) return;
    this.connected = false;
    this.#channel.connected = false;
    this.#channel.emit('disconnect');
    await (await this.#agent)?.stop();
    this.stderr.end();
    this.emit('exit', code, signal);
    this.emit('close', code, signal);
  }
}

/** Starts agents in this process, while `work` runs, and every other program as a child process as before. */
export async function withAgentsHere<Result>(work: () => Promise<Result>): Promise<Result> {
  const { spawn } = childProcess;
  const spawnOthers = spawn as (...args: readonly unknown[]) => unknown;
  childProcess.spawn = ((...args: readonly unknown[]) => {
    const [, words, options] = args as [string, readonly string[], { env?: NodeJS.ProcessEnv } | undefined];
    const isAgent = words?.at(-1) === 'agent' && words.at(-2) === entry;
    return isAgent ? new AgentHere(options?.env?.GAIA_MESH_SECRET) : spawnOthers(...args);
  }) as unknown as typeof spawn;
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    childProcess.spawn = spawn;
    syncBuiltinESMExports();
  }
}
