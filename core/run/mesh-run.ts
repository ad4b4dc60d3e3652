import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { explainSystemFault, MeshError } from '../contracts/errors.ts';
import { toFolderName } from '../contracts/packet.ts';
import { buildDocumentPayload, type Task } from '../contracts/task.ts';
import { AcknowledgedDelivery } from '../hub/delivery/acknowledged.ts';
import { DirectDelivery } from '../hub/delivery/direct.ts';
import type { Link, MeshNode } from '../hub/link.ts';
import { MeshNetwork } from '../hub/mesh-network.ts';
import type { MeshObserver } from '../hub/mesh-observer.ts';
import { createRouter } from '../hub/routing.ts';
import { type LinesByType, RunRecord } from '../recording/run-record.ts';
import { writeWhole } from '../system/files/whole-file.ts';
import { Log, readEpochMs } from '../system/log.ts';
import { warmUp } from '../system/process/warm-up.ts';
import { Sampled } from '../system/sampled.ts';
import { openTransport } from '../transports/run-transport.ts';
import type { RunTransport } from '../transports/transport.ts';
import { readRunSecret } from '../wire/run-secret.ts';
import { AgentGroup } from './agents/agent-group.ts';
import { archiveRun, writeRecording } from './archive-run.ts';
import { readGitRevision } from './manifest.ts';
import { buildRunMetrics, RunTally, toMicroseconds } from './metrics/metrics.ts';
import type { RunMetrics } from './metrics/metrics-schema.ts';
import { NOT_RECORDED } from './metrics/recorded-metrics.ts';
import { RunExchanges } from './metrics/run-exchanges.ts';
import { buildRunLedger, type RunLedger } from './metrics/run-ledger.ts';
import { RunUsage } from './metrics/run-usage.ts';
import { RunWarnings } from './metrics/run-warnings.ts';
import type { TokenLedgerFigures } from './metrics/token-ledger.ts';
import { PacketLines } from './packet-lines.ts';
import type { NewRunEvent } from './run-event.ts';
import { RunFaults } from './run-faults.ts';
import { createRunId, RunFolder } from './run-folder.ts';
import type { RunOptions, TaskEnd } from './run-options.ts';
import { TaskLog } from './task-log.ts';

/** Name of the file that holds the run's frames until the recording is built from them. */
const FRAMES_FILE = '.hub.frames';
/** Time for the work that describes a run's packets after its end: ledger lines, tokens and the recording. */
const DESCRIPTION_MS = 60_000;
/** The time after a task timed out, when a person waits; after Ctrl-C it is shorter still. */
const DESCRIPTION_AFTER_TIMEOUT_MS = 4_000;
const DESCRIPTION_AFTER_INTERRUPT_MS = 500;
/** Time within which a process's end is reported after its connection's end. */
const LAST_WORDS_MS = 200;
/** Characters of a question in its event, which is for a list of them; `tasks.jsonl` has the whole. */
const QUESTION_CHARACTERS = 300;
/** Events that are warnings in the log, and in the file when the call returns. */
const WARNINGS: ReadonlySet<string> = new Set<NewRunEvent['event']>([
  'agent_lost',
  'agent_died',
  'refused',
  'fault_began',
  'restart',
]);

/** Bounds of one task, instead of the run's. */
interface TaskBounds {
  readonly timeoutMs?: number | undefined;
  readonly taskTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * One run: agents come up, the hub connects, tasks run on the same live agents, then the ledger is closed and
 * everything is written. Whatever happens in between, {@link close} leaves `metrics.json`, the archive, no
 * process and no port.
 */
export class MeshRun {
  readonly runId: string;
  readonly folder: RunFolder;
  readonly #options: RunOptions;
  readonly #log: Log;
  readonly #record: RunRecord;
  readonly #tasks: TaskLog;
  readonly #agents: AgentGroup;
  readonly #tally = new RunTally();
  readonly #secret: string;
  readonly #revision: Promise<string | null>;
  readonly #startedAt = new Date();
  readonly #faults: RunFaults | undefined;
  /** Present only with acknowledged delivery. */
  readonly #acknowledged: AcknowledgedDelivery | undefined;
  /** Present only in runs with a model. */
  readonly #usage: RunUsage | undefined;
  readonly #exchanges: RunExchanges | undefined;
  readonly #warnings: RunWarnings;
  readonly #transport: RunTransport;
  #network: MeshNetwork | undefined;
  #firstTaskMs: number | undefined;
  readonly #deaths = new Map<string, string>();
  /** Reports of lost agents whose processes may still be found to have ended, by id. */
  readonly #losses = new Map<string, () => void>();
  #unsaved: MeshError | undefined;

  private constructor(options: RunOptions, runId: string, folder: RunFolder, transport: RunTransport) {
    this.#options = options;
    this.#transport = transport;
    this.runId = runId;
    this.folder = folder;
    this.#secret = readRunSecret(options.environment) || randomBytes(32).toString('hex');
    this.#log = new Log(path.join(folder.workspaces, 'hub.log'));
    this.#record = new RunRecord(path.join(folder.workspaces, FRAMES_FILE));
    this.#tasks = new TaskLog(path.join(folder.workspaces, 'tasks.jsonl'));
    const { observer, team } = options;
    observer.began?.(folder.workspaces);
    this.#emit({
      event: 'run_began',
      run_id: runId,
      team: team.name,
      adapter: options.adapter.name,
      engine: options.engine.name,
      agents: team.agents.map(({ id, tool }) => ({ id, tool })),
      questions: options.questions ?? null,
    });
    this.#usage = RunUsage.of(folder.workspaces, options);
    const ids = options.team.agents.map(({ id }) => id);
    this.#warnings = new RunWarnings(folder.workspaces, ids);
    this.#exchanges = this.#usage === undefined ? undefined : new RunExchanges(folder.workspaces, ids);
    for (const { agent, name, text } of options.workspaceFiles ?? []) {
      const workspace = path.join(folder.workspaces, toFolderName(agent));
      mkdirSync(workspace, { recursive: true });
      writeFileSync(path.join(workspace, name), text, { mode: 0o600 });
    }
    this.#agents = new AgentGroup({
      ...options,
      transport,
      workspaces: folder.workspaces,
      secret: this.#secret,
      onUp: (agent) => {
        this.#deaths.delete(agent.id);
        this.#emit({ event: 'agent_up', ...agent });
      },
      onDeath: (agent, how) => this.#died(agent, how),
    });
    // Agents start meanwhile.
    this.#revision = readGitRevision();
    if (options.faults !== undefined) {
      this.#faults = new RunFaults(options.faults, {
        agents: this.#agents,
        network: () => this.#network,
        emit: (event) => this.#emit(event),
        signal: options.signal,
      });
    }
    if (options.team.delivery === 'acknowledged') {
      const below = this.#faults?.delivery ?? new DirectDelivery();
      this.#acknowledged = new AcknowledgedDelivery(below, (id) => this.#isReturning(id));
    }
  }

  /**
   * Starts the agents and connects to them.
   *
   * @throws MeshError `locked`, `io`, `agent`; nothing is left running then
   */
  static async start(options: RunOptions): Promise<MeshRun> {
    const runId = createRunId();
    const transport = await openTransport({ ...options, runId });
    const kept = new Set([...options.external].map(toFolderName));
    const folder = await RunFolder.open(options.out, runId, kept, options.resumes).catch(async (error) => {
      await transport.close();
      throw error;
    });
    const run = new MeshRun(options, runId, folder, transport);
    try {
      // There is nothing else to do while the agents start.
      warmUp(options.adapter);
      await run.#connect(await run.#agents.listening());
      return run;
    } catch (error) {
      await run.#agents.stop();
      await transport.close();
      run.folder.release();
      // After Ctrl-C, other errors are consequences and need no report.
      throw options.signal.aborted ? options.signal.reason : error;
    }
  }

  /** Runs one task and scores it. Several may run at the same time. */
  async ask(task: Task, bounds: TaskBounds = {}): Promise<TaskEnd> {
    const network = this.#network;
    if (network === undefined) throw new Error('the run is not connected');
    await this.#faults?.taskBegins();
    this.#firstTaskMs ??= performance.now();
    const { timeoutMs = this.#options.timeoutMs, taskTokens, signal } = bounds;
    this.#tasks.add(task);
    const question = task.question.slice(0, QUESTION_CHARACTERS).toWellFormed();
    this.#emit({ event: 'task_began', task_id: task.taskId, question });
    const ended = await network.runTask(
      {
        taskId: task.taskId,
        payload: buildDocumentPayload(task),
        timeoutMs,
        taskTokens,
      },
      signal === undefined ? this.#options.signal : AbortSignal.any([signal, this.#options.signal]),
    );
    const { outcome, harmed } = this.#faults?.explained(ended) ?? { outcome: ended, harmed: 0 };
    const usage = this.#usage?.ended(task.taskId);
    const end = {
      ...outcome,
      scores: this.#options.score(task, outcome.answer),
      models: usage?.total,
      usage: usage?.entries ?? [],
    };
    this.#tally.add(end);
    this.#faults?.taskEnded(end, harmed);
    this.#emitEnd(end);
    return {
      ...end,
      warnings: this.#warnings.ended(task.taskId),
      tokenLedger: await this.#exchanges?.ended(task.taskId),
    };
  }

  /** Counts a task that the cache answered: it is among the tasks, but moved no bytes. */
  answered(end: TaskEnd): void {
    this.#tally.add(end);
    this.#emitEnd(end, true);
  }

  /** Closes the ledger, ends the agents and writes the results. Call it once. */
  async close(isBatch: boolean): Promise<RunMetrics> {
    const network = this.#network;
    if (network === undefined) throw new Error('the run is not connected');
    const nowMs = performance.now();
    const wallMs = nowMs - (this.#firstTaskMs ?? nowMs);
    await this.#faults?.end();
    await network.settle();
    await this.#record.close();
    this.#warnings.read();
    for (const { node, alive, fault } of network.links)
      if (!alive)
        this.#warnings.all.add(
          {
            lost: 'member',
            where: `${node.id} (${node.tool})`,
            why: this.#deaths.get(node.id) ?? fault?.message ?? 'its connection ended',
          },
          null,
        );
    const build = (ledger: RunLedger, tokenLedger: TokenLedgerFigures | undefined) =>
      buildRunMetrics(this.#tally, this.#options, {
        runId: this.runId,
        network,
        ledger,
        models: this.#usage?.total,
        tokenLedger,
        faults: this.#faults?.metrics(this.#options.team.agents),
        acknowledged: this.#acknowledged,
        warnings: this.#warnings.all.entries,
        wallMs,
        isBatch,
      });
    const write = (metrics: Omit<RunMetrics, keyof typeof NOT_RECORDED>, recorded: typeof NOT_RECORDED) => {
      const whole: RunMetrics = { ...metrics, ...recorded };
      const text = `${JSON.stringify(whole, null, 2)}\n`;
      writeWhole(this.folder.metricsFile, text);
      return { whole, text };
    };
    // Whatever packets do to the work that describes them, the run's figures are on disk before it begins.
    write(build(this.#buildLedger(network), undefined), NOT_RECORDED);
    const links = [...network.formerLinks, ...network.links];
    const isTimeUp = this.#limitDescription();
    const isHalfUp = () => isTimeUp(0.5);
    const silent = new Set(links.filter(({ ledgerReport }) => ledgerReport === undefined));
    const decoded = await this.#record.linesOf(silent, isHalfUp);
    const metrics = build(this.#buildLedger(network, decoded), await this.#exchanges?.total(isHalfUp));
    network.close();
    await this.#transport.close();
    await this.#agents.stop();
    const { balanced } = metrics.ledger;
    let recorded = NOT_RECORDED;
    try {
      for (const report of [...this.#losses.values()]) report();
      this.#emit({ event: 'run_ended', status: metrics.status, balanced });
      this.#log.close();
      recorded = await writeRecording(this.folder.workspaces, this.#options, {
        runId: this.runId,
        record: this.#record,
        tasks: this.#tasks,
        links,
        decoded,
        isTimeUp: () => isTimeUp(),
      });
      const { whole, text } = write(metrics, recorded);
      this.#tasks.close();
      await archiveRun(this.folder, this.#options, {
        runId: this.runId,
        startedAt: this.#startedAt,
        revision: await this.#revision,
        faults: this.#faults?.manifest,
        metrics: text,
      });
      return whole;
    } catch (error) {
      const fault =
        error instanceof MeshError && error.code === 'io' ? error.message : explainSystemFault(error);
      if (fault === undefined) throw error;
      this.#unsaved = new MeshError('io', `the run has its figures, but no whole archive: ${fault}`, {
        cause: error,
      });
      return { ...metrics, ...recorded };
    } finally {
      this.folder.release();
    }
  }

  /** The fault, such as a full disk, for which a run that was closed has its figures and no archive. */
  get unsaved(): MeshError | undefined {
    return this.#unsaved;
  }

  /**
   * Limits the work that describes a run after its end. A run whose tasks all ended by themselves may take its
   * time; after a deadline or Ctrl-C, a person waits. Ledger and tokens get a share, so that they leave time for
   * the recording.
   */
  #limitDescription(): (share?: number) => boolean {
    const begunMs = performance.now();
    const { signal } = this.#options;
    const limitMs = this.#tally.status === 'timeout' ? DESCRIPTION_AFTER_TIMEOUT_MS : DESCRIPTION_MS;
    return (share = 1) =>
      performance.now() - begunMs > share * (signal.aborted ? DESCRIPTION_AFTER_INTERRUPT_MS : limitMs);
  }

  #buildLedger(network: MeshNetwork, decoded?: ReadonlyMap<Link, LinesByType>): RunLedger {
    return buildRunLedger(network, {
      decoded,
      acknowledged: this.#acknowledged,
      faults: this.#faults?.delivery.counters,
      connection: this.#transport.carried(),
    });
  }

  async #connect(nodes: readonly MeshNode[]): Promise<void> {
    this.#options.signal.throwIfAborted();
    this.#network = await MeshNetwork.connect({
      runId: this.runId,
      dialler: this.#transport.dialler,
      adapter: this.#options.adapter,
      secret: this.#secret,
      nodes,
      final: this.#options.team.final,
      router: createRouter(this.#options.team.routing),
      observer: this.#createObserver(),
      maxFrameBytes: this.#options.team.limits.max_frame_bytes,
      delivery: this.#acknowledged ?? this.#faults?.delivery ?? new DirectDelivery(),
      isReturning: (id) => this.#isReturning(id),
    });
  }

  #createObserver(): MeshObserver {
    const lines = new PacketLines((bytes) => this.#log.append(bytes));
    const refusals = new Sampled();
    return {
      // Relayed packets are too many for single events.
      relayed: (batch) => {
        if (this.#log.isOpen) lines.add(batch);
        this.#record.relayed(batch);
        this.#options.observer.relayed?.(batch);
      },
      broadcast: (packet, times, bytes, recipients) => {
        this.#record.broadcast(packet, times, bytes, recipients);
        const { payload: _payload, ...envelope } = packet;
        this.#emit({
          event: 'broadcast',
          ...envelope,
          bytes,
          recipients,
          began_us: Math.round(times.beganUs),
          encode_us: Math.round(times.encodeUs),
          forwarded_us: Math.round(times.forwardedUs),
        });
      },
      refused: (from, reason, bytes) => {
        const leftOut = refusals.next();
        if (leftOut === undefined) return;
        this.#emit({ event: 'refused', from, reason, bytes, left_out: leftOut || undefined });
      },
      agentLost: (node, reason) => this.#lost(node, reason),
    };
  }

  /** Writes an event into the hub's log and passes it on. */
  #emit(event: NewRunEvent): void {
    const time = readEpochMs();
    if (WARNINGS.has(event.event)) this.#log.warn(event, time);
    else this.#log.info(event, time);
    this.#options.observer.event?.({ ...event, time });
  }

  #emitEnd(end: Omit<TaskEnd, 'warnings' | 'tokenLedger'>, cached?: true): void {
    const { taskId: task_id, status, answer, reason, counts, scores, models } = end;
    const ended = { event: 'task_ended', task_id, status, answer, reason } as const;
    const elapsed_ms = toMicroseconds(end.elapsedMs);
    this.#emit({ ...ended, elapsed_ms, ...counts, ...scores, cost_usd: models?.cost_usd, cached });
  }

  #isReturning(id: string): boolean {
    return this.#faults?.isReturning(id) === true;
  }

  #lost({ id, tool }: MeshNode, reason: string): void {
    this.#faults?.agentLost(id, tool);
    // If the process ended, the launcher knows more and reports it.
    if (this.#deaths.has(id)) return;
    const report = () => {
      clearTimeout(timer);
      if (this.#losses.get(id) !== report) return;
      this.#losses.delete(id);
      this.#emit({ event: 'agent_lost', id, tool, reason });
    };
    const timer = setTimeout(report, LAST_WORDS_MS).unref();
    this.#losses.set(id, report);
  }

  #died({ id, tool }: { id: string; tool: string }, how: string): void {
    this.#deaths.set(id, how);
    this.#losses.delete(id);
    this.#emit({ event: 'agent_died', id, tool, how });
  }
}
