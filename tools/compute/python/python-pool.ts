import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';
import PQueue from 'p-queue';
import type { Python, PythonRunContext } from './pyodide-python.ts';
import { PythonInterpreter, type PythonOutcome } from './python-interpreter.ts';

/**
 * Maximum interpreters of one agent that compute at the same time: each takes a core, and the machine has other work.
 */
const MAX_RUNNING = 2;
/** Maximum interpreters kept for a task's next call. An idle one takes 250 MB but no time. */
const MAX_KEPT = 4;
/** Time after which an idle interpreter ends: a task's next call comes within minutes, or not at all. */
const IDLE_MS = 300_000;
/** Maximum waiting calls. Real use has far fewer; more are a loop. */
const MAX_WAITING = 64;
/** Maximum tasks whose lost names are remembered, so that the next call reports the loss. */
const MAX_LOST = 1_000;

export interface PythonJob {
  readonly python: Python;
  readonly place: PythonRunContext;
  /** The driver's request, see python-driver.py. */
  readonly request: JsonObject;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** An interpreter that a task's calls share, one after the other. */
interface Session {
  readonly turns: PQueue;
  interpreter: PythonInterpreter | undefined;
  /** True when the interpreter was started with the task's files. */
  hasFiles: boolean;
  isBusy: boolean;
  idle: NodeJS.Timeout | undefined;
}

/** The interpreters of one agent. */
class PythonPool {
  readonly #running = new PQueue({ concurrency: MAX_RUNNING });
  /** Sessions by task, the most recently used last. */
  readonly #sessions = new Map<string, Session>();
  readonly #lost = new Map<string, string>();

  /**
   * Runs a cell in the interpreter of the task's earlier cells. `lost` is the reason when their names are gone.
   *
   * @throws MeshError `tool` when it did not end in time or ended the interpreter: the task's names are then gone
   */
  async cell(taskId: string, job: PythonJob): Promise<PythonOutcome & { readonly lost?: string }> {
    this.#checkRoom();
    const session = this.#sessions.get(taskId) ?? {
      turns: new PQueue({ concurrency: 1 }),
      interpreter: undefined,
      hasFiles: false,
      isBusy: false,
      idle: undefined,
    };
    // Moves the session to the end.
    this.#sessions.delete(taskId);
    this.#sessions.set(taskId, session);
    return raceRunEnd(
      job.signal,
      session.turns.add(() => this.#running.add(() => this.#turn(taskId, session, job))),
    );
  }

  /** Runs a job in an interpreter of its own. */
  async once(job: PythonJob): Promise<PythonOutcome> {
    this.#checkRoom();
    return raceRunEnd(
      job.signal,
      this.#running.add(async () => {
        const { interpreter } = await PythonInterpreter.start(
          await job.python.command(job.place),
          job.signal,
        );
        try {
          return await interpreter.run(job.request, job);
        } finally {
          await interpreter.stop();
        }
      }),
    );
  }

  /** Ends all interpreters. */
  async stop(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((taskId) => this.#close(taskId, undefined)));
  }

  async #turn(
    taskId: string,
    session: Session,
    job: PythonJob,
  ): Promise<PythonOutcome & { readonly lost?: string }> {
    clearTimeout(session.idle);
    session.isBusy = true;
    try {
      const interpreter = await this.#interpreterFor(taskId, session, job);
      const lost = this.#lost.get(taskId);
      const outcome = await interpreter.run(job.request, job);
      this.#lost.delete(taskId);
      return lost === undefined ? outcome : { ...outcome, lost };
    } finally {
      session.isBusy = false;
      if (session.interpreter?.isAlive === false) {
        session.interpreter = undefined;
        this.#lose(taskId, 'the call before this one ended the interpreter');
      }
      session.idle = setTimeout(
        () => void this.#close(taskId, 'nothing was run for some minutes'),
        IDLE_MS,
      ).unref();
    }
  }

  async #interpreterFor(taskId: string, session: Session, job: PythonJob): Promise<PythonInterpreter> {
    const hasFiles = job.place.files !== undefined;
    const known = session.interpreter;
    if (known?.isAlive === true && session.hasFiles === hasFiles) return known;
    if (known !== undefined) {
      // A sandbox cannot be given a folder that did not exist when it was made.
      this.#lose(
        taskId,
        known.isAlive ? 'the task has received files since then' : 'the interpreter has ended',
      );
      session.interpreter = undefined;
      await known.stop();
    }
    await this.#makeRoom();
    const { interpreter } = await PythonInterpreter.start(await job.python.command(job.place), job.signal);
    session.interpreter = interpreter;
    session.hasFiles = hasFiles;
    return interpreter;
  }

  async #makeRoom(): Promise<void> {
    const live = [...this.#sessions].filter(([, { interpreter }]) => interpreter !== undefined);
    const idle = live.filter(([, { isBusy }]) => !isBusy);
    for (const [taskId] of idle.slice(0, Math.max(0, live.length - MAX_KEPT + 1))) {
      await this.#close(taskId, `other tasks needed the room (${MAX_KEPT} interpreters are kept)`);
    }
  }

  async #close(taskId: string, why: string | undefined): Promise<void> {
    const session = this.#sessions.get(taskId);
    if (session === undefined) return;
    clearTimeout(session.idle);
    this.#sessions.delete(taskId);
    if (session.interpreter !== undefined && why !== undefined) this.#lose(taskId, why);
    await session.interpreter?.stop();
  }

  #lose(taskId: string, why: string): void {
    this.#lost.set(taskId, why);
    const [oldest] = this.#lost.keys();
    if (this.#lost.size > MAX_LOST && oldest !== undefined) this.#lost.delete(oldest);
  }

  #checkRoom(): void {
    const turns = [...this.#sessions.values()].reduce(
      (sum, session) => sum + session.turns.size,
      this.#running.size,
    );
    if (turns >= MAX_WAITING)
      throw new MeshError('tool', `${MAX_WAITING} runs of Python are waiting already: ask again later`);
  }
}

const pools = new Map<string, PythonPool>();

/** Returns the pool of the agent with that workspace. */
export function findPool(workspace: string): PythonPool {
  const pool = pools.get(workspace) ?? new PythonPool();
  pools.set(workspace, pool);
  return pool;
}

/** Stops waiting for a turn when the run ends; work that has begun ends by itself then. */
function raceRunEnd<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  const ended = () => new MeshError('tool', 'Python was stopped, as the run ended', { cause: signal.reason });
  return raceAbort(signal, work, ended);
}
