import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { MeshError } from '../../../core/contracts/errors.ts';
import type { DataTool, DataToolPlace } from '../../data-tool.ts';
import { absence, findFile, shown } from '../../files/find-file.ts';
import { poolOf } from './python-pool.ts';
import { inputInput, javascriptJob, pythonJob, pythonReply, timeoutInput } from './python-reply.ts';
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

const JAVASCRIPT = /^\.[cm]?[jt]s$/i;

export const executePythonFile: DataTool<z.infer<typeof input>> = {
  name: 'execute_python_file',
  description: 'Runs a Python or JavaScript file, offline.',
  input,
  async run({ file, arguments: given = [], input: typed, timeout_s: timeoutS }, place) {
    const { inside, outside, source } = await scriptOf(file, place);
    const asked = { do: 'script', arguments: given, ...(typed === undefined ? {} : { input: typed }) };
    if (JAVASCRIPT.test(path.extname(outside))) {
      const job = await javascriptJob(place, { ...asked, path: outside }, timeoutS);
      return pythonReply(await poolOf(place.workspace).once(job), job.backend);
    }
    const tables = await tablesFor(source.toString('latin1'), place);
    const request = { ...asked, path: inside, source: source.toString('base64'), ...tables };
    const job = await pythonJob(place, request, timeoutS);
    return pythonReply(await poolOf(place.workspace).once(job), job.backend);
  },
};

interface Script {
  /** Where the sandbox of Python has it, and where the machine. */
  readonly inside: string;
  readonly outside: string;
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
    inside: isInFiles ? `/files/${inFiles.replaceAll(path.sep, '/')}` : `/desk/${path.basename(found.path)}`,
    outside: found.path,
    source,
  };
}
