import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { DataToolContext } from '../../data-tool.ts';
import { findPyodide } from './pyodide-python.ts';
import type { PythonBackend } from './python-backend.ts';
import { probeSystemPython } from './system-python.ts';

const DEFAULT_TIMEOUT_S = 10;
/** Maximum time limit; anything longer is a job and not a step of an answer. */
export const MAX_TIMEOUT_S = 60;

/**
 * Options that a team file may give an agent that runs Python. `auto` uses the system's Python when every guarantee
 * holds, else Pyodide; `system` uses it whatever its sandbox guarantees, but never without a sandbox.
 */
const optionsSchema = z.object({
  python: z.enum(['auto', 'system', 'pyodide']).default('auto'),
  python_memory_mb: z.int().min(256).max(8192).default(1024),
  python_timeout_s: z.number().positive().max(MAX_TIMEOUT_S).default(DEFAULT_TIMEOUT_S),
});
type PythonChoice = z.infer<typeof optionsSchema>['python'];
/** Facts about Python on this machine, for people. */
interface PythonReport {
  readonly backend: PythonBackend['name'] | 'none';
  readonly version: string;
  readonly guarantees: string[];
  /** Guarantees that do not hold, and why a better back end was not chosen. */
  readonly missing: string[];
}

/**
 * Parses the options of an agent that runs Python.
 *
 * @throws MeshError `config` for other options in the team file
 */
export function parsePythonOptions(options: DataToolContext['options']) {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success)
    throw new MeshError('config', `options of an agent that runs Python: ${formatIssues(parsed.error)}`);
  const { python, python_memory_mb: memoryMegabytes, python_timeout_s: timeoutS } = parsed.data;
  return { choice: python, memoryMegabytes, timeoutMs: timeoutS * 1000 };
}

/** Finds each back end. */
interface Look {
  readonly system: () => Promise<PythonBackend>;
  readonly pyodide: () => Promise<PythonBackend>;
}

const found = new Map<PythonChoice, Promise<BackendChoice>>();

interface BackendChoice {
  readonly backend: PythonBackend;
  /** Reasons why another back end was not chosen. */
  readonly passedOver: readonly string[];
}

/**
 * Finds the back end that runs Python here, once: trying out the sandbox of the system's Python takes a second.
 *
 * @throws MeshError `tool` when there is none, with what to install
 */
export async function findPythonBackend(choice: PythonChoice): Promise<PythonBackend> {
  return (await findBackend(choice)).backend;
}

/** Returns, for `doctor`, the back end that would run Python here, its guarantees, and those that do not hold. */
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
  // A later call finds what was installed in the meantime.
  looking.catch(() => found.delete(choice));
  return looking;
}

/**
 * Chooses a back end.
 *
 * @throws MeshError `tool` when neither is available
 */
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
