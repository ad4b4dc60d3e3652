import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { findPool } from './python-pool.ts';
import { buildPythonReply, createPythonJob, inputInput, timeoutInput } from './python-reply.ts';
import { collectTables } from './task-tables.ts';

/** Far above what a model writes in one piece. */
const MAX_CODE_CHARACTERS = 100_000;

const input = z.strictObject({
  code: z.string().min(1).max(MAX_CODE_CHARACTERS),
  input: inputInput,
  timeout_s: timeoutInput,
});

/**
 * State: each task has an interpreter of its own for as long as its calls come, so a name that one call defines is there in the next
 * one of the same task to the same agent. It is lost, and the next call says so, where a call ended the interpreter, where none came
 * for minutes, and where more tasks took turns than interpreters are kept.
 */
export const pythonRepl: DataTool<z.infer<typeof input>> = {
  name: 'python_repl',
  description: 'Runs Python; names stay. No pandas: import tables; tables.read(f).',
  input,
  async run({ code, input: typed, timeout_s: timeoutS }, context) {
    const request = {
      do: 'cell',
      code,
      ...(typed === undefined ? {} : { input: typed }),
      ...(await collectTables(code, context)),
    };
    const job = await createPythonJob(context, request, timeoutS);
    return buildPythonReply(await findPool(context.workspace).cell(context.taskId, job), job.backend);
  },
};
