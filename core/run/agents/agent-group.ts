import path from 'node:path';
import type { AgentEndpoint, AgentLaunch } from '../../agent/spec.ts';
import { MeshError } from '../../contracts/errors.ts';
import { toFolderName } from '../../contracts/packet.ts';
import type { Team, TeamAgent } from '../../contracts/team.ts';
import type { MeshNode } from '../../hub/link.ts';
import { codeFolder, listReadablePaths } from '../../system/package-root.ts';
import { raceAbort } from '../../system/process/abort.ts';
import { tcpTransport } from '../../transports/run-transport.ts';
import type { RunTransport } from '../../transports/transport.ts';
import { readRunSecret } from '../../wire/run-secret.ts';
import { RateLimiter } from '../rate-limiter.ts';
import { AgentProcess } from './launcher.ts';

/** Script with which agents are started. */
const ENTRY = path.join(codeFolder, 'scripts', 'gaia-mesh.js');

/** An agent of the group that has begun to listen. */
interface AgentUp {
  readonly id: string;
  readonly tool: string;
  readonly where: string;
  readonly pid: number | undefined;
}

export interface AgentGroupOptions {
  readonly team: Team;
  /** First port, or `auto` for any free ones; undefined for the team's own. */
  readonly portBase: number | 'auto' | undefined;
  /** Agents that someone else started: the hub dials them but does not launch them. */
  readonly external: ReadonlySet<string>;
  /** `workspaces/`: agent `id` may write to its `<id>/` only. */
  readonly workspaces: string;
  /** Returns the setup of an agent and the permissions of its process. */
  readonly launchOf: (agent: TeamAgent) => AgentLaunch;
  /**
   * Returns the command with which a person starts an agent that is not launched, for the message that it is
   * missing.
   */
  readonly howToStart?: ((agent: { id: string; tool: string; place: AgentEndpoint }) => string) | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Advice for the case that a port is in use, for people. */
  readonly portHint?: string;
  /** Transport over which the hub reaches the agents; the default is their TCP ports. */
  readonly transport?: RunTransport;
  /** Secret of the run, which launched agents receive. */
  readonly secret: string;
  readonly onUp: (agent: AgentUp) => void;
  readonly onDeath: (agent: { id: string; tool: string }, how: string) => void;
  readonly signal: AbortSignal;
}

/** The processes of a team, which are started and ended together. */
export class AgentGroup {
  readonly #options: AgentGroupOptions;
  readonly #agents = new Map<string, AgentProcess>();
  readonly #permits = new RateLimiter();
  readonly #readable = listReadablePaths();
  #isStopped = false;

  /** Starts the agents; wait for {@link listening} before dialling. */
  constructor(options: AgentGroupOptions) {
    const { team, external } = options;
    this.#options = options;
    for (const agent of team.agents) if (!external.has(agent.id)) this.#launch(agent);
  }

  /**
   * Returns the address of each agent, in the team's order.
   *
   * @throws MeshError `agent` when an agent does not come up; the reason of `signal` if it is aborted
   */
  async listening(): Promise<MeshNode[]> {
    const ups = this.#options.team.agents.map(async (agent) => {
      const process = this.#agents.get(agent.id);
      return process === undefined ? this.#nodeOf(agent, this.#portOf(agent.id)) : this.#up(agent, process);
    });
    return raceAbort(this.#options.signal, Promise.all(ups));
  }

  /** Kills an agent of this group, as a fault of the run. */
  kill(id: string): void {
    this.#agents.get(id)?.kill();
  }

  /**
   * Ends an agent of this group, starts it again in its workspace, and returns its new address. An agent that
   * someone else started returns to its old address when it is restarted there.
   *
   * @throws MeshError `agent` when it does not come up
   */
  async restart(id: string): Promise<MeshNode> {
    const agent = this.#options.team.agents.find((candidate) => candidate.id === id);
    if (agent === undefined) throw new Error(`agent ${id} is not of this group`);
    const former = this.#agents.get(id);
    await former?.stop();
    if (former === undefined) return this.#nodeOf(agent, this.#portOf(id));
    if (this.#isStopped) throw new MeshError('agent', `agent ${id} is not restarted: the run is over`);
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
    // Environment variables of the transport are for all agents of the run.
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
        entry: ENTRY,
        readable: this.#readable,
        permits: this.#permits,
        environment: { ...environment, ...this.#transport.environment },
      },
    );
    this.#agents.set(id, process);
    return process;
  }

  /** Returns the agent's node once it listens. */
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
      start: external.has(id) ? howToStart?.({ id, tool, place }) : undefined,
      mayCall: agent.may_call,
      mayFail: agent.may_fail,
      // An agent that was started by hand knows only the secret from its own environment.
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
