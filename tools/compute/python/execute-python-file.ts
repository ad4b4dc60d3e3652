import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import type { DataTool, DataToolPlace } from '../../data-tool.ts';
import { absence, findFile, shown } from '../../files/find-file.ts';
import { poolOf } from './python-pool.ts';
import { inputInput, pythonJob, pythonReply, timeoutInput } from './python-reply.ts';
import { tablesFor } from './task-tables.ts';

/** A script that a person wrote has thousands of bytes; what is larger is data, or no script. */
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
  async run({ file, arguments: given = [], input: typed = '', timeout_s: timeoutS }, place) {
    const script = await scriptOf(file, place);
    const tables = await tablesFor(script.source.toString('latin1'), place);
    const request = {
      do: 'script',
      path: script.path,
      source: script.source.toString('base64'),
      arguments: given,
      input: typed,
      ...tables,
    };
    const job = await pythonJob(place, request, timeoutS);
    return pythonReply(await poolOf(place.workspace).once(job), job.backend);
  },
};

interface Script {
  /** Its place in the sandbox. */
  readonly path: string;
  readonly source: Buffer;
}

/** The text travels to Python, since it may be in the agent's own folder. */
async function scriptOf(file: string, place: DataToolPlace): Promise<Script> {
  const found = await findFile(place, file);
  if (!found.isThere) throw new MeshError('tool', await absence(place, file));
  const { size } = await stat(found.path);
  if (size > MAX_SCRIPT_BYTES) {
    throw new MeshError('tool', `${shown(file)} has ${size} bytes: a script has at most ${MAX_SCRIPT_BYTES}`);
  }
  const source = await readFile(found.path);
  const inFiles =
    place.files === undefined
      ? '..'
      : path.relative(await realpath(place.files).catch(() => '/'), found.path);
  const isInFiles = !inFiles.startsWith('..') && !path.isAbsolute(inFiles);
  return {
    path: isInFiles ? `/files/${inFiles.replaceAll(path.sep, '/')}` : `/desk/${path.basename(found.path)}`,
    source,
  };
}
