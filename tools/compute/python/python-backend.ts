import type { PythonCommand } from './python-interpreter.ts';

/** A way to run Python so that it cannot do harm. */
export interface PythonBackend {
  readonly name: 'system' | 'pyodide';
  /** The version of Python. */
  readonly version: string;
  /** Guarantees that hold here, as doctor and the docs word them. */
  readonly guarantees: readonly string[];
  /** Guarantees that do not hold here. */
  readonly missing: readonly string[];
  /** Returns the command that starts an interpreter which sees these files. */
  command(context: PythonRunContext): Promise<PythonCommand>;
}

export interface PythonRunContext {
  /** Existing folder of the task's files, read-only to the code; undefined when there are none. */
  readonly files: string | undefined;
  /** The agent's own folder, which the code does not see. */
  readonly workspace: string;
  readonly memoryMegabytes: number;
}

/** Maximum bytes that the code may write, all in memory: nothing remains when the interpreter ends. */
export const DESK_BYTES = 64 * 1024 * 1024;
/** Maximum size of a file that the code writes. */
export const FILE_BYTES = 32 * 1024 * 1024;

/** The guarantees, in the words of `doctor`. */
export const GUARANTEES = {
  reads: 'reads the task’s files and Python itself, no other file',
  writes: 'writes to a folder of its own in memory alone, of bounded size',
  network: 'has no network',
  environment: 'sees no variable of the environment',
  processes: 'starts no process',
  signals: 'reaches no other process',
  memory: 'cannot take more memory than it is given',
  kill: 'is gone when it is killed, whatever it does',
} as const;
