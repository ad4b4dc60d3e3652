import { toErrorMessage } from '../contracts/errors.ts';
import { RESTART_LIMITS } from '../contracts/limits.ts';
import { type DeliveryEvent, FaultyDelivery } from '../hub/delivery/faulty.ts';
import type { FaultCounters } from '../hub/faults/fault-counters.ts';
import type { Fault } from '../hub/faults/parse-faults.ts';
import type { MeshNetwork } from '../hub/mesh-network.ts';
import type { TaskOutcome, TaskStatus } from '../hub/tasks/task-clock.ts';
import { raceAbort } from '../system/process/abort.ts';
import type { AgentGroup } from './agents/agent-group.ts';
import type { RunMetrics, Scores } from './metrics/metrics-schema.ts';
import type { NewRunEvent } from './run-event.ts';

/** `faults` of `metrics.json`: present if faults or restarts were requested. Its parts are counted here. */
type FaultMetrics = NonNullable<RunMetrics['faults']>;
type Counted<Part> = { -readonly [Key in keyof Part]: Part[Key] };
type Recovery = Counted<FaultMetrics['recoveries'][number]>;
type Answers = Counted<FaultMetrics['answers']>;
type KillRecord = Counted<FaultMetrics['timed'][number]>;

/** The parts of a run that faults and restarts need. */
interface FaultyRun {
  readonly agents: Pick<AgentGroup, 'restart' | 'kill'>;
  /** Returns the network once it is connected. */
  readonly network: () => Pick<MeshNetwork, 'readmit' | 'giveUp'> | undefined;
  readonly emit: (event: NewRunEvent) => void;
  readonly signal: AbortSignal;
}

/** Restarts lost agents, each at most {@link RESTART_LIMITS.restarts} times and with a growing delay. */
class AgentRecovery {
  readonly recoveries: Recovery[] = [];
  readonly #run: FaultyRun;
  readonly #nowMs: () => number;
  readonly #attempts = new Map<string, number>();
  readonly #returning = new Map<string, Promise<void>>();
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;

  /** `nowMs` returns the milliseconds since the start of the first task. */
  constructor(run: FaultyRun, nowMs: () => number) {
    this.#run = run;
    this.#nowMs = nowMs;
    this.#signal = AbortSignal.any([run.signal, this.#ending.signal]);
  }

  /** Handles the loss of an agent. Further reports of the same loss change nothing. */
  lost(id: string, tool: string): void {
    if (this.#signal.aborted || this.#returning.has(id) || this.#isGivenUp(id)) return;
    const lostAtMs = Math.round(this.#nowMs());
    const recovery = { agent: id, tool, lost_at_ms: lostAtMs, back_at_ms: null, took_ms: null, attempts: 0 };
    this.recoveries.push(recovery);
    this.#returning.set(id, this.#bringBack(recovery));
  }

  isReturning(id: string): boolean {
    return this.#returning.has(id);
  }

  /** Settles when no agent is being restarted. */
  async settled(): Promise<void> {
    while (this.#returning.size > 0) await Promise.all(this.#returning.values());
  }

  /** Stops restarting agents. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.settled();
  }

  #isGivenUp(id: string): boolean {
    return (this.#attempts.get(id) ?? 0) >= RESTART_LIMITS.restarts;
  }

  async #bringBack(recovery: Recovery): Promise<void> {
    const { agent: id, tool } = recovery;
    let isBack = false;
    while (!isBack && !this.#signal.aborted && !this.#isGivenUp(id)) {
      const attempt = (this.#attempts.get(id) ?? 0) + 1;
      this.#attempts.set(id, attempt);
      recovery.attempts += 1;
      isBack = await this.#tryOnce(recovery, attempt);
    }
    this.#returning.delete(id);
    if (isBack) {
      recovery.back_at_ms = Math.round(this.#nowMs());
      recovery.took_ms = recovery.back_at_ms - recovery.lost_at_ms;
      this.#report(`agent ${id} (${tool}) is back after ${(recovery.took_ms / 1000).toFixed(2)} s`);
      if (this.#isGivenUp(id))
        this.#report(`agent ${id} (${tool}): if it is lost again, it will not be restarted`);
    } else if (!this.#signal.aborted) {
      this.#report(
        `agent ${id} (${tool}) is not restarted again: the maximum is ${RESTART_LIMITS.restarts} restarts`,
      );
      this.#run.network()?.giveUp(id);
    }
  }

  async #tryOnce({ agent: id, tool }: Recovery, attempt: number): Promise<boolean> {
    const { agents, network } = this.#run;
    try {
      await this.#pause(RESTART_LIMITS.backoffMs * 2 ** (attempt - 1));
      // The end of the run need not wait for the restart: the process is ended with the others.
      const node = await raceAbort(this.#signal, agents.restart(id));
      await network()?.readmit(node, this.#signal);
      return true;
    } catch (error) {
      if (!this.#signal.aborted) {
        this.#report(
          `agent ${id} (${tool}): restart ${attempt} of ${RESTART_LIMITS.restarts} failed: ${toErrorMessage(error)}`,
        );
      }
      return false;
    }
  }

  /** Reports to people what happened. */
  #report(news: string): void {
    this.#run.emit({ event: 'restart', news });
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    try {
      await raceAbort(this.#signal, promise);
    } finally {
      clearTimeout(timer);
    }
  }
}

type PlannedKill = Extract<Fault, { kind: 'kill' }> & { readonly record: KillRecord };

/** Faults and restarts that a run is asked for. */
export interface FaultRequest {
  /** The user's text; null if only restarts were requested. */
  readonly spec: string | null;
  readonly seed: number | null;
  readonly faults: readonly Fault[];
  /** True to restart agents that die. */
  readonly restarts: boolean;
}

/**
 * The faults of one run: it injects them at their times, has agents restarted, and reports the consequences
 * at the end.
 */
export class RunFaults {
  /** Delivery strategy of the run. */
  readonly delivery: FaultyDelivery;
  readonly #request: FaultRequest;
  readonly #run: FaultyRun;
  readonly #kills: readonly PlannedKill[];
  #timers: NodeJS.Timeout[] = [];
  readonly #recovery: AgentRecovery | undefined;
  readonly #answers: Answers = { tasks: 0, answered: 0, right: null };
  readonly #harmed: Answers = { tasks: 0, answered: 0, right: null };
  #startMs: number | undefined;

  constructor(request: FaultRequest, run: FaultyRun) {
    this.#request = request;
    this.#run = run;
    this.delivery = new FaultyDelivery({
      seed: request.seed ?? 0,
      faults: request.faults,
      onEvent: (event) => run.emit(toFaultEvent(event)),
    });
    this.#kills = request.faults.flatMap((fault) =>
      fault.kind === 'kill' ? { ...fault, record: { fault: fault.text, kind: 'kill', at_ms: null } } : [],
    );
    if (request.restarts) this.#recovery = new AgentRecovery(run, () => this.#sinceStart());
  }

  /** Returns true if a lost agent is being restarted. */
  isReturning(id: string): boolean {
    return this.#recovery?.isReturning(id) ?? false;
  }

  /** Facts for the manifest. */
  get manifest(): Pick<FaultMetrics, 'spec' | 'seed' | 'restart'> {
    const { spec, seed, restarts } = this.#request;
    return { spec, seed, restart: restarts ? 'on-failure' : 'never' };
  }

  /**
   * Waits until no agent is being restarted; call it before each task, since a returning agent would miss the
   * document.
   */
  async taskBegins(): Promise<void> {
    await this.#recovery?.settled();
    if (this.#startMs !== undefined) return;
    this.#startMs = performance.now();
    this.#timers = this.#kills.map((kill) => setTimeout(() => this.#kill(kill), kill.atMs));
  }

  agentLost(id: string, tool: string): void {
    this.#recovery?.lost(id, tool);
  }

  /** Adds the effect of faults to the reason of a task without an answer. */
  explained(outcome: TaskOutcome): { outcome: TaskOutcome; harmed: number } {
    const harmed = this.delivery.counters.takeHarmedOf(outcome.taskId);
    if (harmed === 0 || outcome.status === 'answered') return { outcome, harmed };
    const reason = `${outcome.reason ?? outcome.status}; deliveries of it that were lost, corrupted or false: ${harmed}`;
    return { outcome: { ...outcome, reason }, harmed };
  }

  taskEnded(
    { status, scores }: { readonly status: TaskStatus; readonly scores: Scores },
    harmed: number,
  ): void {
    addAnswer(this.#answers, status, scores);
    if (harmed > 0) addAnswer(this.#harmed, status, scores);
  }

  /** Ends all faults. Close the ledger right after it. */
  async end(): Promise<void> {
    await this.#recovery?.end();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  metrics(agents: readonly { readonly id: string; readonly tool: string }[]): FaultMetrics {
    const records = this.#kills.map(({ record }) => record);
    return {
      ...this.manifest,
      injected: countInjected(this.delivery.counters, records),
      deliveries: this.delivery.counters.total,
      timed: records,
      lost: listLosses(this.delivery.counters, agents),
      recoveries: this.#recovery?.recoveries ?? [],
      answers: this.#answers,
      harmed: this.#harmed,
    };
  }

  #kill({ agent, text, record }: PlannedKill): void {
    record.at_ms = Math.round(this.#sinceStart());
    this.#run.emit({ event: 'fault_began', kind: 'kill', fault: text });
    this.#run.agents.kill(agent);
  }

  #sinceStart(): number {
    return performance.now() - (this.#startMs ?? performance.now());
  }
}

/** Builds the event of a fault on one delivery. */
function toFaultEvent({ kind, from, to, number, bytes, packet, delayMs }: DeliveryEvent): NewRunEvent {
  const { id, type, task_id } = packet;
  const event = kind === 'undeliverable' ? 'undeliverable' : 'fault';
  return { event, kind, from, to, number, id, type, task_id, bytes, delay_ms: delayMs };
}

function addAnswer(answers: Answers, status: TaskStatus, { normalized_em = null }: Scores): void {
  answers.tasks += 1;
  if (status === 'answered') answers.answered += 1;
  if (normalized_em !== null) answers.right = (answers.right ?? 0) + normalized_em;
}

/** Counts the injected faults; duplicates are counted when they are written. */
function countInjected({ total }: FaultCounters, kills: readonly KillRecord[]): FaultMetrics['injected'] {
  return {
    drop: total.dropped.packets,
    delay: total.delayed.packets,
    dup: total.duplicated.packets,
    corrupt: total.corrupted.packets,
    lie: total.lied.packets,
    kill: kills.filter(({ at_ms }) => at_ms !== null).length,
  };
}

/** Lists the packets that agents lost; agents that lost nothing are left out. */
function listLosses(
  counters: FaultCounters,
  agents: readonly { readonly id: string; readonly tool: string }[],
): FaultMetrics['lost'] {
  return agents.flatMap(({ id, tool }) => {
    const { dropped, undeliverable } = counters.of(id);
    const lost = {
      dropped: dropped.packets,
      undeliverable: undeliverable.packets,
    };
    return Object.values(lost).some((packets) => packets > 0) ? [{ id, tool, ...lost }] : [];
  });
}
