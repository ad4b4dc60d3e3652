import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { explainSystemFault, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { PYTHON_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';
import { awaitChildEnd } from '@gaia-mesh/core/system/process/child-end.ts';
import * as z from 'zod';

/** The command that starts a process which speaks the driver's protocol. */
export interface PythonCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Maximum output that is read; a program that prints more is in an endless loop. */
const MAX_FLOOD_BYTES = 64 * 1024 * 1024;
/** Maximum size of a reply; the driver's own limits are far lower. */
const MAX_FRAME_BYTES = 64 * 1024;
/** Time limit of loading, which takes 0.5 s to 5 s (the first time), and several times that when other processes compete. */
const START_MS = 60_000;
const STDERR_CHARACTERS = 4_096;
const MAX_STDERR_LINE = 500;
/** Begins a reply. A program could print it, too, but not the random mark that follows. */
const FRAME = '\x1e';
/** Output shown in the message of a call that was stopped. */
const SHOWN_CHARACTERS = 2_000;

const replySchema = z.object({
  status: z.enum(['ok', 'error', 'syntax_error']),
  /** The last line of the traceback, such as `ZeroDivisionError: division by zero`. */
  error: z.string().exactOptional(),
  /** The missing module that the code tried to import. */
  lacking: z.string().exactOptional(),
});

/** The outcome of a cell or a script. */
export interface PythonOutcome extends z.infer<typeof replySchema> {
  /** The output of both streams, in order; only its beginning when it was longer than the limit. */
  readonly output: string;
  /** Size of the whole output. */
  readonly outputBytes: number;
}

/**
 * A Python process that keeps its names from one call to the next; python-driver.py is the other side. Requests are
 * JSON lines on its standard input; the program's output comes unchanged on its standard output, followed by a line
 * with the reply.
 *
 * It takes one call at a time. A call that does not end in time, floods, or is aborted ends the process.
 */
export class PythonInterpreter {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #stderr = '';
  #call: Call | undefined;
  #end: string | undefined;

  private constructor(command: PythonCommand) {
    this.#child = spawn(command.program, command.args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: command.environment,
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    const finish = (how: string) => {
      this.#end ??= how;
      this.#call?.fail(this.#end + this.#lastWords());
      resolve();
    };
    void awaitChildEnd(this.#child).then(({ code, signal, error }) =>
      finish(
        error === undefined
          ? `ended by itself (${signal ?? `exit code ${code}`})`
          : `did not start: ${explainSystemFault(error) ?? error.message}`,
      ),
    );
    this.#child.stdout?.on('data', (bytes: Buffer) => this.#call?.take(bytes));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text.slice(-STDERR_CHARACTERS)).slice(-STDERR_CHARACTERS);
    });
    // A process that ended takes no request; its end reports that.
    this.#child.stdin?.on('error', () => undefined);
  }

  /**
   * Starts an interpreter and waits until it takes requests.
   *
   * @throws MeshError `tool` when it does not start
   */
  static async start(command: PythonCommand, signal: AbortSignal): Promise<PythonInterpreter> {
    const interpreter = new PythonInterpreter(command);
    await interpreter.#request({ do: 'hello' }, { timeoutMs: START_MS, signal });
    interpreter.#release();
    return interpreter;
  }

  get isAlive(): boolean {
    return this.#end === undefined;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Runs a request.
   *
   * @throws MeshError `tool` when the process ended or was stopped during the call; its names and files are then lost
   */
  async run(request: JsonObject, limits: Limits): Promise<PythonOutcome> {
    this.#hold();
    try {
      return await this.#request(request, limits);
    } finally {
      this.#release();
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Kills the process and waits for its end. */
  async stop(): Promise<void> {
    this.#hold();
    this.kill();
    await this.#ended;
  }

  async #request(request: JsonObject, { timeoutMs, signal }: Limits): Promise<PythonOutcome> {
    const stop = (why: string) => {
      this.#end ??= why;
      this.kill();
      call.fail(why);
    };
    const call = new Call(() => stop(`printed more than ${MAX_FLOOD_BYTES / 1024 ** 2} MB and was stopped`));
    const timer = setTimeout(
      () => stop(`was stopped after ${timeoutMs / 1000} s: compute less, or allow more time (timeout_s)`),
      timeoutMs,
    );
    const unwatch = onAbort(signal, () => stop('was stopped, as the run ended'));
    this.#call = call;
    try {
      if (this.#end !== undefined) throw new MeshError('tool', `Python ${this.#end}`);
      if (!signal.aborted)
        this.#child.stdin?.write(
          `${JSON.stringify({ ...request, mark: call.mark, timeout_ms: timeoutMs })}\n`,
        );
      return await call.reply;
    } finally {
      clearTimeout(timer);
      unwatch();
      this.#call = undefined;
    }
  }

  /** Lets the agent's process end between calls; its end also ends the interpreter. */
  #release(): void {
    for (const handle of this.#handles()) handle.unref();
  }

  #hold(): void {
    for (const handle of this.#handles()) handle.ref();
  }

  #handles(): { ref(): unknown; unref(): unknown }[] {
    const { stdin, stdout, stderr } = this.#child;
    return [this.#child, ...[stdin, stdout, stderr].filter((stream) => stream instanceof Socket)];
  }

  #lastWords(): string {
    // Skips long lines: Node shows the line of code that an error came from, and Pyodide is one line.
    const lines = this.#stderr.split('\n').filter((line) => line.length <= MAX_STDERR_LINE);
    const text = lines.join('\n').trim();
    return text === '' ? '' : `: ${text.slice(-SHOWN_CHARACTERS)}`;
  }
}

/** One request in progress: it collects output until the reply comes. */
class Call {
  readonly mark = randomBytes(16).toString('hex');
  readonly reply: Promise<PythonOutcome>;
  readonly #start = Buffer.from(`${FRAME}${this.mark} `);
  readonly #onFlood: () => void;
  readonly #resolve: (reply: PythonOutcome) => void;
  readonly #reject: (error: Error) => void;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #outputBytes = 0;
  /** Bytes that may be the beginning of the reply. */
  #rest: Buffer = Buffer.alloc(0);
  #isReply = false;

  constructor(onFlood: () => void) {
    this.#onFlood = onFlood;
    const { promise, resolve, reject } = Promise.withResolvers<PythonOutcome>();
    this.reply = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    // The caller handles a failure; one that comes before the caller awaits the reply must not count as unhandled.
    promise.catch(() => undefined);
  }

  take(bytes: Buffer): void {
    const all = Buffer.concat([this.#rest, bytes]);
    if (this.#isReply) {
      this.#takeReply(all);
      return;
    }
    const at = all.indexOf(this.#start);
    const printed = at < 0 ? Math.max(0, all.length - this.#start.length + 1) : at;
    this.#keep(all.subarray(0, printed));
    if (at < 0) {
      this.#rest = all.subarray(printed);
    } else {
      this.#isReply = true;
      this.#takeReply(all.subarray(at + this.#start.length));
    }
  }

  fail(why: string): void {
    const rest = this.#isReply ? [] : [this.#rest.subarray(0, PYTHON_LIMITS.outputBytes - this.#keptBytes)];
    this.#kept.push(...rest);
    const printed = this.#output();
    const tail = printed.length > SHOWN_CHARACTERS ? `… ${printed.slice(-SHOWN_CHARACTERS)}` : printed;
    this.#reject(
      new MeshError('tool', `Python ${why}${tail.trim() === '' ? '' : `. It had printed:\n${tail}`}`),
    );
  }

  #keep(bytes: Buffer): void {
    this.#outputBytes += bytes.length;
    const kept = bytes.subarray(0, PYTHON_LIMITS.outputBytes - this.#keptBytes);
    // A copy, since a view would keep the whole chunk in memory.
    if (kept.length > 0) this.#kept.push(Buffer.from(kept));
    this.#keptBytes += kept.length;
    if (this.#outputBytes > MAX_FLOOD_BYTES) this.#onFlood();
  }

  #takeReply(bytes: Buffer): void {
    const end = bytes.indexOf('\n');
    this.#rest = bytes;
    if (end < 0 && bytes.length <= MAX_FRAME_BYTES) return;
    const parsed = replySchema.safeParse(tryParseJson(bytes.toString('utf8', 0, Math.max(0, end))));
    if (parsed.success)
      this.#resolve({ ...parsed.data, output: this.#output(), outputBytes: this.#outputBytes });
    else this.fail('said something else than a result: its code has written over the driver');
  }

  #output(): string {
    return Buffer.concat(this.#kept).toString('utf8').toWellFormed();
  }
}
