import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { findPool } from './python-pool.ts';
import { buildPythonReply, createPythonJob, inputInput, timeoutInput } from './python-reply.ts';
import { collectTables } from './task-tables.ts';

/** Maximum length of code, far above what a model writes in one piece. */
const MAX_CODE_CHARACTERS = 100_000;

const input = z.strictObject({
  code: z.string().min(1).max(MAX_CODE_CHARACTERS),
  input: inputInput,
  timeout_s: timeoutInput,
});

/**
 * Each task has an interpreter of its own while its calls continue, so that names persist from one call to the next one
 * of the same task to the same agent. The interpreter is lost, and the next call says so, when a call ended it, when no
 * call came for minutes, or when more tasks took turns than interpreters are kept.
 */
export const pythonRepl: DataTool<z.infer<typeof input>> = {
  name: 'python_repl',
  description: 'Runs Python; names stay. No pandas: import tables; tables.read(f).',
  input,
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
