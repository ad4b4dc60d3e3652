import { existsSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext, DataToolReply } from '../../data-tool.ts';
import { explainAbsence, findFile, listTaskFiles, quoteFileName } from '../../files/find-file.ts';
import { loadTaskFile } from '../../files/load-file.ts';
import { readConfined } from '../../files/read-confined.ts';
import { findReader } from '../../files/reading/readers.ts';
import { findPython, type Python } from './pyodide-python.ts';
import { MAX_OUTPUT_BYTES, type PythonOutcome } from './python-interpreter.ts';
import { findPool, type PythonJob } from './python-pool.ts';

const DEFAULT_TIMEOUT_S = 10;
/** Maximum time limit; anything longer is a job and not a step of an answer. */
export const MAX_TIMEOUT_S = 60;

/** Options that a team file may give an agent that runs Python. */
const optionsSchema = z.object({
  python_memory_mb: z.int().min(256).max(8192).default(1024),
  python_timeout_s: z.number().positive().max(MAX_TIMEOUT_S).default(DEFAULT_TIMEOUT_S),
});

/** The time limit argument of every tool that runs Python. */
const timeoutInput = z.number().positive().max(MAX_TIMEOUT_S).exactOptional();

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
    ...(outputBytes > MAX_OUTPUT_BYTES
      ? [`[cut: ${outputBytes - MAX_OUTPUT_BYTES} more bytes were printed]`]
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
export const pythonRepl: DataTool<z.infer<typeof cellInput>> = {
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

export const executePythonFile: DataTool<z.infer<typeof scriptInput>> = {
  name: 'execute_python_file',
  description: 'Runs a Python file, offline.',
  input: scriptInput,
  async run({ file, arguments: given = [], input: typed = '', timeout_s: timeoutS }, context) {
    const script = await readScript(file, context);
    const tables = await collectTables(script.source.toString('latin1'), context);
    const request = {
      do: 'script',
      path: script.path,
      source: script.source.toString('base64'),
      arguments: given,
      input: typed,
      ...tables,
    };
    const job = await createPythonJob(context, request, timeoutS);
    return buildPythonReply(await findPool(context.workspace).once(job), job.python);
  },
};

interface Script {
  /** Path of the script in the sandbox. */
  readonly path: string;
  readonly source: Buffer;
}

/** Reads the script's text, which is sent to Python, since the script may be in the agent's own folder. */
async function readScript(file: string, context: DataToolContext): Promise<Script> {
  const found = await findFile(context, file);
  if (!found.isThere) throw new MeshError('tool', await explainAbsence(context, file));
  const { size } = await stat(found.path);
  if (size > MAX_SCRIPT_BYTES) {
    throw new MeshError(
      'tool',
      `${quoteFileName(file)} has ${size} bytes: a script has at most ${MAX_SCRIPT_BYTES}`,
    );
  }
  const source = await readFile(found.path);
  const inFiles =
    context.files === undefined
      ? '..'
      : path.relative(await realpath(context.files).catch(() => '/'), found.path);
  const isInFiles = !inFiles.startsWith('..') && !path.isAbsolute(inFiles);
  return {
    path: isInFiles ? `/files/${inFiles.replaceAll(path.sep, '/')}` : `/desk/${path.basename(found.path)}`,
    source,
  };
}
