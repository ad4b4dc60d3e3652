import type { MeshNode } from '../hub/link.ts';
import type { Team, TeamAgent } from '../team.ts';
import { AgentProcess } from './launcher.ts';

export interface AgentGroupOptions {
  readonly team: Team;
  /** First port, or `auto` for any free ones; without it the team's own. */
  readonly portBase: number | 'auto' | undefined;
  /** Agents that somebody else started: they are dialled, not launched. */
  readonly external: ReadonlySet<string>;
  /** How agents are started; see `AgentProcess`. */
  readonly entry: string;
  readonly readable: readonly string[];
  readonly workspaces: string;
  /** Further arguments of `gaia-mesh agent` for one agent. */
  readonly agentArguments: (agent: TeamAgent) => readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The run's secret, which launched agents get. */
  readonly secret: string;
  readonly onUp: (agent: { id: string; tool: string; port: number; pid: number | undefined }) => void;
  readonly onDeath: (agent: { id: string; tool: string }, how: string) => void;
  readonly signal: AbortSignal;
}

/** The processes of a team: started together, and ended together. */
export class AgentGroup {
  readonly #options: AgentGroupOptions;
  readonly #agents: AgentProcess[];
  readonly #ports: readonly number[];

  /** Starts them; wait for {@link listening} before dialling. */
  constructor(options: AgentGroupOptions) {
    const { team, external } = options;
    this.#options = options;
    this.#ports = team.agents.map((agent, index) => this.#portOf(agent, index));
    this.#agents = team.agents.flatMap((agent, index) => {
      if (external.has(agent.id)) return [];
      const port = this.#ports[index] ?? 0;
      const command = { id: agent.id, tool: agent.tool, port, options: options.agentArguments(agent) };
      return [new AgentProcess(command, options)];
    });
  }

  /**
   * Where each agent listens, in the team's order.
   *
   * @throws MeshError `agent` when one does not come up; what `signal` was aborted with
   */
  async listening(): Promise<MeshNode[]> {
    const { team, external, secret, environment, onUp } = this.#options;
    const ups = this.#agents.map(async (agent) => {
      const port = await agent.listening;
      onUp({ id: agent.id, tool: agent.tool, port, pid: agent.pid });
      return [agent.id, port] as const;
    });
    const ports = new Map(await this.#unlessAborted(ups));
    return team.agents.map((agent, index) => ({
      id: agent.id,
      tool: agent.tool,
      port: ports.get(agent.id) ?? this.#ports[index] ?? 0,
      ...(agent.may_call === undefined ? {} : { mayCall: agent.may_call }),
      // An agent that was started by hand knows no secret but the one that its environment gave it.
      secret: external.has(agent.id) ? (environment.GAIA_MESH_SECRET ?? '') : secret,
    }));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.stop()));
  }

  /** Waits for all, but no longer than the user wants to. */
  async #unlessAborted<T>(all: readonly Promise<T>[]): Promise<T[]> {
    const { signal } = this.#options;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    try {
      signal.throwIfAborted();
      return await Promise.race([Promise.all(all), aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #portOf(agent: TeamAgent, index: number): number {
    const { portBase, team, external } = this.#options;
    if (portBase === 'auto' && !external.has(agent.id)) return 0;
    if (typeof portBase === 'number') return portBase + index;
    return agent.port ?? team.port_base + index;
  }
}
