import path from 'node:path';
import type { AgentEndpoint, AgentLaunch } from '../../agent/spec.ts';
import { MeshError } from '../../contracts/errors.ts';
import { toFolderName } from '../../contracts/node-id.ts';
import type { Team, TeamAgent } from '../../contracts/team.ts';
import type { MeshNode } from '../../hub/link.ts';
import { raceAbort } from '../../system/process/abort.ts';
import { tcpTransport } from '../../transports/run-transport.ts';
import type { RunTransport } from '../../transports/transport.ts';
import { readRunSecret } from '../../wire/run-secret.ts';
import { RateLimiter } from '../rate-limiter.ts';
import { AgentProcess } from './launcher.ts';

/** An agent of the group listens now. */
export interface AgentUp {
  readonly id: string;
  readonly tool: string;
  readonly where: string;
  readonly pid: number | undefined;
}

export interface AgentGroupOptions {
  readonly team: Team;
  /** First port, or `auto` for any free ones; without it the team's own. */
  readonly portBase: number | 'auto' | undefined;
  /** Agents that somebody else started: they are dialled, not launched. */
  readonly external: ReadonlySet<string>;
  /** How agents are started; see `AgentProcess`. */
  readonly entry: string;
  readonly readable: readonly string[];
  /** `workspaces/`: agent `id` may write to its `<id>/` only. */
  readonly workspaces: string;
  /** What an agent is told, and what its process may do. */
  readonly launchOf: (agent: TeamAgent) => AgentLaunch;
  /** What a person types to start an agent that nobody launches, for the message that it is not there. */
  readonly howToStart?: (agent: { id: string; tool: string; place: AgentEndpoint }) => string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What to do where a port is in use, for people. */
  readonly portHint?: string;
  /** How the hub reaches them; without it, over their ports. */
  readonly transport?: RunTransport;
  /** The run's secret, which launched agents get. */
  readonly secret: string;
  readonly onUp: (agent: AgentUp) => void;
  readonly onDeath: (agent: { id: string; tool: string }, how: string) => void;
  readonly signal: AbortSignal;
}

/** The processes of a team: started together, and ended together. */
export class AgentGroup {
  readonly #options: AgentGroupOptions;
  readonly #agents = new Map<string, AgentProcess>();
  readonly #permits = new RateLimiter();
  #isStopped = false;

  /** Starts them; wait for {@link listening} before dialling. */
  constructor(options: AgentGroupOptions) {
    const { team, external } = options;
    this.#options = options;
    for (const agent of team.agents) if (!external.has(agent.id)) this.#launch(agent);
  }

  /**
   * Where each agent listens, in the team's order.
   *
   * @throws MeshError `agent` when one does not come up; what `signal` was aborted with
   */
  async listening(): Promise<MeshNode[]> {
    const ups = this.#options.team.agents.map(async (agent) => {
      const process = this.#agents.get(agent.id);
      return process === undefined ? this.#nodeOf(agent, this.#portOf(agent.id)) : this.#up(agent, process);
    });
    return raceAbort(this.#options.signal, Promise.all(ups));
  }

  /** Kills an agent of this group: a fault of the run. */
  kill(id: string): void {
    this.#agents.get(id)?.kill();
  }

  /**
   * Ends what is left of an agent of this group and starts it again in its workspace; where it listens now. One that somebody else
   * started listens where it did before, when that one has started it again.
   *
   * @throws MeshError `agent` when it does not come up
   */
  async restart(id: string): Promise<MeshNode> {
    const agent = this.#options.team.agents.find((candidate) => candidate.id === id);
    if (agent === undefined) throw new Error(`agent ${id} is not of this group`);
    const former = this.#agents.get(id);
    await former?.stop();
    if (former === undefined) return this.#nodeOf(agent, this.#portOf(id));
    if (this.#isStopped) throw new MeshError('agent', `agent ${id} is not started again: the run is over`);
    return this.#up(agent, this.#launch(agent, true));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#agents.values()].map((agent) => agent.stop()));
  }

  #launch(agent: TeamAgent, resumes = false): AgentProcess {
    const { id, tool } = agent;
    const { launchOf, environment, workspaces } = this.#options;
    const { setup, permissions = {} } = launchOf(agent);
    const place = this.#transport.placeOf(id, this.#portOf(id));
    // What its transport adds to the environment is for all agents of the run.
    const { environment: named = [] } = permissions;
    const ofTransport = Object.keys(this.#transport.environment);
    const process = new AgentProcess(
      { ...setup, id, tool, place, workspace: path.join(workspaces, toFolderName(id)), resumes },
      {
        ...permissions,
        network: permissions.network === true || !('port' in place),
        environment: named === 'all' ? named : [...named, ...ofTransport],
      },
      {
        ...this.#options,
        permits: this.#permits,
        environment: { ...environment, ...this.#transport.environment },
      },
    );
    this.#agents.set(id, process);
    return process;
  }

  /** The agent, once it listens. */
  async #up(agent: TeamAgent, process: AgentProcess): Promise<MeshNode> {
    const node = this.#nodeOf(agent, await process.listening);
    const { id, tool } = agent;
    this.#options.onUp({ id, tool, where: this.#transport.dialler.where(node), pid: process.pid });
    return node;
  }

  get #transport(): RunTransport {
    return this.#options.transport ?? tcpTransport;
  }

  #nodeOf(agent: TeamAgent, port: number): MeshNode {
    const { external, secret, environment, howToStart } = this.#options;
    const { id, tool } = agent;
    const place = this.#transport.placeOf(id, port);
    return {
      id,
      tool,
      port,
      ...(external.has(id) && howToStart !== undefined ? { start: howToStart({ id, tool, place }) } : {}),
      ...(agent.may_call === undefined ? {} : { mayCall: agent.may_call }),
      ...(agent.may_fail === undefined ? {} : { mayFail: agent.may_fail }),
      // An agent that was started by hand knows no secret but the one that its environment gave it.
      secret: external.has(agent.id) ? readRunSecret(environment) : secret,
    };
  }

  #portOf(id: string): number {
    const { portBase, team, external } = this.#options;
    const index = team.agents.findIndex((agent) => agent.id === id);
    if (portBase === 'auto' && !external.has(id)) return 0;
    if (typeof portBase === 'number') return portBase + index;
    return team.agents[index]?.port ?? team.port_base + index;
  }
}
