import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { isLinux } from '@gaia-mesh/core/system/platform.ts';
import { awaitChildEnd } from '@gaia-mesh/core/system/process/child-end.ts';
import type { PythonCommand } from './python-interpreter.ts';

/**
 * Python as WebAssembly (Pyodide), in a Node process of its own, on every platform.
 *
 * The code is separated from the machine by three layers, from the inside: the names that lead from Python to
 * JavaScript are removed; behind them is a fresh realm (`node:vm`) that has the language and nothing of Node, so no
 * process, files, sockets or `require`, and in which no text becomes code; around it is a process that may read
 * Pyodide, the code in this folder and the task's files, and may not write or start anything (`--permission`), without
 * the parent's environment variables. Python's memory, JavaScript's heap and written files are bounded separately; the
 * parent's clock ends endless calls.
 *
 * It cannot promise that V8 and Node's `vm` have no fault: only the realm closes the network, which Node 24's
 * permissions do not cover, and signals. Compiled packages (numpy, pandas) and threads are not available.
 */
const HEAP_MEGABYTES = 256;
/** Bounds of the process that only makes a snapshot. */
const SNAPSHOT_MS = 120_000;
const SNAPSHOT_MEGABYTES = 512;
const PAGES_PER_MEGABYTE = 16;
/**
 * Maximum writable memory beside Python's: Node and the compiled code reserve 750 MB (most of it never touched),
 * JavaScript's heap takes 256, files 200, as copies and as written files.
 */
const DATA_MEGABYTES = 1280;
const STDERR_CHARACTERS = 2_000;

/** Code that runs in an interpreter before the user's: a snapshot is valid for one version of it. */
const OWN_CODE = ['python-driver.py', 'python-tables.py', 'python-pyodide.py'];
/** A folder that the next run keeps, as it does compiled code; see CACHE_FOLDER in core/run. */
const CACHE_FOLDER = '.cache';

/** The programs that run beside a user's Python. */
const guestFolder = path.join(import.meta.dirname, 'guest');

/** The guarantees, in the words of `doctor`. */
const GUARANTEES = {
  reads: 'reads the task’s files and Python itself, no other file',
  writes: 'writes to a folder of its own in memory alone, of bounded size',
  network: 'has no network',
  environment: 'sees no variable of the environment',
  processes: 'starts no process',
  signals: 'reaches no other process',
  memory: 'cannot take more memory than it is given',
  kill: 'is gone when it is killed, whatever it does',
} as const;

/** The Python that runs code here. */
export interface Python {
  /** The version of Python. */
  readonly version: string;
  /** Guarantees that hold here, as doctor and the docs word them. */
  readonly guarantees: readonly string[];
  /** Guarantees that do not hold here. */
  readonly missing: readonly string[];
  /** Returns the command that starts an interpreter which sees these files. */
  command(context: PythonRunContext): Promise<PythonCommand>;
}

interface PythonRunContext {
  /** Existing folder of the task's files, read-only to the code; undefined when there are none. */
  readonly files: string | undefined;
  /** The agent's own folder, which the code does not see. */
  readonly workspace: string;
  readonly memoryMegabytes: number;
}

let found: Promise<Python> | undefined;

/**
 * Finds the installed Pyodide, once.
 *
 * @throws MeshError `tool` when the package is not installed
 */
export function findPython(): Promise<Python> {
  if (found === undefined) {
    found = lookForPyodide();
    // A failure is forgotten, so that a later call finds a package that was installed in the meantime.
    found.catch(() => {
      found = undefined;
    });
  }
  return found;
}

async function lookForPyodide(): Promise<Python> {
  const require = createRequire(import.meta.url);
  let folder: string;
  let version: string;
  try {
    folder = path.dirname(require.resolve('pyodide/package.json')) + path.sep;
    const lock: { info?: { python?: string } } = require('pyodide/pyodide-lock.json');
    version = lock.info?.python ?? 'unknown';
  } catch (cause) {
    throw new MeshError(
      'tool',
      `the package pyodide is not installed (${toErrorMessage(cause).split('\n')[0]}): npm install pyodide@314`,
      { cause },
    );
  }
  const isBounded = await canBoundData();
  const { memory, ...others } = GUARANTEES;
  return {
    version,
    guarantees: isBounded ? Object.values(GUARANTEES) : Object.values(others),
    missing: isBounded
      ? []
      : [`${memory} (Python is bounded, but JavaScript’s memory is not, since prlimit is missing)`],
    async command({ files, workspace, memoryMegabytes }: PythonRunContext) {
      const snapshot = await prepareSnapshot(path.join(workspace, CACHE_FOLDER), folder);
      const { program, args, environment } = buildPyodideCommand(
        'serve',
        folder,
        memoryMegabytes,
        snapshot,
        files,
      );
      if (!isBounded) return { program, args, environment };
      const bytes = (memoryMegabytes + DATA_MEGABYTES) * 1024 * 1024;
      return { program: 'prlimit', args: [`--data=${bytes}`, '--core=0', program, ...args], environment };
    },
  };
}

const making = new Map<string, Promise<string>>();

/**
 * Returns the file with the memory of a freshly started interpreter, 30 MB: starting from it takes half a second
 * instead of several. The first interpreter of a workspace makes it; it contains no user's data.
 */
function prepareSnapshot(cache: string, folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of [
    path.join(folder, 'package.json'),
    ...OWN_CODE.map((name) => path.join(guestFolder, name)),
  ]) {
    hash.update(readFileSync(file)).update('\0');
  }
  const file = path.join(cache, `pyodide-${hash.digest('hex').slice(0, 16)}.snapshot`);
  const made =
    making.get(file) ?? (existsSync(file) ? Promise.resolve(file) : makeSnapshot(cache, file, folder));
  making.set(file, made);
  // A failed snapshot is tried again.
  made.catch(() => making.delete(file));
  return made;
}

async function makeSnapshot(cache: string, file: string, folder: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  for (const name of await readdir(cache))
    if (name.endsWith('.snapshot')) await rm(path.join(cache, name), { force: true });
  const { program, args, environment } = buildPyodideCommand(
    'snapshot',
    folder,
    SNAPSHOT_MEGABYTES,
    undefined,
    undefined,
  );
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment,
    timeout: SNAPSHOT_MS,
  });
  const exit = awaitChildEnd(child);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARACTERS);
  });
  const part = `${file}.${process.pid}.part`;
  await pipeline(child.stdout, createWriteStream(part));
  const { code, signal, error } = await exit;
  const how = error?.message ?? signal ?? String(code);
  if (how !== '0') {
    await rm(part, { force: true });
    throw new MeshError('tool', `Pyodide does not start here (${how}): ${stderr.trim()}`);
  }
  // The rename makes the snapshot appear whole or not at all.
  await rename(part, file);
  return file;
}

function buildPyodideCommand(
  task: 'serve' | 'snapshot',
  folder: string,
  memoryMegabytes: number,
  snapshot: string | undefined,
  files: string | undefined,
): PythonCommand {
  const file = fileURLToPath(new URL('./pyodide-child.ts', import.meta.url));
  const code = path.dirname(file);
  const own = [code, guestFolder, ...(files === undefined ? [] : [files])].map((each) => each + path.sep);
  const readable = [...own, folder, snapshot];
  return {
    program: process.execPath,
    args: [
      // Without this flag the child inherits the permissions of this agent through NODE_OPTIONS, and may then do all that
      // the agent may.
      '--permission',
      // Node reads the nearest package.json to find out whether a file is a module.
      ...[...readable, findNearestPackage(code)].flatMap((name) =>
        name === undefined ? [] : [`--allow-fs-read=${name}`],
      ),
      '--disallow-code-generation-from-strings',
      `--max-old-space-size=${HEAP_MEGABYTES}`,
      '--disable-warning=ExperimentalWarning',
      '--experimental-vm-modules',
      '--frozen-intrinsics',
      `--wasm-max-mem-pages=${memoryMegabytes * PAGES_PER_MEGABYTE}`,
      file,
      ...[task, folder, snapshot ?? '', files ?? ''],
    ],
    // Only what is needed to find programs; the parent's keys and secrets stay with the parent.
    environment: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' },
  };
}

function findNearestPackage(folder: string): string {
  const file = path.join(folder, 'package.json');
  const parent = path.dirname(folder);
  return existsSync(file) || parent === folder ? file : findNearestPackage(parent);
}

const PROBE_MS = 10_000;

/**
 * Returns true if a process's writable memory can be bounded, including JavaScript arrays outside its heap: on Linux with
 * util-linux.
 */
async function canBoundData(): Promise<boolean> {
  if (!isLinux) return false;
  try {
    await promisify(execFile)('prlimit', ['--data=100000000', 'true'], { timeout: PROBE_MS });
    return true;
  } catch {
    // A program that is missing or forbidden counts as a guarantee that does not hold.
    return false;
  }
}
