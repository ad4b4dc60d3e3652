import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { AppendLog } from '@gaia-mesh/core/system/append-log.ts';
import { type Attempt, attemptSchema } from '../attempts/attempt.ts';
import { type MeshContext, MeshTeam } from '../batch/teams/mesh-team.ts';
import { type Answer, type AskRequest, toAnswer } from './ask.ts';
import type { ServePlan } from './serve-plan.ts';
import { Turns } from './turns.ts';

/** Receives the progress of a task: the last packet in words, and the number of packets so far. */
type OnProgress = (words: string, packets: number) => void;

type ServedPlan = Pick<ServePlan, 'planned' | 'mesh' | 'limits' | 'document'>;

/** Minimum milliseconds between two progress reports; a task of a thousand packets would otherwise cause a thousand. */
const PROGRESS_INTERVAL_MS = 50;

/** A team that stays up. Each request is a task of its own on the same live agents. */
export class ServedTeam {
  readonly #plan: ServedPlan;
  readonly #signal: AbortSignal;
  readonly #mesh: MeshTeam;
  readonly #attempts: AppendLog<Attempt>;
  readonly #watching: Watching;
  readonly #turns: Turns;
  #count = 0;

  private constructor(plan: ServedPlan, mesh: MeshTeam, watching: Watching, signal: AbortSignal) {
    this.#plan = plan;
    this.#signal = signal;
    this.#mesh = mesh;
    const { resultsFile } = mesh.folder;
    this.#attempts = AppendLog.create<Attempt>(resultsFile, {
      what: 'file of results',
      schema: attemptSchema,
    });
    this.#watching = watching;
    this.#turns = new Turns(plan.limits);
  }

  /**
   * Starts the team's agents. Nothing is left running if it throws.
   *
   * @throws MeshError `locked`, `io`, `agent`, `usage`
   */
  static async start(plan: ServedPlan, { observer, signal }: MeshContext): Promise<ServedTeam> {
    const watching: Watching = new Map();
    const mesh = await MeshTeam.start(plan.planned, plan.mesh, {
      observer: {
        ...observer,
        relayed(batch) {
          observer.relayed?.(batch);
          for (const { head } of batch.packets)
            watching.get(head.task_id)?.(`agent ${head.from} sent ${head.type}`);
        },
      },
      signal,
    });
    try {
      return new ServedTeam(plan, mesh, watching, signal);
    } catch (error) {
      await mesh.close();
      throw error;
    }
  }

  get name(): string {
    return this.#plan.planned.team.name;
  }

  /**
   * Waits for the request's turn and returns the team's answer.
   *
   * @throws MeshError `limit` for a request that is too large or one too many, `interrupted` for one that was cancelled while it
   * waited
   */
  async ask(request: AskRequest, signal: AbortSignal, onProgress: OnProgress): Promise<Answer> {
    const document = request.document ?? this.#plan.document;
    const { bytes: most } = this.#plan.limits;
    const bytes = Buffer.byteLength(request.question) + Buffer.byteLength(request.document ?? '');
    if (bytes > most)
      throw new MeshError('limit', `question and document: expected at most ${most} bytes, came ${bytes}`);
    const endTurn = await this.#turns.take(AbortSignal.any([signal, this.#signal]));
    this.#count += 1;
    const taskId = `ask-${this.#count}`;
    this.#watch(taskId, onProgress);
    try {
      const question = { question: request.question.toWellFormed(), category: 'text', truths: [], taskId };
      const asked = document === undefined ? question : { ...question, document };
      const attempt = await this.#mesh.ask(asked, 1, signal);
      this.#attempts.append(attempt);
      return toAnswer(attempt);
    } finally {
      this.#watching.delete(taskId);
      endTurn();
    }
  }

  /** Resolves when no task is running any more, as after the run's signal. */
  settled(): Promise<void> {
    return this.#turns.settled();
  }

  /** Path of the archive, which exists once the team has ended. */
  get archiveFile(): string {
    return this.#mesh.folder.archiveFile;
  }

  /** The fault for which the results of all tasks are not whole, once the team has ended. */
  get unsaved(): MeshError | undefined {
    return this.#mesh.unsaved;
  }

  /** Stops the agents and writes the results of all tasks. */
  close(): Promise<RunMetrics> {
    this.#attempts.close();
    return this.#mesh.close();
  }

  #watch(taskId: string, onProgress: OnProgress): void {
    let packets = 0;
    let toldMs = Number.NEGATIVE_INFINITY;
    this.#watching.set(taskId, (sent) => {
      packets += 1;
      const nowMs = performance.now();
      if (nowMs - toldMs < PROGRESS_INTERVAL_MS) return;
      toldMs = nowMs;
      onProgress(`${sent} (packet ${packets})`, packets);
    });
  }
}

/** Listeners for a task's packets, by its id. */
type Watching = Map<string, (sent: string) => void>;
