import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { DataToolContext } from '../../data-tool.ts';
import { findPyodide } from './pyodide-python.ts';
import type { PythonBackend } from './python-backend.ts';
import { probeSystemPython } from './system-python.ts';

const DEFAULT_TIMEOUT_S = 10;
/** More would be a job, not a step of an answer. */
export const MAX_TIMEOUT_S = 60;

/**
 * What a team file may say to an agent that runs Python. `auto` takes the system's Python where every promise holds, else Pyodide;
 * `system` takes it with whatever its sandbox holds; without any sandbox it is never taken.
 */
const optionsSchema = z.object({
  python: z.enum(['auto', 'system', 'pyodide']).default('auto'),
  python_memory_mb: z.int().min(256).max(8192).default(1024),
  python_timeout_s: z.number().positive().max(MAX_TIMEOUT_S).default(DEFAULT_TIMEOUT_S),
});
type PythonChoice = z.infer<typeof optionsSchema>['python'];
interface PythonOptions {
  readonly choice: PythonChoice;
  readonly memoryMegabytes: number;
  readonly timeoutMs: number;
}

/** What a person is told about Python on this machine. */
interface PythonReport {
  readonly backend: PythonBackend['name'] | 'none';
  readonly version: string;
  readonly guarantees: string[];
  /** Promises that do not hold, and why a better back end is not taken. */
  readonly missing: string[];
}

/** @throws MeshError `config` where the team file says something else */
export function parsePythonOptions(options: DataToolContext['options']): PythonOptions {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success)
    throw new MeshError('config', `options of an agent that runs Python: ${formatIssues(parsed.error)}`);
  const { python, python_memory_mb: memoryMegabytes, python_timeout_s: timeoutS } = parsed.data;
  return { choice: python, memoryMegabytes, timeoutMs: timeoutS * 1000 };
}

/** How each back end is looked for. */
interface Look {
  readonly system: () => Promise<PythonBackend>;
  readonly pyodide: () => Promise<PythonBackend>;
}

const found = new Map<PythonChoice, Promise<BackendChoice>>();

interface BackendChoice {
  readonly backend: PythonBackend;
  /** Why another one was not taken. */
  readonly passedOver: readonly string[];
}

/**
 * The back end that runs Python here. Looked for once: the sandbox of the system's Python is tried out, which takes a second.
 *
 * @throws MeshError `tool` where there is none, with what to install
 */
export async function findPythonBackend(choice: PythonChoice): Promise<PythonBackend> {
  return (await findBackend(choice)).backend;
}

/** For `doctor`: what would run Python here, what it promises, and what it does not. */
export async function probePython(choice: PythonChoice = 'auto'): Promise<PythonReport> {
  try {
    const { backend, passedOver } = await findBackend(choice);
    const { name, version, guarantees, missing } = backend;
    return { backend: name, version, guarantees: [...guarantees], missing: [...missing, ...passedOver] };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { backend: 'none', version: '', guarantees: [], missing: [error.message] };
  }
}

function findBackend(choice: PythonChoice): Promise<BackendChoice> {
  const known = found.get(choice);
  if (known !== undefined) return known;
  const looking = chooseBackend(choice, { system: probeSystemPython, pyodide: findPyodide });
  found.set(choice, looking);
  // What is installed meanwhile is found the next time.
  looking.catch(() => found.delete(choice));
  return looking;
}

/** @throws MeshError `tool` where neither will do */
export async function chooseBackend(choice: PythonChoice, look: Look): Promise<BackendChoice> {
  if (choice === 'pyodide') return { backend: await look.pyodide(), passedOver: [] };
  if (choice === 'system') return { backend: await look.system(), passedOver: [] };
  const system = await tryBackend(look.system);
  if (!(system instanceof MeshError) && system.missing.length === 0)
    return { backend: system, passedOver: [] };
  const fault =
    system instanceof MeshError
      ? system.message
      : `the sandbox of the system's Python does not hold: ${system.missing.join('; ')}`;
  const pyodide = await tryBackend(look.pyodide);
  if (!(pyodide instanceof MeshError)) return { backend: pyodide, passedOver: [fault] };
  throw new MeshError('tool', `nothing here can run Python safely: ${fault}; ${pyodide.message}`);
}

async function tryBackend(look: () => Promise<PythonBackend>): Promise<PythonBackend | MeshError> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof MeshError) return error;
    throw error;
  }
}
