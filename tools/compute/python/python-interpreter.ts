import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';
import * as z from 'zod';

/** How a process that speaks the driver's protocol is started. */
export interface PythonCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Of what is printed; a model cannot take in more. */
export const MAX_OUTPUT_BYTES = 100_000;
/** Who prints more than this is in an endless loop, and only costs time to listen to. */
const MAX_FLOOD_BYTES = 64 * 1024 * 1024;
/** Of a reply. The driver cuts what it says far below. */
const MAX_FRAME_BYTES = 64 * 1024;
/** Loading takes 0.05 s (system) to 5 s (Pyodide, the first time), and several times that where other processes compete. */
const START_MS = 60_000;
const STDERR_CHARACTERS = 4_096;
const MAX_STDERR_LINE = 500;
/** Begins a reply. It could be printed, too, but not with the mark that follows, which nobody knows before. */
const FRAME = '\x1e';
/** Of what was printed, in the message of a call that was stopped. */
const SHOWN_CHARACTERS = 2_000;

const replySchema = z.object({
  status: z.enum(['ok', 'error', 'syntax_error']),
  /** Last line of the traceback, as `ZeroDivisionError: division by zero`. */
  error: z.string().exactOptional(),
  /** The module that it asked for and that is not there. */
  lacking: z.string().exactOptional(),
  version: z.string().optional(),
});
type Reply = z.infer<typeof replySchema> & Printed;

interface Printed {
  /** What was printed, to both streams, in its order; where it was longer, its beginning. */
  readonly output: string;
  /** Of what was printed in all. */
  readonly outputBytes: number;
}

/** What became of a cell or a script. */
export type PythonOutcome = Omit<Reply, 'version'>;

/**
 * A Python process that keeps its names from one call to the next; see python-driver.py for the other side. Requests are JSON lines on
 * its standard input; what it prints comes as it is on its standard output, and after it a line with the reply.
 *
 * One call at a time. A call that does not end in time, floods, or is aborted ends the process.
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
    this.#child.on('error', (error) => finish(`did not start: ${error.message}`));
    this.#child.on('close', (code, signal) => finish(`ended by itself (${signal ?? `exit code ${code}`})`));
    this.#child.stdout?.on('data', (bytes: Buffer) => this.#call?.take(bytes));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text.slice(-STDERR_CHARACTERS)).slice(-STDERR_CHARACTERS);
    });
    // A process that is gone takes no request: `close` tells of it.
    this.#child.stdin?.on('error', () => undefined);
  }

  /**
   * Starts one and waits until it takes requests.
   *
   * @throws MeshError `tool` where it does not start
   */
  static async start(
    command: PythonCommand,
    signal: AbortSignal,
  ): Promise<{ interpreter: PythonInterpreter; version: string }> {
    const interpreter = new PythonInterpreter(command);
    const { version } = await interpreter.#request({ do: 'hello' }, { timeoutMs: START_MS, signal });
    interpreter.#release();
    return { interpreter, version: version ?? '' };
  }

  get isAlive(): boolean {
    return this.#end === undefined;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** @throws MeshError `tool` where the process ended or was ended in the middle: names and files of its own are then lost */
  async run(request: JsonObject, limits: Limits): Promise<PythonOutcome> {
    this.#hold();
    try {
      const { version: _, ...outcome } = await this.#request(request, limits);
      return outcome;
    } finally {
      this.#release();
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Kills it and waits until it is gone. */
  async stop(): Promise<void> {
    this.#hold();
    this.kill();
    await this.#ended;
  }

  async #request(request: JsonObject, { timeoutMs, signal }: Limits): Promise<Reply> {
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

  /** Between calls it does not keep the agent from ending, which ends it. */
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
    // Node shows the line that an error came from, and Pyodide is one line.
    const lines = this.#stderr.split('\n').filter((line) => line.length <= MAX_STDERR_LINE);
    const text = lines.join('\n').trim();
    return text === '' ? '' : `: ${text.slice(-SHOWN_CHARACTERS)}`;
  }
}

/** One request on its way: takes what is printed until the reply comes. */
class Call {
  readonly mark = randomBytes(16).toString('hex');
  readonly reply: Promise<Reply>;
  readonly #start = Buffer.from(`${FRAME}${this.mark} `);
  readonly #onFlood: () => void;
  readonly #resolve: (reply: Reply) => void;
  readonly #reject: (error: Error) => void;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #outputBytes = 0;
  /** What may be the beginning of the reply. */
  #rest: Buffer = Buffer.alloc(0);
  #isReply = false;

  constructor(onFlood: () => void) {
    this.#onFlood = onFlood;
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.reply = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    // Whoever awaits it hears of it; a failure before that must not count as unhandled.
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
    const rest = this.#isReply ? [] : [this.#rest.subarray(0, MAX_OUTPUT_BYTES - this.#keptBytes)];
    this.#kept.push(...rest);
    const printed = this.#output();
    const tail = printed.length > SHOWN_CHARACTERS ? `… ${printed.slice(-SHOWN_CHARACTERS)}` : printed;
    this.#reject(
      new MeshError('tool', `Python ${why}${tail.trim() === '' ? '' : `. It had printed:\n${tail}`}`),
    );
  }

  #keep(bytes: Buffer): void {
    this.#outputBytes += bytes.length;
    const kept = bytes.subarray(0, MAX_OUTPUT_BYTES - this.#keptBytes);
    // A copy, since it would hold the whole piece that came.
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
