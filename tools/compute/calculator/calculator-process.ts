import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';
import PQueue from 'p-queue';
import * as z from 'zod';
import { buildChildCommand } from '../child-node.ts';
import type { Evaluated } from './evaluate-expression.ts';
import { LIBRARY } from './evaluators.ts';

/**
 * Time limit of a calculation, which takes milliseconds, or ten times that on a busy machine; a longer one is a mistake
 * or a bomb.
 */
const CALCULATION_MS = 5_000;
/** Time limit of loading the library, which takes 0.2 s; a busy machine may need more than ten times that. */
const START_MS = 20_000;
/** Additional time for the child to end its calculation itself; after it the parent kills the child. */
const GRACE_MS = 1_000;
/** Maximum heap for JavaScript objects. A calculation takes less than one megabyte; the library takes 20. */
const HEAP_MEGABYTES = 128;
/** Time without work after which the process, which holds 80 MB, ends. */
const IDLE_MS = 60_000;
/** Maximum queued questions. Real use has far fewer; more are a loop. */
const MAX_WAITING = 256;

const replySchema = z.union([
  z.strictObject({
    result: z.strictObject({
      text: z.string(),
      value: z.union([z.number(), z.string()]),
      unit: z.string().exactOptional(),
    }),
  }),
  z.strictObject({ fault: z.string() }),
  z.strictObject({ late: z.literal(true) }),
]);
type Reply = z.infer<typeof replySchema>;

/**
 * A warm process that evaluates one expression after the other: it starts with the first one, again after it was
 * killed, and ends when it is idle. It is a process, since some expressions use up the memory of the process that
 * evaluates them (`1:1e8` even that of a thread's parent).
 */
export class CalculatorProcess {
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #idleMs: number;
  readonly #heapMegabytes: number;
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: { readonly idleMs?: number; readonly heapMegabytes?: number } = {}) {
    this.#idleMs = options.idleMs ?? IDLE_MS;
    this.#heapMegabytes = options.heapMegabytes ?? HEAP_MEGABYTES;
  }

  /** Process id of the running child. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Evaluates an expression.
   *
   * @throws MeshError `tool` with the expression's fault, or when it took too long or too much memory
   */
  async evaluate(expression: string, signal: AbortSignal): Promise<Evaluated> {
    if (this.#queue.size >= MAX_WAITING) {
      throw new MeshError('tool', `${MAX_WAITING} calculations are waiting already: ask again later`);
    }
    if (signal.aborted) throw createEndedError(signal.reason);
    const reply = await this.#queue.add(() => this.#ask(expression, signal));
    if ('result' in reply) return reply.result;
    if ('fault' in reply) throw new MeshError('tool', reply.fault);
    throw new MeshError(
      'tool',
      `it was stopped after ${CALCULATION_MS / 1000} s: calculate something smaller`,
    );
  }

  /** Ends the process, if there is one; the next calculation starts another. */
  stop(): void {
    clearTimeout(this.#idle);
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  async #ask(expression: string, signal: AbortSignal): Promise<Reply> {
    if (signal.aborted) throw createEndedError(signal.reason);
    clearTimeout(this.#idle);
    const isNew = this.#child === undefined;
    const child = this.#child ?? this.#start();
    // A pending question keeps this process alive; an idle child does not.
    child.ref();
    child.channel?.ref();
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const onMessage = (message: unknown) => resolve(replySchema.parse(message));
    const onEnd = (code: number | null, killedBy: NodeJS.Signals | null) =>
      reject(createExitError(code, killedBy, this.#heapMegabytes));
    const onError = (cause: Error) =>
      reject(new MeshError('tool', `the calculator’s process did not start: ${cause.message}`, { cause }));
    child.once('message', onMessage).once('exit', onEnd).once('error', onError);
    const unwatch = onAbort(signal, () => reject(createEndedError(signal.reason)));
    const limitMs = CALCULATION_MS + GRACE_MS + (isNew ? START_MS : 0);
    let isAtRest = false;
    let isStuck = false;
    const timer = setTimeout(() => {
      isStuck = true;
      resolve({ late: true });
    }, limitMs);
    // The callback ignores a failure to send: the child's events report the reason.
    child.send({ expression, timeoutMs: CALCULATION_MS }, () => undefined);
    try {
      const reply = await promise;
      isAtRest = !isStuck;
      return reply;
    } finally {
      clearTimeout(timer);
      unwatch();
      child.off('message', onMessage).off('exit', onEnd).off('error', onError);
      if (isAtRest) this.#rest(child);
      else this.stop();
    }
  }

  #rest(child: ChildProcess): void {
    child.unref();
    child.channel?.unref();
    this.#idle = setTimeout(() => this.stop(), this.#idleMs).unref();
  }

  #start(): ChildProcess {
    const libraryFile = createRequire(import.meta.url).resolve(LIBRARY);
    const { program, args, environment } = buildChildCommand(
      new URL('./calculator-child.ts', import.meta.url),
      {
        readable: [path.dirname(libraryFile) + path.sep],
        heapMegabytes: this.#heapMegabytes,
        args: [libraryFile],
      },
    );
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: environment });
    child.on('error', () => undefined);
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    this.#child = child;
    return child;
  }
}

/** Signals of a process that ran out of memory: Node aborts itself, and some systems kill it before. */
const OUT_OF_MEMORY_SIGNALS: readonly string[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGKILL'];

function createExitError(
  code: number | null,
  signal: NodeJS.Signals | null,
  heapMegabytes: number,
): MeshError {
  return OUT_OF_MEMORY_SIGNALS.includes(signal ?? '')
    ? new MeshError(
        'tool',
        `it took more than ${heapMegabytes} MB of memory and was stopped: calculate something smaller`,
      )
    : new MeshError(
        'tool',
        `the calculator’s process ended (${signal ?? `exit code ${code}`}): check that the package mathjs is complete`,
      );
}

function createEndedError(cause: unknown): MeshError {
  return new MeshError('tool', 'the run ended before the calculation was finished', { cause });
}
