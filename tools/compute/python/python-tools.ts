import { existsSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { PYTHON_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';
import PQueue from 'p-queue';
import * as z from 'zod';
import type { DataTool, DataToolContext, DataToolReply } from '../../data-tool.ts';
import { listTaskFiles, loadTaskFile } from '../../files/find-file.ts';
import { quoteFileName } from '../../files/loaded-file.ts';
import { readConfined } from '../../files/read-confined.ts';
import { findReader } from '../../files/reading/readers.ts';
import { findPython, type Python } from './pyodide-python.ts';
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

interface PythonJob {
  readonly python: Python;
  readonly place: Parameters<Python['command']>[0];
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
        const interpreter = await PythonInterpreter.start(await job.python.command(job.place), job.signal);
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
    const interpreter = await PythonInterpreter.start(await job.python.command(job.place), job.signal);
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
function findPool(workspace: string): PythonPool {
  const pool = pools.get(workspace) ?? new PythonPool();
  pools.set(workspace, pool);
  return pool;
}

/** Stops waiting for a turn when the run ends; work that has begun ends by itself then. */
function raceRunEnd<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  const ended = () => new MeshError('tool', 'Python was stopped, as the run ended', { cause: signal.reason });
  return raceAbort(signal, work, ended);
}

const DEFAULT_TIMEOUT_S = 10;

/** Options that a team file may give an agent that runs Python. */
const optionsSchema = z.object({
  python_memory_mb: z.int().min(256).max(8192).default(1024),
  python_timeout_s: z.number().positive().max(PYTHON_LIMITS.seconds).default(DEFAULT_TIMEOUT_S),
});

/** The time limit argument of every tool that runs Python. */
const timeoutInput = z.number().positive().max(PYTHON_LIMITS.seconds).exactOptional();

/** Maximum length of input, far above what a person types. */
const MAX_INPUT_CHARACTERS = 1_000_000;

/** The program's standard input. */
const inputInput = z.string().max(MAX_INPUT_CHARACTERS).exactOptional();

/**
 * Creates a request to the driver with the context's limits and files.
 *
 * @throws MeshError `config` for limits in the team file that cannot hold
 */
async function createPythonJob(
  { options, files, workspace, signal }: DataToolContext,
  request: PythonJob['request'],
  timeoutS: number | undefined,
): Promise<PythonJob> {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success)
    throw new MeshError('config', `options of an agent that runs Python: ${formatIssues(parsed.error)}`);
  const { python_memory_mb: memoryMegabytes, python_timeout_s: defaultTimeoutS } = parsed.data;
  return {
    python: await findPython(),
    place: {
      files: files !== undefined && existsSync(files) ? files : undefined,
      workspace,
      memoryMegabytes,
    },
    request,
    timeoutMs: (timeoutS ?? defaultTimeoutS) * 1000,
    signal,
  };
}

/** Returns the output unchanged, with remarks in brackets. An error of the code is an answer like any other. */
function buildPythonReply(
  outcome: PythonOutcome & { readonly lost?: string },
  python: Python,
): DataToolReply {
  const { status, error, lacking, output, outputBytes, lost } = outcome;
  const notes = [
    ...(lost === undefined ? [] : [`[the names of earlier calls are gone: ${lost}]`]),
    ...(outputBytes > PYTHON_LIMITS.outputBytes
      ? [`[cut: ${outputBytes - PYTHON_LIMITS.outputBytes} more bytes were printed]`]
      : []),
    ...(status === 'syntax_error' ? ['[nothing was run: the code could not be parsed]'] : []),
    ...(status === 'error' && output.trim() === '' ? [`[${error ?? 'it failed'}]`] : []),
    ...(lacking === undefined ? [] : [`[${suggestModule(lacking, python)}]`]),
    ...(status === 'ok' && output === '' ? ['[nothing was printed]'] : []),
  ];
  const text =
    notes.length === 0
      ? output
      : `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${notes.join('\n')}`;
  const data = { status, output_bytes: outputBytes };
  return { text, data: error === undefined ? data : { ...data, error } };
}

/** Suggests an alternative to a missing module. */
function suggestModule(module: string, { version }: Python): string {
  const [root = module] = module.split('.');
  const has = `${root} is not installed, and nothing can be installed: Python ${version} here has its standard library`;
  if (!/^(pandas|openpyxl|xlrd|polars|numpy|pyarrow|csvkit|xlsxwriter)$/.test(root)) return has;
  return (
    `${has}. In its place: import tables; rows = tables.read("file.xlsx", sheet=None) gives dicts by column (numbers as numbers, dates as ` +
    '2024-03-01) of xlsx, xls, ods and csv, tables.sheets("file.xlsx") the names of sheets; statistics, collections, itertools and math ' +
    'calculate; or ask query_table'
  );
}

/** Maximum length of code, far above what a model writes in one piece. */
const MAX_CODE_CHARACTERS = 100_000;

const cellInput = z.strictObject({
  code: z.string().min(1).max(MAX_CODE_CHARACTERS),
  input: inputInput,
  timeout_s: timeoutInput,
});

/**
 * Each task has an interpreter of its own while its calls continue, so that names persist from one call to the next one
 * of the same task to the same agent. The interpreter is lost, and the next call says so, when a call ended it, when no
 * call came for minutes, or when more tasks took turns than interpreters are kept.
 */
const pythonRepl: DataTool<z.infer<typeof cellInput>> = {
  name: 'python_repl',
  description: 'Runs Python; names stay. No pandas: import tables; tables.read(f).',
  input: cellInput,
  async run({ code, input: typed = '', timeout_s: timeoutS }, context) {
    const request = {
      do: 'cell',
      code,
      input: typed,
      ...(await collectTables(code, context)),
    };
    const job = await createPythonJob(context, request, timeoutS);
    return buildPythonReply(await findPool(context.workspace).cell(context.taskId, job), job.python);
  },
};

/** Maximum spreadsheets read. A question comes with one or two; each takes a process half a second. */
const MAX_SPREADSHEETS = 8;
/** Maximum size of all of them in JSON: they are sent to the interpreter in one line. */
const MAX_CHARACTERS = 16_000_000;

const sheetsSchema = z.array(
  z.object({ name: z.string(), columns: z.array(z.string()), rows: z.array(z.array(z.json())) }),
);

/**
 * Returns the sheets for the module `tables` in the sandbox: the task's spreadsheets, read by a process without rights.
 * Returns nothing when the code does not mention the module, and leaves out spreadsheets that cannot be read.
 */
async function collectTables(code: string, context: DataToolContext): Promise<JsonObject> {
  if (!/\btables\b/.test(code)) return {};
  const { names } = await listTaskFiles(context.files);
  const tables: Record<string, z.infer<typeof sheetsSchema>> = {};
  let room = MAX_CHARACTERS;
  const spreadsheets = names.filter((name) => findReader(name) === 'read_excel').slice(0, MAX_SPREADSHEETS);
  for (const name of spreadsheets) {
    try {
      const { text } = await readConfined(
        await loadTaskFile(context, name),
        { kind: 'cells' },
        context.signal,
      );
      room -= text.length;
      if (room < 0) break;
      tables[name.replace(/^.*\//, '')] = sheetsSchema.parse(JSON.parse(text));
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
    }
  }
  return { tables };
}

/** Maximum size of a script. Scripts that people write have thousands of bytes; larger files are data. */
const MAX_SCRIPT_BYTES = 1024 * 1024;
const MAX_ARGUMENTS = 50;
const MAX_ARGUMENT_CHARACTERS = 1_000;

const scriptInput = z.strictObject({
  file: z.string().min(1),
  arguments: z.array(z.string().max(MAX_ARGUMENT_CHARACTERS)).max(MAX_ARGUMENTS).exactOptional(),
  input: inputInput,
  timeout_s: timeoutInput,
});

const executePythonFile: DataTool<z.infer<typeof scriptInput>> = {
  name: 'execute_python_file',
  description: 'Runs a Python file, offline.',
  input: scriptInput,
  async run({ file, arguments: given = [], input: typed = '', timeout_s: timeoutS }, context) {
    const script = await loadTaskFile(context, file);
    if (script.bytes.length > MAX_SCRIPT_BYTES) {
      throw new MeshError(
        'tool',
        `${quoteFileName(file)} has ${script.bytes.length} bytes: a script has at most ${MAX_SCRIPT_BYTES}`,
      );
    }
    // The text is sent to Python, since the script may be in the agent's own folder.
    const source = Buffer.from(script.bytes);
    const request = {
      do: 'script',
      path: locateScript(script.name),
      source: source.toString('base64'),
      arguments: given,
      input: typed,
      ...(await collectTables(source.toString('latin1'), context)),
    };
    const job = await createPythonJob(context, request, timeoutS);
    return buildPythonReply(await findPool(context.workspace).once(job), job.python);
  },
};

/** Returns the path of a script in the sandbox, which has the task's files and a desk. */
function locateScript(name: string): string {
  return name.startsWith('workspace/')
    ? path.posix.join('/desk', path.posix.basename(name))
    : path.posix.join('/files', name);
}

/** The tools that run Python, by name. */
export const pythonTools = { python_repl: pythonRepl, execute_python_file: executePythonFile };
