import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, onTestFinished } from 'vitest';
import { MeshError } from '../../../contracts/errors.ts';
import { awaitChildEnd } from '../../../system/process/child-end.ts';
import { guard } from '../../../system/process/guard.ts';

/** Time limit for a server's start. */
const START_TIMEOUT_MS = 10_000;
/** Maximum characters of a server's output that are kept, to be shown if it does not come up. */
const MAX_OUTPUT_CHARACTERS = 64 * 1024;

const PROGRAM = 'nats-server';

/** Returns true if the program is installed on this machine. */
function hasNatsServer(): boolean {
  return spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** A NATS server that this process starts on a free port of the loopback address. */
class NatsServerProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess, ended: Promise<unknown>, url: string) {
    this.#child = child;
    this.#ended = ended;
    this.url = url;
  }

  /** @throws MeshError `io` when it is not installed, or does not come up */
  static async start({
    config = '',
  }: {
    /** Additional lines of its configuration file. */
    readonly config?: string;
  } = {}): Promise<NatsServerProcess> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-nats-'));
    const file = path.join(folder, 'nats.conf');
    // Options would override the file, so the listening address belongs to the file, too.
    writeFileSync(file, `host: 127.0.0.1\nport: -1\n${config}\n`);
    // The server gets its own process group: a terminal's Ctrl-C would otherwise end it before its clients.
    const child = spawn(PROGRAM, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    const ended = awaitChildEnd(child);
    void ended.then(guard({ pid: child.pid }));
    try {
      return new NatsServerProcess(child, ended, await awaitListening(child));
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

async function awaitListening(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = '';
  const fail = (why: string) =>
    reject(new MeshError('io', `${PROGRAM} ${why}${said === '' ? '' : `:\n${said}`}`));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_OUTPUT_CHARACTERS);
    const port = /Listening for client connections on 127\.0\.0\.1:(\d+)/.exec(said)?.[1];
    if (port !== undefined && said.includes('Server is ready')) resolve(`nats://127.0.0.1:${port}`);
  });
  child.once('error', ({ message }) => fail(`cannot be started: ${message}`));
  child.once('exit', (code) => fail(`ended with ${code}`));
  const timer = setTimeout(
    () => fail(`did not listen within ${START_TIMEOUT_MS / 1000} s`),
    START_TIMEOUT_MS,
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Skips the tests of a file that need a real server if the program is missing; with `CI=true` they fail. */
export function needNatsServer(): void {
  const isThere = hasNatsServer();
  const message = 'no nats-server on the search path (Debian: apt-get install nats-server)';
  if (!isThere && process.env.CI !== 'true') console.warn(`skipped: ${message}`);
  beforeEach((context) => {
    if (isThere) return;
    if (process.env.CI === 'true') throw new Error(message);
    context.skip(message);
  });
}

/** Starts a server that ends with the test. */
export async function realServer(
  ...options: Parameters<typeof NatsServerProcess.start>
): Promise<NatsServerProcess> {
  const server = await NatsServerProcess.start(...options);
  onTestFinished(() => server.stop());
  return server;
}
