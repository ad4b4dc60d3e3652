import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { UserFile } from '../../agent/spec.ts';
import type { ProtocolAdapter } from '../../contracts/adapter.ts';
import { MeshError } from '../../contracts/errors.ts';
import { MAX_FRAME_BYTES } from '../../contracts/limits.ts';
import { FINAL_ANSWER, type PacketHead, TASK_FAILED, toFolderName } from '../../contracts/packet.ts';
import { type Team, teamSchema } from '../../contracts/team.ts';
import type { Link, MeshNode } from '../../hub/link.ts';
import { MeshNetwork } from '../../hub/mesh-network.ts';
import { createRouter } from '../../hub/routing.ts';
import { AgentGroup, type AgentGroupOptions } from '../../run/agents/agent-group.ts';
import { buildRunLedger, type RunLedger } from '../../run/metrics/run-ledger.ts';
import { raceAbort } from '../../system/process/abort.ts';
import { readCpuUs } from '../../system/process/machine-state.ts';
import { tcpDialler } from '../../transports/tcp/tcp-transport.ts';
import type { Dialler } from '../../transports/transport.ts';
import { formatRecording, RECORDING_FILE, type Recording } from '../recording.ts';
import { type TrafficGroups, TrafficTally } from './traffic-groups.ts';

interface ReplayOptions extends Pick<AgentGroupOptions, 'environment' | 'signal'> {
  readonly recording: Recording;
  /** Folder for the agents' workspaces. */
  readonly workspaces: string;
  readonly timeoutMs: number;
  /** Dials the agents; by default over the loopback. */
  readonly dialler?: Dialler | undefined;
  /** Maximum agents of a recording, which may come from a stranger and name a thousand. */
  readonly maxAgents: number;
  /** Files of the user's adapters that the agents load, and the paths they may read. */
  readonly userAdapters: { readonly files: readonly UserFile[]; readonly reads: readonly string[] };
}

/**
 * Figures of one round of a replay: all tasks of the recording, one after the other, through one adapter,
 * `passes` times.
 */
export interface Round extends TrafficGroups {
  /**
   * Number of times that the recording was played on one connection: all figures below except the session's
   * are sums over them.
   */
  readonly passes: number;
  /** Duration of all tasks in milliseconds. */
  readonly elapsedMs: number;
  readonly ledger: RunLedger;
  readonly sessionBytes: number;
  /** Time in the agents' codecs for all packets, in wall-clock microseconds. */
  readonly encodeUs: number;
  readonly decodeUs: number;
  /**
   * CPU time of agents and hub in microseconds, from the end of the handshake to the last packet; undefined
   * if the system does not count it.
   */
  readonly cpuUs: number | undefined;
}

/** Time limit for packets that follow a final answer, which are on their way by then. */
const LAST_PACKETS_MS = 5000;

/** Packets of a recording that have arrived during a pass: it expects every caused packet once. */
class Arrivals {
  /** Unexpected events, in order. */
  readonly faults: string[] = [];
  readonly #ids: readonly string[];
  /** Number of packets of each task, and true if one of them ends it. */
  readonly #due: ReadonlyMap<string, { readonly packets: number; readonly isEnded: boolean }>;
  #expected = new Set<string>();
  #isWhole: () => void = () => undefined;

  constructor({ header, packets }: Recording) {
    const caused = packets.filter(({ cause }) => cause !== null).map(({ packet }) => packet);
    const isEnd = (tag: string | undefined) => tag === FINAL_ANSWER || tag === TASK_FAILED;
    this.#ids = caused.map(({ id }) => id);
    this.#due = new Map(
      [...Map.groupBy(caused, ({ task_id }) => task_id)].map(([taskId, due]) => [
        taskId,
        { packets: due.length, isEnded: header.final !== null && due.some(({ tag }) => isEnd(tag)) },
      ]),
    );
  }

  /** Begins a pass. */
  expectAll(): void {
    this.#expected = new Set(this.#ids);
  }

  /** Returns the packet count that ends a task whose recording has no end, such as one with a lost agent. */
  countUntilEnd(taskId: string): number | undefined {
    const { packets, isEnded } = this.#due.get(taskId) ?? { packets: 0, isEnded: false };
    return isEnded ? undefined : packets;
  }

  came({ id, type }: Pick<PacketHead, 'id' | 'type'>): void {
    if (!this.#expected.delete(id))
      this.faults.push(`packet ${id} (${type}) came, which is not in the recording`);
    if (this.#expected.size === 0) this.#isWhole();
  }

  /**
   * Waits for the missing packets of the pass, such as those behind a final answer; a packet that has not
   * arrived when `signal` aborts is a fault.
   */
  async whole(signal: AbortSignal): Promise<void> {
    if (this.#expected.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#isWhole = resolve;
    try {
      await raceAbort(signal, promise);
    } catch {
      const [missing] = this.#expected;
      this.faults.push(`packet ${missing} of the recording never came`);
    }
  }
}

/**
 * The agents of a recording, as processes that send its packets again. They stay alive from round to round:
 * each round makes a new handshake, possibly with another adapter, so that no process start is part of any
 * figure.
 */
export class ReplayMesh {
  readonly #options: ReplayOptions;
  readonly #agents: AgentGroup;
  readonly #team: Team;
  readonly #tally: TrafficTally;
  readonly #secret = randomBytes(32).toString('hex');
  #nodes: readonly MeshNode[] = [];
  readonly #pids: number[] = [];
  #round = 0;
  #death: string | undefined;

  private constructor(options: ReplayOptions, team: Team) {
    const { files, reads } = options.userAdapters;
    this.#options = options;
    this.#team = team;
    this.#tally = new TrafficTally(options.recording);
    this.#agents = new AgentGroup({
      ...options,
      secret: this.#secret,
      team,
      portBase: 'auto',
      external: new Set(),
      launchOf: ({ subscribes = [] }) => ({
        setup: {
          engine: { name: 'extractive' },
          subscribes,
          userFiles: [...files],
        },
        permissions: { reads },
      }),
      onUp: ({ pid }) => {
        if (pid !== undefined) this.#pids.push(pid);
      },
      onDeath: (agent, how) => {
        this.#death ??= `agent ${agent.id}: ${how}`;
      },
    });
  }

  /** @throws MeshError `agent` when an agent does not come up */
  static async start(options: ReplayOptions): Promise<ReplayMesh> {
    const team = replayTeam(options.recording, options.maxAgents);
    const lines = formatRecording(options.recording);
    for (const { id } of team.agents) {
      const workspace = path.join(options.workspaces, toFolderName(id));
      mkdirSync(workspace, { recursive: true });
      writeFileSync(path.join(workspace, RECORDING_FILE), lines.join(''));
    }
    const mesh = new ReplayMesh(options, team);
    try {
      mesh.#nodes = await mesh.#agents.listening();
      return mesh;
    } catch (error) {
      await mesh.stop();
      throw error;
    }
  }

  /**
   * Plays the recording through `adapter`, `passes` times on one connection.
   *
   * @throws MeshError `packet`, naming the packet, when an unrecorded packet came or a recorded one is
   * missing
   */
  async play(adapter: ProtocolAdapter, passes = 1): Promise<Round> {
    const { recording, dialler = tcpDialler } = this.#options;
    const arrivals = new Arrivals(recording);
    this.#tally.begin();
    this.#round += 1;
    const network = await MeshNetwork.connect({
      runId: `${recording.header.run_id}-${this.#round}`,
      dialler,
      adapter,
      secret: this.#secret,
      nodes: this.#nodes,
      final: recording.header.final,
      router: createRouter(this.#team.routing),
      maxFrameBytes: MAX_FRAME_BYTES,
      observer: {
        relayed: ({ packets }) => {
          for (const { head, frameBytes } of packets) {
            arrivals.came(head);
            this.#tally.add(head.id, frameBytes);
          }
        },
        broadcast: ({ id }, _times, frameBytes) => this.#tally.add(id, frameBytes),
        refused: (node, reason) => arrivals.faults.push(`a packet of agent ${node} was refused: ${reason}`),
      },
    });
    try {
      const beganUs = this.#cpuUs();
      let elapsedMs = 0;
      for (let pass = 0; pass < passes; pass++) elapsedMs += await this.#pass(network, arrivals);
      const endedUs = this.#cpuUs();
      await network.settle();
      const { faults } = arrivals;
      if (this.#death !== undefined) faults.push(this.#death);
      const ledger = buildRunLedger(network);
      if (!ledger.balanced) faults.push(`the ledger does not balance: ${ledger.differences.join('; ')}`);
      const [fault] = faults;
      if (fault !== undefined) throw new MeshError('packet', `replay through ${adapter.name}: ${fault}`);
      const cpuUs = beganUs === undefined || endedUs === undefined ? undefined : endedUs - beganUs;
      const figures = sumSessionTimes(network.links, ledger);
      return { passes, elapsedMs, ledger, ...figures, cpuUs, ...this.#tally.groups() };
    } finally {
      network.close();
    }
  }

  /** Plays every task once and returns the milliseconds of all of them. */
  async #pass(network: MeshNetwork, arrivals: Arrivals): Promise<number> {
    const { recording, timeoutMs, signal } = this.#options;
    let elapsedMs = 0;
    arrivals.expectAll();
    for (const { cause, packet } of recording.packets) {
      if (cause !== null) continue;
      const { task_id: taskId, payload } = packet;
      const endsAfter = arrivals.countUntilEnd(taskId);
      const task = { taskId, payload, opening: packet, timeoutMs, endsAfter };
      const outcome = await network.runTask(task, signal);
      elapsedMs += outcome.elapsedMs;
      signal.throwIfAborted();
    }
    await arrivals.whole(AbortSignal.any([signal, AbortSignal.timeout(LAST_PACKETS_MS)]));
    signal.throwIfAborted();
    return elapsedMs;
  }

  /** Reads the CPU time of all agents and of this process, which is the hub. */
  #cpuUs(): number | undefined {
    return readCpuUs([process.pid, ...this.#pids]);
  }

  async stop(): Promise<void> {
    await this.#agents.stop();
  }
}

function sumSessionTimes(
  links: readonly Link[],
  ledger: RunLedger,
): Pick<Round, 'sessionBytes' | 'encodeUs' | 'decodeUs'> {
  let encodeUs = 0;
  let decodeUs = 0;
  for (const { ledgerReport: report } of links) {
    decodeUs += report?.received.decode_us ?? 0;
    for (const { encode_us } of report?.sent ?? []) encodeUs += encode_us;
  }
  return { sessionBytes: ledger.written.session + ledger.read.session, encodeUs, decodeUs };
}

/** Subscription of an agent that never sends: it receives everything but works on nothing. */
const LISTENS_TO_NOTHING = ['mesh.nothing'];

/**
 * Builds the team of a recording: its agents, each working only on the types that it answered to.
 *
 * @throws MeshError `usage` for a recording of too many agents
 */
function replayTeam({ header, packets }: Recording, maxAgents: number): Team {
  if (header.agents.length > maxAgents) {
    throw new MeshError(
      'usage',
      `the recording has ${header.agents.length} agents, and each becomes a process of this machine: --max-agents ${header.agents.length} allows them`,
    );
  }
  const typeOf = new Map(packets.map(({ packet }) => [packet.id, packet.type]));
  const recorded = header.agents.map(({ id }) => {
    const causes = packets
      .filter(({ packet }) => packet.from === id)
      .map(({ cause }) => typeOf.get(cause ?? ''));
    const types = new Set(causes.filter((type) => type !== undefined));
    return { id, tool: 'replay', subscribes: types.size > 0 ? [...types] : LISTENS_TO_NOTHING };
  });
  return teamSchema.parse({
    version: 1,
    name: 'replay',
    final: header.final ?? header.agents[0]?.id,
    routing: header.routing,
    agents: recorded,
  });
}
