import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import type PQueue from 'p-queue';
import { type ErrorCode, explainSystemFault, MeshError, toErrorMessage } from '../../contracts/errors.ts';
import { JOB_LIMITS, type JobBounds } from '../../contracts/limits.ts';
import { listReadablePaths } from '../package-root.ts';
import { isLinux, readLinuxFile } from '../platform.ts';
import { onAbort } from './abort.ts';
import { awaitChildEnd } from './child-end.ts';
import { guard } from './guard.ts';
import { isolateCommand } from './without-network.ts';

/**
 * Work in a Node process of its own, whose time and memory are bounded: if a library hangs, eats memory or throws where
 * nothing catches, only that process ends. It may read code and packages, and nothing else: it has no network (where the
 * machine can isolate it), no environment, no right to write or to start anything, and turns no text into code. Its
 * module holds both ends, so that it is found in sources, in a bundle and in a package:
 *
 *     const readPage = defineJob(new URL('…', import.meta.url), 'read-page', async () => readPageHere);
 *     const outcome = await runJob(readPage, { bytes }, JOB_LIMITS.page, { signal });
 *
 * Such a module must not await at the top level: users' files, which are loaded with `require`, may import it.
 */
export interface Job<Input, Answer, Event = never> {
  readonly program: URL;
  readonly name: string;
  /** Loads the modules that the work needs, and returns the work. Only the process calls it, before the time of a job begins. */
  readonly load: () => Promise<Work<Input, Answer, Event>>;
  readonly rights: JobRights;
}

type Work<Input, Answer, Event> = (input: Input, report: (event: Event) => void) => Answer | Promise<Answer>;

interface JobRights {
  /** Allows libraries that start threads of their own. */
  readonly threads?: boolean;
  /** Allows SQLite, which opens files that Node's permissions refuse: only for work that restricts it itself. */
  readonly sqlite?: boolean;
  /** Gives the process all rights of this one, for code that also runs in this process, such as a user's adapter. */
  readonly all?: boolean;
  /** Blames the input for any error of the work, and reports no bug: some libraries throw any kind of error over broken bytes. */
  readonly blamesInput?: boolean;
}

/** The outcome of a job; `stopped` gives the reason for a missing answer, to follow "it was not done:". */
type JobOutcome<Answer> = { readonly answer: Answer } | { readonly stopped: string };

/** A line from the process: the bytes of memory that it has when it is ready, events, printed text, or the end of a job. */
type Message<Answer, Event> =
  | { readonly ready: number }
  | { readonly event: Event }
  | { readonly printed: string }
  | { readonly answer: Answer | null }
  | { readonly fault: { readonly code: ErrorCode; readonly message: string } }
  | { readonly bug: string }
  | { readonly failed: string }
  | { readonly lacks: 'memory' };

/** The environment variable that tells the process its job. */
const JOB_VARIABLE = 'GAIA_MESH_JOB';
/** The pipe on which the process answers: libraries print on the others. */
const ANSWERS = 3;
const LENGTH_BYTES = 4;
const MEGABYTE = 2 ** 20;
/** Share of a job's memory that JavaScript's heap may take. */
const HEAP_SHARE = 2 / 3;
const ENDED = { stopped: 'the task has ended' };
/** Signals by which a process ends that has no memory left: Node and V8 abort themselves. */
const OUT_OF_MEMORY: readonly (string | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV', 'SIGBUS'];

/** Defines a kind of work, and does it if this process was started for it. */
export function defineJob<Input, Answer, Event = never>(
  program: URL,
  name: string,
  load: () => Promise<Work<Input, Answer, Event>>,
  rights: JobRights = {},
): Job<Input, Answer, Event> {
  if (process.env[JOB_VARIABLE] === name) void serve(load, rights);
  return { program, name, load, rights };
}

const queues = new Map<string, Promise<PQueue>>();

/**
 * Runs a job, in an idle process if there is one.
 *
 * @param onEvent receives the reports of the work, each of which restarts its time; it returns true to end the job
 * @throws MeshError as the work threw it; `tool` if too many jobs wait; an `Error` with the stack of a bug in the work
 */
export async function runJob<Input, Answer, Event>(
  job: Job<Input, Answer, Event>,
  input: Input,
  bounds: JobBounds,
  options: JobOptions<Event>,
): Promise<JobOutcome<Answer>> {
  let queue = queues.get(job.name);
  queue ??= import('p-queue').then(({ default: Queue }) => new Queue({ concurrency: JOB_LIMITS.atOnce }));
  queues.set(job.name, queue);
  const turns = await queue;
  if (turns.size >= JOB_LIMITS.waiting)
    throw new MeshError(
      'tool',
      `${JOB_LIMITS.waiting} jobs ${job.name} are waiting already: ask again later`,
    );
  return turns.add(() => runNow(job, input, bounds, options));
}

interface JobOptions<Event> {
  readonly signal: AbortSignal;
  readonly onEvent?: (event: Event) => boolean;
  readonly onPrint?: (text: string) => void;
}

async function runNow<Input, Answer, Event>(
  job: Job<Input, Answer, Event>,
  input: Input,
  bounds: JobBounds,
  { signal, onEvent, onPrint }: JobOptions<Event>,
): Promise<JobOutcome<Answer>> {
  if (signal.aborted) return ENDED;
  const child = takeIdle(job, bounds) ?? new JobProcess(job, bounds);
  const { promise, resolve, reject } = Promise.withResolvers<JobOutcome<Answer>>();
  let isDone = false;
  const begin = () => {
    timer.refresh(bounds.ms);
    child.send(input);
  };
  const timer = createTimer((ms) => resolve({ stopped: `it took longer than ${ms / 1000} s` }));
  const unwatch = onAbort(signal, () => resolve(ENDED));
  child.attend({
    onEnd: (why) => resolve({ stopped: why }),
    async onMessage(line) {
      // The other end of this file wrote it.
      const message: Message<Answer, Event> = JSON.parse(line);
      try {
        if ('ready' in message) {
          await child.boundMemory(message.ready);
          begin();
        } else if ('event' in message) {
          timer.refresh(bounds.ms);
          if (onEvent?.(message.event) === true) resolve(ENDED);
        } else if ('printed' in message) onPrint?.(message.printed);
        else if ('answer' in message) {
          isDone = true;
          resolve({ answer: message.answer as Answer });
        } else if ('failed' in message) resolve({ stopped: `it failed: ${message.failed}` });
        else if ('lacks' in message) resolve({ stopped: explainMemory(bounds) });
        else if ('bug' in message) reject(new Error(`${job.name}: ${message.bug}`));
        else {
          isDone = true;
          reject(new MeshError(message.fault.code, message.fault.message));
        }
      } catch (error) {
        reject(error);
      }
    },
  });
  if (child.jobs === 0) timer.refresh(JOB_LIMITS.startMs);
  else begin();
  try {
    return await promise;
  } finally {
    timer.clear();
    unwatch();
    child.jobs += 1;
    if (isDone && child.jobs < (bounds.reuse ?? 1)) keepIdle(child);
    else child.kill();
  }
}

function createTimer(onEnd: (ms: number) => void) {
  let timer: NodeJS.Timeout | undefined;
  const clear = () => clearTimeout(timer);
  const refresh = (ms: number) => {
    clear();
    timer = setTimeout(() => onEnd(ms), ms);
  };
  return { refresh, clear };
}

/** Processes that wait for a job, the longest waiting first; they keep no process alive. */
const idle: JobProcess[] = [];

function takeIdle({ name }: { readonly name: string }, { megabytes }: JobBounds): JobProcess | undefined {
  const at = idle.findIndex((one) => one.name === name && one.megabytes === megabytes);
  const [found] = at === -1 ? [] : idle.splice(at, 1);
  found?.ref();
  return found;
}

function keepIdle(child: JobProcess): void {
  const remove = () => {
    const at = idle.indexOf(child);
    if (at !== -1) idle.splice(at, 1);
    clearTimeout(timer);
    child.kill();
  };
  const timer = setTimeout(remove, JOB_LIMITS.idleMs).unref();
  child.attend({ onEnd: remove, onMessage: remove });
  idle.push(child);
  child.unref();
}

interface Attention {
  readonly onMessage: (line: string) => unknown;
  readonly onEnd: (why: string) => void;
}

/** The parent's end of a process for jobs. */
class JobProcess {
  readonly name: string;
  readonly megabytes: number;
  /** Number of jobs that it has done. */
  jobs = 0;
  readonly #child: ChildProcess;
  readonly #release: () => void;
  #attention: Attention | undefined;
  #answer: Buffer[] = [];
  #answerBytes = 0;
  #printed = '';
  #end: string | undefined;

  constructor(job: Job<never, unknown, unknown>, bounds: JobBounds) {
    this.name = job.name;
    this.megabytes = bounds.megabytes;
    const { program, args, environment } = buildCommand(job, bounds);
    this.#child = spawn(program, args, { env: environment, stdio: ['pipe', 'ignore', 'pipe', 'pipe'] });
    const { stdin, stderr, stdio } = this.#child;
    this.#release = guard({ pid: this.#child.pid });
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed = (this.#printed + text).slice(-JOB_LIMITS.printedCharacters);
    });
    (stdio[ANSWERS] as Readable | null)?.on('data', (bytes: Buffer) => this.#take(bytes));
    // A process that ended early does not read the rest of its input. How it ended explains more than this error.
    stdin?.on('error', () => stdin.destroy());
    void awaitChildEnd(this.#child).then((end) => {
      this.#release();
      this.#finish(explainEnd(end, bounds, this.#printed));
    });
  }

  /** Passes messages and the end of the process to `attention` from now on. */
  attend(attention: Attention): void {
    this.#attention = attention;
    if (this.#end !== undefined) attention.onEnd(this.#end);
  }

  send(input: unknown): void {
    const bytes = serialize(input);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(bytes.length);
    this.#child.stdin?.write(length);
    this.#child.stdin?.write(bytes);
  }

  /** Bounds the memory that the process may take in addition to `dataBytes`, inside and outside of its heap. */
  async boundMemory(dataBytes: number): Promise<void> {
    if (dataBytes === 0 || !isLinux) return;
    const limit = dataBytes + this.megabytes * MEGABYTE;
    // Without `prlimit` there is no such bound, as on other systems than Linux.
    await promisify(execFile)('prlimit', [
      '--pid',
      `${this.#child.pid}`,
      `--data=${limit}`,
      '--core=0',
    ]).catch(() => undefined);
  }

  ref(): void {
    for (const handle of this.#handles()) handle.ref();
  }

  unref(): void {
    for (const handle of this.#handles()) handle.unref();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #handles(): { ref(): unknown; unref(): unknown }[] {
    return [this.#child, ...this.#child.stdio.filter((stream) => stream instanceof Socket)];
  }

  #take(bytes: Buffer): void {
    const end = bytes.indexOf('\n');
    const part = end === -1 ? bytes : bytes.subarray(0, end);
    this.#answer.push(part);
    this.#answerBytes += part.length;
    if (this.#answerBytes > JOB_LIMITS.answerBytes) {
      this.#finish(`it wrote more than ${JOB_LIMITS.answerBytes} bytes`);
      return;
    }
    if (end === -1) return;
    const line = Buffer.concat(this.#answer).toString();
    this.#answer = [];
    this.#answerBytes = 0;
    this.#attention?.onMessage(line);
    if (end + 1 < bytes.length) this.#take(bytes.subarray(end + 1));
  }

  #finish(why: string): void {
    this.#end ??= why;
    this.#attention?.onEnd(this.#end);
  }
}

const explainMemory = ({ megabytes }: JobBounds) => `it took more than ${megabytes} MB of memory`;

function explainEnd(
  { code, signal, error }: Awaited<ReturnType<typeof awaitChildEnd>>,
  bounds: JobBounds,
  printed: string,
): string {
  if (error !== undefined) return explainSystemFault(error) ?? error.message;
  if (OUT_OF_MEMORY.includes(signal)) return explainMemory(bounds);
  const [last] = printed.split('\n').filter((line) => /^\w*Error\b.*:|^FATAL ERROR/.test(line));
  const said = last === undefined ? '' : ` (${shorten(last)})`;
  return `its process ended with ${signal ?? `code ${code}`}${said}`;
}

function shorten(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, JOB_LIMITS.reasonCharacters).toWellFormed();
}

function buildCommand({ program, name, rights }: Job<never, unknown, unknown>, { megabytes }: JobBounds) {
  const heap = [`--max-old-space-size=${Math.round(megabytes * HEAP_SHARE)}`, '--no-warnings'];
  const file = fileURLToPath(program);
  if (rights.all === true) {
    const environment = { ...process.env, [JOB_VARIABLE]: name };
    return { program: process.execPath, args: [...heap, file], environment };
  }
  const command = isolateCommand([
    // Without this flag a child inherits the permissions of a restricted parent, and could then do all that the parent may.
    '--permission',
    '--disallow-code-generation-from-strings',
    ...(rights.sqlite === true ? [] : ['--no-experimental-sqlite']),
    ...(rights.threads === true ? ['--allow-worker'] : []),
    ...[...listReadablePaths(), OWN_STATUS].map((folder) => `--allow-fs-read=${folder}`),
    ...heap,
    file,
  ]);
  return { ...command, environment: { [JOB_VARIABLE]: name } };
}

const OWN_STATUS = '/proc/self/status';

/** Runs the process's own end: works on one input after the other until its parent has gone. */
async function serve<Input, Answer, Event>(
  load: () => Promise<Work<Input, Answer, Event>>,
  { blamesInput }: JobRights,
): Promise<void> {
  delete process.env[JOB_VARIABLE];
  // The write is synchronous, so that the parent receives all messages from before a crash or an endless loop.
  const say = (message: Message<Answer, Event>) => writeFileSync(ANSWERS, `${JSON.stringify(message)}\n`);
  for (const stream of [process.stdout, process.stderr])
    stream.write = (text: string | Uint8Array) => {
      say({ printed: `${text}` });
      return true;
    };
  // Only libraries throw outside of a promise here, when their input is broken.
  process.on('uncaughtException', (error) => {
    say(describeError(error, true));
    process.exit(1);
  });
  // Wait until the module that defines the work has been evaluated.
  await new Promise(setImmediate);
  const work = await load();
  say({ ready: 1024 * Number(/VmData:\s*(\d+)/.exec(readLinuxFile(OWN_STATUS) ?? '')?.[1] ?? 0) });
  for await (const input of readInputs<Input>()) {
    try {
      const answer = await work(input, (event) => say({ event }));
      // JSON has no `undefined`.
      say({ answer: answer ?? null });
    } catch (error) {
      say(describeError(error, blamesInput === true));
    }
  }
  // The parent has gone.
  process.exit();
}

/** Reads lengths and the values that follow them. */
async function* readInputs<Input>(): AsyncGenerator<Input> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let length: number | undefined;
  for await (const part of process.stdin) {
    parts.push(part);
    bytes += part.length;
    for (let wanted = length ?? LENGTH_BYTES; bytes >= wanted; wanted = length ?? LENGTH_BYTES) {
      const all = Buffer.concat(parts);
      if (length !== undefined) yield deserialize(all.subarray(0, wanted));
      length = length === undefined ? all.readUInt32BE() : undefined;
      parts = [all.subarray(wanted)];
      bytes -= wanted;
    }
  }
}

function describeError(error: unknown, blamesInput: boolean): Message<never, never> {
  if (error instanceof MeshError) return { fault: { code: error.code, message: error.message } };
  const message = toErrorMessage(error);
  if (error instanceof RangeError && /allocat/.test(message)) return { lacks: 'memory' };
  if (blamesInput) return { failed: shorten(message) };
  return { bug: error instanceof Error ? `${error.stack}` : message };
}
