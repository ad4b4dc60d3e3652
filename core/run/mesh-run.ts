import { randomBytes } from 'node:crypto';
import { copyFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { create as createTar } from 'tar';
import type { ProtocolAdapter } from '../adapter.ts';
import type { Scorer } from '../evaluation/scorer.ts';
import type { MeshNode } from '../hub/link.ts';
import { DOC_INIT, MeshNetwork, type MeshObserver } from '../hub/mesh-network.ts';
import { routerNamed } from '../hub/routing.ts';
import { type Log, openLog } from '../log.ts';
import type { JsonObject } from '../packet.ts';
import { chunkDocument, type Task } from '../tasks/task.ts';
import type { Team, TeamAgent } from '../team.ts';
import { AgentProcess } from './launcher.ts';
import { environmentOf, gitRevision, listFiles } from './manifest.ts';
import { type RunMetrics, RunTally, runMetrics } from './metrics.ts';
import { RunFolder, writeWhole } from './run-folder.ts';
import { runLedger } from './run-ledger.ts';
import { type TaskResult, taskResult } from './task-result.ts';

/** Version of the archive's `manifest.json`. */
const MANIFEST_VERSION = 1;

export interface RunOptions {
  readonly team: Team;
  readonly adapter: ProtocolAdapter;
  readonly scorer: Scorer;
  /** Folder for the results. */
  readonly out: string;
  /** First port, or `auto` for any free ones; without it the team's own. */
  readonly portBase: number | 'auto' | undefined;
  /** Agents that somebody else started: they are dialled, not launched. */
  readonly external: ReadonlySet<string>;
  readonly timeoutMs: number;
  /** How agents are started; see `AgentProcess`. */
  readonly entry: string;
  readonly readable: readonly string[];
  /** Further arguments of `gaia-mesh agent` for one agent. */
  readonly agentArguments: (agent: TeamAgent) => readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly engine: { readonly name: string; readonly tokenSource: string };
  /** What the manifest says about how the run was asked for. */
  readonly version: string;
  readonly packageFolder: string;
  readonly command: readonly string[];
  readonly observer: RunObserver;
  readonly signal: AbortSignal;
}

/** What a run tells whoever watches, beside what its mesh does. */
export interface RunObserver extends MeshObserver {
  agentUp?(agent: { id: string; tool: string; port: number; pid: number | undefined }): void;
  taskEnded?(result: TaskResult): void;
}

const HOST = '127.0.0.1';

/**
 * One run: agents come up, the hub connects, tasks run on the same live agents, then the books are closed and everything
 * is written. Whatever happens in between, {@link close} leaves `metrics.json`, the archive, no process and no port.
 */
export class MeshRun {
  readonly runId: string;
  readonly folder: RunFolder;
  readonly #options: RunOptions;
  readonly #log: Log;
  readonly #agents: AgentProcess[] = [];
  readonly #tally = new RunTally();
  readonly #secret: string;
  readonly #revision: Promise<string | null>;
  readonly #startedAt = new Date();
  #network: MeshNetwork | undefined;
  #firstTaskMs: number | undefined;
  #deaths = new Map<string, string>();

  private constructor(options: RunOptions, runId: string, folder: RunFolder) {
    this.#options = options;
    this.runId = runId;
    this.folder = folder;
    this.#secret = options.environment.GAIA_MESH_SECRET || randomBytes(32).toString('hex');
    this.#log = openLog(path.join(folder.workspaces, 'hub.log'));
    this.#revision = gitRevision(options.packageFolder);
  }

  /**
   * Starts the agents and connects to them.
   *
   * @throws MeshError `locked`, `io`, `agent`; nothing is left running then
   */
  static async start(options: RunOptions): Promise<MeshRun> {
    const runId = newRunId();
    const run = new MeshRun(options, runId, await RunFolder.open(options.out, runId, options.external));
    try {
      await run.#connect(await run.#launch());
      return run;
    } catch (error) {
      await run.#stopAgents();
      run.folder.release();
      // Whatever else went wrong after Ctrl-C is not the news.
      throw options.signal.aborted ? options.signal.reason : error;
    }
  }

  /** Runs one task and scores it. Several may run at the same time. */
  async runTask(task: Task): Promise<TaskResult> {
    const network = this.#network;
    if (network === undefined) throw new Error('the run is not connected');
    this.#firstTaskMs ??= performance.now();
    const payload: JsonObject = {
      question: task.question.toWellFormed(),
      chunks: chunkDocument(task.document),
    };
    const outcome = await network.runTask(
      { taskId: task.taskId, payload, timeoutMs: this.#options.timeoutMs },
      this.#options.signal,
    );
    const result = taskResult(task, outcome, this.#options.scorer);
    this.#tally.add(result, outcome);
    this.#log.info({ event: 'task_ended', ...result });
    this.#options.observer.taskEnded?.(result);
    return result;
  }

  /**
   * Closes the books, ends the agents and writes the results. `tasks` go into the archive, so that the run can be made
   * again from it. Call it once.
   */
  async close(tasks: readonly Task[], isBatch: boolean): Promise<RunMetrics> {
    const network = this.#network;
    if (network === undefined) throw new Error('the run is not connected');
    const wallMs = performance.now() - (this.#firstTaskMs ?? performance.now());
    await network.settle();
    const ledger = runLedger(network.links, DOC_INIT, network.ownLine);
    const metrics = runMetrics(this.#tally, {
      runId: this.runId,
      adapter: this.#options.adapter.name,
      team: this.#options.team.name,
      engine: this.#options.engine.name,
      tokenSource: this.#options.engine.tokenSource,
      links: network.links,
      typeCounts: network.typeCounts,
      initBytes: network.initBytes,
      ledger,
      wallMs,
      isBatch,
    });
    network.close();
    await this.#stopAgents();
    this.#log.info({ event: 'run_ended', status: metrics.status, balanced: ledger.balanced });
    this.#log.close();
    writeWhole(this.folder.metricsFile, `${JSON.stringify(metrics, null, 2)}\n`);
    await this.#archive(tasks, isBatch);
    this.folder.release();
    return metrics;
  }

  async #launch(): Promise<MeshNode[]> {
    const { team, options } = { team: this.#options.team, options: this.#options };
    const ports = team.agents.map((agent, index) => this.#portOf(agent, index));
    team.agents.forEach((agent, index) => {
      if (options.external.has(agent.id)) return;
      this.#agents.push(
        new AgentProcess(
          { id: agent.id, tool: agent.tool, port: ports[index] ?? 0, options: options.agentArguments(agent) },
          {
            entry: options.entry,
            readable: options.readable,
            workspaces: this.folder.workspaces,
            secret: this.#secret,
            environment: options.environment,
            onDeath: (process, how) => this.#died(process, how),
          },
        ),
      );
    });
    const listening = await this.#unlessAborted(
      this.#agents.map(async (agent) => {
        const port = await agent.listening;
        options.observer.agentUp?.({ id: agent.id, tool: agent.tool, port, pid: agent.pid });
        this.#log.info({ event: 'agent_up', id: agent.id, tool: agent.tool, port, pid: agent.pid });
        return [agent.id, port] as const;
      }),
    );
    const portOf = new Map(listening);
    return team.agents.map((agent, index) => ({
      id: agent.id,
      tool: agent.tool,
      port: portOf.get(agent.id) ?? ports[index] ?? 0,
      ...(agent.may_call === undefined ? {} : { mayCall: agent.may_call }),
      // An agent that was started by hand knows no secret but the one that its environment gave it.
      secret: options.external.has(agent.id) ? (options.environment.GAIA_MESH_SECRET ?? '') : this.#secret,
    }));
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
    const { portBase, team } = this.#options;
    if (portBase === 'auto' && !this.#options.external.has(agent.id)) return 0;
    if (typeof portBase === 'number') return portBase + index;
    return agent.port ?? team.port_base + index;
  }

  async #connect(nodes: readonly MeshNode[]): Promise<void> {
    this.#options.signal.throwIfAborted();
    this.#network = await MeshNetwork.connect({
      runId: this.runId,
      host: HOST,
      adapter: this.#options.adapter,
      secret: this.#secret,
      nodes,
      final: this.#options.team.final,
      router: routerNamed(this.#options.team.routing),
      observer: this.#observe(),
      maxFrameBytes: this.#options.team.limits.max_frame_bytes,
    });
  }

  /** The hub's log has everything that the watcher is told. */
  #observe(): MeshObserver {
    const log = this.#log;
    const { observer } = this.#options;
    return {
      broadcast(taskId, bytes, recipients) {
        log.info({ event: 'broadcast', task_id: taskId, bytes, recipients });
        observer.broadcast?.(taskId, bytes, recipients);
      },
      packet(head, bytes, recipients, tool) {
        log.info({ event: 'packet', ...head, bytes, recipients });
        observer.packet?.(head, bytes, recipients, tool);
      },
      refused(node, reason, bytes) {
        log.warn({ event: 'refused', from: node, reason, bytes });
        observer.refused?.(node, reason, bytes);
      },
      agentLost: (node, reason) => {
        log.warn({ event: 'agent_lost', id: node.id, tool: node.tool, reason });
        // The launcher knows more, and says it, if it was the process that ended.
        setTimeout(() => {
          if (!this.#deaths.has(node.id)) observer.agentLost?.(node, reason);
        }, 200);
      },
    };
  }

  #died(process: AgentProcess, how: string): void {
    this.#deaths.set(process.id, how);
    this.#log.warn({ event: 'agent_died', id: process.id, tool: process.tool, how });
    const node = this.#network?.links.find((link) => link.node.id === process.id)?.node;
    if (node !== undefined) this.#options.observer.agentLost?.(node, how);
  }

  async #stopAgents(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.stop()));
  }

  async #archive(tasks: readonly Task[], isBatch: boolean): Promise<void> {
    const { folder } = this;
    const inside = (name: string) => path.join(folder.workspaces, name);
    await copyFile(folder.metricsFile, inside('metrics.json'));
    if (isBatch) await copyFile(folder.resultsFile, inside('results.jsonl'));
    await writeFile(
      inside('tasks.jsonl'),
      tasks.map((task) => `${JSON.stringify(taskLine(task))}\n`),
    );
    const { files, omitted } = await listFiles(folder.workspaces);
    const manifest = {
      schema_version: MANIFEST_VERSION,
      run_id: this.runId,
      started_at: this.#startedAt.toISOString(),
      command: this.#options.command,
      environment: environmentOf(this.#options.version),
      git_revision: await this.#revision,
      adapter: this.#options.adapter.name,
      engine: this.#options.engine.name,
      seeds: seedsOf(this.#options.team),
      task_timeout_ms: this.#options.timeoutMs,
      team: this.#options.team,
      files,
      omitted,
    };
    await writeFile(inside('manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    const temporary = `${folder.archiveFile}.part`;
    await createTar(
      { gzip: { level: 6 }, file: temporary, cwd: folder.workspaces, portable: true, noDirRecurse: true },
      ['manifest.json', ...files.map((file) => file.path)],
    );
    await rename(temporary, folder.archiveFile);
  }
}

/** Sorts by time: `20261121-230941-5f3a9c`. */
function newRunId(): string {
  const [date, time] = new Date().toISOString().replaceAll(/[-:]/g, '').split('.')[0]?.split('T') ?? [];
  return `${date}-${time}-${randomBytes(3).toString('hex')}`;
}

function taskLine(task: Task): JsonObject {
  const [answer, ...aliases] = task.truths;
  return {
    task_id: task.taskId,
    question: task.question,
    document: task.document,
    ...(answer === undefined ? {} : { answer, aliases }),
    ...(task.source === undefined ? {} : { source: task.source }),
    ...(task.level === undefined ? {} : { level: task.level }),
  };
}

/** What decides anything at random: only a model's sampling does. */
function seedsOf(team: Team): Record<string, unknown> {
  const seeds = team.agents.map((agent) => [
    agent.id,
    (agent.engine_options ?? team.engine_options)?.seed ?? null,
  ]);
  return Object.fromEntries(seeds);
}
