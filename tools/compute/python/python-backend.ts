import type { PythonCommand } from './python-interpreter.ts';

/** A way to run Python so that it can harm nothing. */
export interface PythonBackend {
  readonly name: 'system' | 'pyodide';
  /** The version of Python. */
  readonly version: string;
  /** Promises that hold here, as doctor and the docs say them. */
  readonly guarantees: readonly string[];
  /** Promises that do not. */
  readonly missing: readonly string[];
  /** How to start an interpreter that sees these files. */
  command(context: PythonRunContext): Promise<PythonCommand>;
}

export interface PythonRunContext {
  /** The task's files, a folder that exists; read-only to the code. Undefined where there are none. */
  readonly files: string | undefined;
  /** The agent's own folder: the code does not see it. */
  readonly workspace: string;
  readonly memoryMegabytes: number;
}

/** What the code may write in all, in memory: nothing of it is left when the interpreter ends. */
export const DESK_BYTES = 64 * 1024 * 1024;
/** A file that the code writes. */
export const FILE_BYTES = 32 * 1024 * 1024;

/** The promises, in the words of `doctor`. */
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
export type Guarantee = keyof typeof GUARANTEES;
