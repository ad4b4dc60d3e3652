import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { afterEachFile } from '@gaia-mesh/core/testing/after-file.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';

export { temporaryFolder };

/** Runs the command as a user's shell would: a process of its own, its own folder, real pipes. */

/**
 * Maximum wait for a line or an end; it ends a command that hangs, and shows its output. It is long, because several
 * processes may start cold on two busy cores, and below a test's own time limit.
 */
const PATIENCE_MS = 120_000;

export const entry: string = path.join(codeFolder, 'scripts', 'gaia-mesh.js');

const running = new Set<ChildProcess>();

afterEachFile(() => {
  for (const child of running) child.kill('SIGKILL');
});

export interface CliOptions {
  /** The user's folder; an empty one by default. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string;
  /** Maximum wait for the end of a command that works for minutes. */
  readonly patienceMs?: number;
  /** Another command than Node with the entry, e.g. `npm`. */
  readonly program?: string | undefined;
}

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `gaia-mesh` to its end. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return new Cli(args, options).ended(options.patienceMs);
}

/** A running command. It leads a process group, as it would in a terminal. */
export class Cli {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #end: Promise<CliResult>;

  constructor(args: readonly string[], options: CliOptions = {}) {
    const command = options.program ?? process.execPath;
    this.#child = spawn(command, options.program === undefined ? [entry, ...args] : args, {
      cwd: options.cwd ?? temporaryFolder(),
      env: { ...plainEnvironment(), ...options.env },
      detached: true,
      stdio: 'pipe',
    });
    running.add(this.#child);
    // A command that refuses its options ends before it has read its input.
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stdin?.end(options.stdin ?? '');
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.#end = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code, signal) => {
        running.delete(this.#child);
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async ended(patienceMs: number = PATIENCE_MS): Promise<CliResult> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), patienceMs);
    const result = await this.#end;
    clearTimeout(timer);
    return result;
  }

  /** Waits for a pattern on standard error. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
    const look = () => {
      const match = pattern.exec(this.stderr);
      if (match !== null) resolve(match);
    };
    const fail = (why: string) =>
      reject(new Error(`${why}, without ${pattern}:\n${this.stderr}${this.stdout}`));
    this.#child.stderr?.on('data', look);
    const timer = setTimeout(() => fail(`nothing within ${PATIENCE_MS} ms`), PATIENCE_MS);
    void this.#end.then(({ code }) => fail(`it ended with ${code}`));
    look();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#child.stderr?.off('data', look);
    }
  }

  /** Stops reading the output, as a pager does when it quits. */
  hangUp(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** Sends a signal to this process alone. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends a signal to its whole process group, as the terminal does for Ctrl-C. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  /** Returns the agents that the command announced. */
  agents(): { id: string; tool: string; port: number; pid: number }[] {
    const lines = this.stderr.matchAll(
      /agent (\S+) (\S+) +(?:127\.0\.0\.1:(\d+)|nats:\S+ as \S+) +process (\d+)/g,
    );
    return [...lines].map(([, id = '', tool = '', port, pid]) => ({
      id,
      tool,
      port: Number(port ?? 0),
      pid: Number(pid),
    }));
  }
}

/** Returns the environment without variables of npm, the test runner and the user's own settings. */
export function plainEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([key]) =>
      !/^(INIT_CWD|NODE_OPTIONS|NODE_COMPILE_CACHE|NO_COLOR|FORCE_COLOR|GAIA_MESH_.*|npm_.*|VITEST.*|OLLAMA_.*)$/.test(
        key,
      ),
  );
  return Object.fromEntries(kept.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

/** Tells whether a process is running. A zombie, whose exit its parent has not read yet, is not. */
export function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  // The state follows the command's name, which is in brackets and may contain any character.
  if (existsSync('/proc/self/stat')) {
    return existsSync(file) && !/\) Z [^)]*$/.test(readFileSync(file, 'utf8'));
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Occupies a free port, or the given one, until `free` is called. */
export async function takePort(port = 0): Promise<{ port: number; free: () => Promise<void> }> {
  const server = net.createServer();
  return {
    port: await listenOnPlace(server, { port }),
    free: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Parses the JSON objects of a log or a results file, one per line. */
export function jsonLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
