import { existsSync } from 'node:fs';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { DataToolContext, DataToolReply } from '../../data-tool.ts';
import { findPython, type Python } from './pyodide-python.ts';
import { MAX_OUTPUT_BYTES, type PythonOutcome } from './python-interpreter.ts';
import type { PythonJob } from './python-pool.ts';

const DEFAULT_TIMEOUT_S = 10;
/** Maximum time limit; anything longer is a job and not a step of an answer. */
export const MAX_TIMEOUT_S = 60;

/** Options that a team file may give an agent that runs Python. */
const optionsSchema = z.object({
  python_memory_mb: z.int().min(256).max(8192).default(1024),
  python_timeout_s: z.number().positive().max(MAX_TIMEOUT_S).default(DEFAULT_TIMEOUT_S),
});

/** The time limit argument of every tool that runs Python. */
export const timeoutInput = z.number().positive().max(MAX_TIMEOUT_S).exactOptional();

/** Maximum length of input, far above what a person types. */
const MAX_INPUT_CHARACTERS = 1_000_000;

/** The program's standard input. */
export const inputInput = z.string().max(MAX_INPUT_CHARACTERS).exactOptional();

/**
 * Creates a request to the driver with the context's limits and files.
 *
 * @throws MeshError `config` for limits in the team file that cannot hold
 */
export async function createPythonJob(
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
export function buildPythonReply(
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
