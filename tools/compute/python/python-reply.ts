import { existsSync } from 'node:fs';
import * as z from 'zod';
import type { DataToolContext, DataToolReply } from '../../data-tool.ts';
import type { PythonBackend } from './python-backend.ts';
import { MAX_OUTPUT_BYTES, type PythonOutcome } from './python-interpreter.ts';
import type { PythonJob } from './python-pool.ts';
import { findPythonBackend, MAX_TIMEOUT_S, parsePythonOptions } from './python-sandbox.ts';

/** The time limit argument of every tool that runs Python. */
export const timeoutInput = z.number().positive().max(MAX_TIMEOUT_S).exactOptional();

/** Maximum length of input, far above what a person types. */
const MAX_INPUT_CHARACTERS = 1_000_000;

/** The program's standard input. */
export const inputInput = z.string().max(MAX_INPUT_CHARACTERS).exactOptional();

/** Creates a request to the driver with the context's limits and files. */
export async function createPythonJob(
  { options, files, workspace, signal }: DataToolContext,
  request: PythonJob['request'],
  timeoutS: number | undefined,
): Promise<PythonJob> {
  const { choice, memoryMegabytes, timeoutMs } = parsePythonOptions(options);
  return {
    backend: await findPythonBackend(choice),
    place: {
      files: files !== undefined && existsSync(files) ? files : undefined,
      workspace,
      memoryMegabytes,
    },
    request,
    timeoutMs: timeoutS === undefined ? timeoutMs : timeoutS * 1000,
    signal,
  };
}

/** Returns the output unchanged, with remarks in brackets. An error of the code is an answer like any other. */
export function buildPythonReply(
  outcome: PythonOutcome & { readonly lost?: string },
  backend: PythonBackend,
): DataToolReply {
  const { status, error, lacking, output, outputBytes, lost } = outcome;
  const notes = [
    ...(lost === undefined ? [] : [`[the names of earlier calls are gone: ${lost}]`]),
    ...(outputBytes > MAX_OUTPUT_BYTES
      ? [`[cut: ${outputBytes - MAX_OUTPUT_BYTES} more bytes were printed]`]
      : []),
    ...(status === 'syntax_error' ? ['[nothing was run: the code could not be parsed]'] : []),
    ...(status === 'error' && output.trim() === '' ? [`[${error ?? 'it failed'}]`] : []),
    ...(lacking === undefined ? [] : [`[${suggestModule(lacking, backend)}]`]),
    ...(status === 'ok' && output === '' ? ['[nothing was printed]'] : []),
  ];
  const text =
    notes.length === 0
      ? output
      : `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${notes.join('\n')}`;
  const data = { status, output_bytes: outputBytes, backend: backend.name };
  return { text, data: error === undefined ? data : { ...data, error } };
}

/** Suggests an alternative to a missing module. */
function suggestModule(module: string, { version }: PythonBackend): string {
  const [root = module] = module.split('.');
  const has = `${root} is not installed, and nothing can be installed: Python ${version} here has its standard library`;
  if (!/^(pandas|openpyxl|xlrd|polars|numpy|pyarrow|csvkit|xlsxwriter)$/.test(root)) return has;
  return (
    `${has}. In its place: import tables; rows = tables.read("file.xlsx", sheet=None) gives dicts by column (numbers as numbers, dates as ` +
    '2024-03-01) of xlsx, xls, ods and csv, tables.sheets("file.xlsx") the names of sheets; statistics, collections, itertools and math ' +
    'calculate; or ask query_table'
  );
}
