import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext } from '../../data-tool.ts';
import { explainAbsence, findFile, quoteFileName } from '../../files/find-file.ts';
import { findPool } from './python-pool.ts';
import { buildPythonReply, createPythonJob, inputInput, timeoutInput } from './python-reply.ts';
import { collectTables } from './task-tables.ts';

/** Maximum size of a script. Scripts that people write have thousands of bytes; larger files are data. */
const MAX_SCRIPT_BYTES = 1024 * 1024;
const MAX_ARGUMENTS = 50;
const MAX_ARGUMENT_CHARACTERS = 1_000;

const input = z.strictObject({
  file: z.string().min(1),
  arguments: z.array(z.string().max(MAX_ARGUMENT_CHARACTERS)).max(MAX_ARGUMENTS).exactOptional(),
  input: inputInput,
  timeout_s: timeoutInput,
});

export const executePythonFile: DataTool<z.infer<typeof input>> = {
  name: 'execute_python_file',
  description: 'Runs a Python file, offline.',
  input,
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
