import { existsSync } from 'node:fs';
import * as z from 'zod';
import type { DataToolPlace, DataToolReply } from '../data-tool.ts';
import type { PythonBackend } from './python-backend.ts';
import { MAX_OUTPUT_BYTES, type PythonOutcome } from './python-interpreter.ts';
import type { PythonJob } from './python-pool.ts';
import { MAX_TIMEOUT_S, pythonBackend, pythonOptions } from './python-sandbox.ts';

/** An argument of every tool that runs Python. */
export const timeoutInput = z.number().positive().max(MAX_TIMEOUT_S).exactOptional();

/** A request to the driver, with what the place says of limits and files. */
export async function pythonJob(
  place: DataToolPlace,
  request: PythonJob['request'],
  timeoutS: number | undefined,
): Promise<PythonJob> {
  const { choice, memoryMegabytes, timeoutMs } = pythonOptions(place.options);
  const files = place.files !== undefined && existsSync(place.files) ? place.files : undefined;
  return {
    backend: await pythonBackend(choice),
    place: { files, workspace: place.workspace, memoryMegabytes },
    request,
    timeoutMs: timeoutS === undefined ? timeoutMs : timeoutS * 1000,
    signal: place.signal,
  };
}

/** What was printed, as it is; in brackets what has to be said besides. An error of the code is an answer like any other. */
export function pythonReply(
  outcome: PythonOutcome & { readonly lost?: string },
  backend: PythonBackend,
): DataToolReply {
  const { status, error, output, outputBytes, lost } = outcome;
  const notes = [
    ...(lost === undefined ? [] : [`[the names of earlier calls are gone: ${lost}]`]),
    ...(outputBytes > MAX_OUTPUT_BYTES
      ? [`[cut: ${outputBytes - MAX_OUTPUT_BYTES} more bytes were printed]`]
      : []),
    ...(status === 'syntax_error' ? ['[nothing was run: the code could not be parsed]'] : []),
    ...(status === 'error' && output.trim() === '' ? [`[${error ?? 'it failed'}]`] : []),
    ...(status === 'ok' && output === '' ? ['[nothing was printed]'] : []),
  ];
  const text =
    notes.length === 0
      ? output
      : `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${notes.join('\n')}`;
  return {
    text,
    data: {
      status,
      ...(error === undefined ? {} : { error }),
      output_bytes: outputBytes,
      backend: backend.name,
    },
  };
}
