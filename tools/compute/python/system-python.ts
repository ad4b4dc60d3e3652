import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { canHave, namePlatform } from '@gaia-mesh/core/system/platform.ts';
import * as z from 'zod';
import { codeFolder, readPythonCode } from './guest/python-code.ts';
import {
  DESK_BYTES,
  FILE_BYTES,
  GUARANTEES,
  type PythonBackend,
  type PythonRunContext,
} from './python-backend.ts';
import { type PythonCommand, PythonInterpreter } from './python-interpreter.ts';

type Guarantee = keyof typeof GUARANTEES;

/**
 * The system's Python in a sandbox of Linux: namespaces made by `bwrap` or `unshare`, a root with only the system's
 * programs, the interpreter and the task's files (read-only), limits of the process, no rights, and a filter of system
 * calls.
 *
 * It guarantees only what `probeSystemPython` has seen to hold on this machine. It cannot guarantee that the kernel has
 * no fault, since the code speaks to it directly, nor that the files below `/usr` and the interpreter's prefix hold no
 * secrets, since the code can read them; and it bounds the processor only by a call's time limit.
 */
const SANDBOXES = ['bwrap', 'unshare'] as const;
type Sandbox = (typeof SANDBOXES)[number];

interface Interpreter {
  readonly executable: string;
  /** Folders that it needs besides the system's own. */
  readonly prefixes: readonly string[];
  readonly version: string;
}

const PROBE_TIMEOUT_MS = 20_000;
const PROBE_MEGABYTES = 512;

const interpreterSchema = z.object({
  executable: z.string().startsWith('/'),
  prefixes: z.array(z.string().startsWith('/')).min(1),
  version: z.string(),
});
const probeSchema = z.partialRecord(
  z.enum(['reads', 'writes', 'network', 'environment', 'processes', 'signals', 'memory']),
  z.union([z.literal(true), z.string()]),
);

/**
 * Finds a Python and a sandbox, and tries everything that the sandbox must stop.
 *
 * @throws MeshError `tool` when there is none, with what to install
 */
export async function probeSystemPython(): Promise<PythonBackend> {
  if (!canHave('pythonSandbox')) {
    throw new MeshError(
      'tool',
      `the system's Python needs a sandbox of Linux, and this is ${namePlatform()}`,
    );
  }
  const interpreter = await findInterpreter();
  const faults: string[] = [];
  const found: PythonBackend[] = [];
  for (const sandbox of SANDBOXES) {
    try {
      const backend = await tryOut(sandbox, interpreter);
      if (backend.missing.length === 0) return backend;
      found.push(backend);
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      faults.push(`${sandbox}: ${error.message}`);
    }
  }
  // Prefers the sandbox with the fewest missing guarantees.
  const [best] = found.sort((one, other) => one.missing.length - other.missing.length);
  if (best !== undefined) return best;
  throw new MeshError(
    'tool',
    `no sandbox works here (${faults.join('; ')}): install bubblewrap (apt-get install bubblewrap), or allow user namespaces`,
  );
}

async function findInterpreter(): Promise<Interpreter> {
  // `python3` may be a shim that searches HOME: it is resolved once, outside the sandbox, before any user's code runs.
  const script =
    'import json,os,sys; print(json.dumps({"executable": os.path.realpath(sys.executable), "version": sys.version.split()[0], ' +
    '"prefixes": sorted({os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)})}))';
  try {
    const { stdout } = await promisify(execFile)('python3', ['-I', '-B', '-c', script], {
      timeout: PROBE_TIMEOUT_MS,
    });
    const { executable, prefixes, version } = interpreterSchema.parse(JSON.parse(stdout));
    const unfit = prefixes.find((prefix) => isTooWide(prefix));
    if (unfit !== undefined)
      throw new MeshError('tool', `the system's Python lives in ${unfit}, which holds more than Python`);
    return { executable, prefixes, version };
  } catch (cause) {
    if (cause instanceof MeshError) throw cause;
    throw new MeshError(
      'tool',
      `no python3 works here (${takeFirstLine(toErrorMessage(cause))}): install Python 3.8 or newer`,
      { cause },
    );
  }
}

/** Tells whether a folder that the code would see contains the user's own files. */
function isTooWide(prefix: string): boolean {
  const home = process.env.HOME ?? '/root';
  return prefix === '/' || prefix === home || home.startsWith(prefix + path.sep);
}

/** Tries one sandbox and returns it with the guarantees that hold in it. */
async function tryOut(sandbox: Sandbox, interpreter: Interpreter): Promise<PythonBackend> {
  const command = (context: PythonRunContext) =>
    Promise.resolve(buildPythonCommand(sandbox, interpreter, context));
  const listener = createServer((socket) => socket.destroy());
  const port = await awaitListening(listener);
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  try {
    const place = { files: codeFolder, workspace: '', memoryMegabytes: PROBE_MEGABYTES };
    const started = await PythonInterpreter.start(await command(place), signal);
    try {
      const probe = {
        hidden: [
          process.execPath,
          process.env.HOME ?? '/root',
          process.cwd(),
          '/etc/passwd',
          '/proc',
          '/sys',
          codeFolder,
        ],
        prefixes: interpreter.prefixes,
        pid: process.pid,
        port,
        memory: PROBE_MEGABYTES * 1024 * 1024,
      };
      const code = `probe = ${JSON.stringify(JSON.stringify(probe))}\n${readPythonCode('python-probe.py')}`;
      const { output } = await started.interpreter.run(
        { do: 'cell', code },
        { timeoutMs: PROBE_TIMEOUT_MS, signal },
      );
      const seen = parseProbe(output);
      const names = Object.keys(GUARANTEES).filter((name): name is Guarantee => name in GUARANTEES);
      const holds = (name: Guarantee) => name === 'kill' || seen[name] === true;
      return {
        name: 'system',
        version: started.version,
        guarantees: names.filter(holds).map((name) => GUARANTEES[name]),
        missing: names
          .filter((name) => !holds(name))
          .map(
            (name) =>
              `${GUARANTEES[name]} (${(name === 'kill' ? undefined : seen[name]) ?? 'not seen to hold'})`,
          ),
        command,
      };
    } finally {
      await started.interpreter.stop();
    }
  } finally {
    listener.close();
  }
}

function parseProbe(output: string): z.infer<typeof probeSchema> {
  const last = output.trim().split('\n').at(-1) ?? '';
  try {
    return probeSchema.parse(JSON.parse(last));
  } catch (cause) {
    throw new MeshError('tool', `its probe failed: ${output.slice(-500)}`, { cause });
  }
}

async function awaitListening(server: Server): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', resolve).unref();
  await promise;
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function buildPythonCommand(
  sandbox: Sandbox,
  { executable, prefixes }: Interpreter,
  context: PythonRunContext,
): PythonCommand {
  const memoryBytes = context.memoryMegabytes * 1024 * 1024;
  const source = ['python-driver.py', 'python-tables.py', 'python-system.py'].map(readPythonCode).join('\n');
  const python = [
    executable,
    '-I',
    '-B',
    '-X',
    'utf8',
    '-c',
    source,
    String(memoryBytes),
    String(FILE_BYTES),
  ];
  const environment = Object.entries({
    PATH: '/usr/bin:/bin',
    HOME: '/desk',
    TMPDIR: '/desk',
    LANG: 'C.UTF-8',
    // Each OpenBLAS thread takes as much memory as a small program.
    OPENBLAS_NUM_THREADS: '1',
    MPLBACKEND: 'Agg',
    MPLCONFIGDIR: '/desk',
  });
  // The parent's PATH finds the sandbox; the environment inside is separate.
  const outside = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
  if (sandbox === 'bwrap') {
    return {
      program: 'bwrap',
      args: [...buildBwrapArgs(prefixes, environment, context), '--', ...python],
      environment: outside,
    };
  }
  return {
    program: 'setpriv',
    args: [
      // The sandbox ends with the agent even when the agent is killed.
      ...[
        '--pdeathsig',
        'KILL',
        'unshare',
        '--user',
        '--map-root-user',
        '--mount',
        '--pid',
        '--net',
        '--ipc',
        '--uts',
      ],
      ...['--fork', '--kill-child', 'env', '-i', ...environment.map(([name, value]) => `${name}=${value}`)],
      ...['sh', '-c', readPythonCode('sandbox-setup.sh'), 'sh', context.files ?? '', String(DESK_BYTES)],
      ...[String(prefixes.length), ...prefixes, ...python],
    ],
    environment: outside,
  };
}

/** Returns the arguments of bubblewrap that do the same as sandbox-setup.sh. */
function buildBwrapArgs(
  prefixes: readonly string[],
  environment: readonly [string, string][],
  { files }: PythonRunContext,
): string[] {
  const devices = ['null', 'zero', 'full', 'random', 'urandom'].map((name) => `/dev/${name}`);
  return [
    ...[
      '--unshare-all',
      '--die-with-parent',
      '--new-session',
      '--as-pid-1',
      '--cap-drop',
      'ALL',
      '--clearenv',
    ],
    ...environment.flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--size', '1048576', '--tmpfs', '/'],
    ...['--ro-bind', '/usr', '/usr'],
    // These are links to /usr on most systems, and folders of their own on others.
    ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap((folder) => [
      '--ro-bind-try',
      folder,
      folder,
    ]),
    ...prefixes
      .filter((prefix) => !`${prefix}/`.startsWith('/usr/'))
      .flatMap((prefix) => ['--ro-bind', prefix, prefix]),
    ...[
      '--ro-bind-try',
      '/etc/alternatives',
      '/etc/alternatives',
      '--ro-bind-try',
      '/etc/ld.so.cache',
      '/etc/ld.so.cache',
    ],
    ...devices.flatMap((device) => ['--dev-bind', device, device]),
    ...(files === undefined ? ['--dir', '/files'] : ['--ro-bind', files, '/files']),
    ...['--size', String(DESK_BYTES), '--perms', '0700', '--tmpfs', '/desk', '--symlink', 'desk', '/tmp'],
    ...['--remount-ro', '/', '--chdir', '/desk'],
  ];
}

function takeFirstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
