import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import type net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { AgentPermissions, AgentSpec } from '../../agent/spec.ts';
import { explainShortage, MeshError } from '../../contracts/errors.ts';
import { AGENT_START_TIMEOUT_MS, AGENT_STOP_TIMEOUT_MS } from '../../contracts/limits.ts';
import { waitPatiently } from '../../system/process/patience.ts';
import { openPort } from '../../transports/tcp/tcp-transport.ts';
import { isPermitMessage, type RateLimiter } from '../rate-limiter.ts';
import { buildConfinedCommand } from './confinement.ts';

/**
 * In a workspace: code that Node has compiled, kept for the next run of the same agent, which starts in half the time. Each
 * agent has its own, since it may write there: nobody's code comes from another's folder.
 */
export const CACHE_FOLDER = '.cache';

/** Bytes of an agent's standard error that are kept, to be shown if it dies. */
const STDERR_BYTES = 8 * 1024;
const TAIL_LINES = 8;
/** What a process wrote before its end comes within this time. */
const LAST_WORDS_MS = 200;

interface LauncherOptions {
  /** The file that Node runs with `agent` as its argument: it waits for the agent's spec on its channel. */
  readonly entry: string;
  /** Folders and files that agents may read: code and packages, nothing of the user's (decided: Node's permission model). */
  readonly readable: readonly string[];
  readonly secret: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What to do where a port is in use, for people. */
  readonly portHint?: string;
  /** Who grants the agents their requests to model servers: they share the servers (decided). */
  readonly permits: RateLimiter;
  /** Called once for an agent that ends before it was told to. */
  readonly onDeath: (agent: AgentProcess, how: string) => void;
}

const messageSchema = z.union([
  z.object({ listening: z.int().nonnegative() }),
  z.object({ failed: z.string() }),
]);

/** A started agent. */
export class AgentProcess {
  readonly id: string;
  readonly tool: string;
  /** Settles with the port that the agent listens on; 0 for one that listens elsewhere. */
  readonly listening: Promise<number>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #logFile: string;
  #stderr = '';
  #isStopping = false;
  #isOwnEnd = true;
  #isShot = false;

  constructor(spec: AgentSpec, permissions: AgentPermissions, options: LauncherOptions) {
    const { place, workspace } = spec;
    this.id = spec.id;
    this.tool = spec.tool;
    this.#logFile = path.join(workspace, 'agent.log');
    // It must be there when Node starts: a folder that is not counts as a file, and nothing in it may be written.
    const cache = path.join(workspace, CACHE_FOLDER);
    mkdirSync(cache, { recursive: true });
    const { program, args, environment, isOffline } = buildConfinedCommand(
      [
        // Young objects get 16 MB before they are collected, not 1: a collection in the middle of a packet takes longer than the packet.
        '--min-semi-space-size=16',
        // No more than that, and all is collected when it has grown by half, not to four times: an agent that had worked through
        // a thousand tasks held nearly twice the memory. It costs a twentieth of the tasks per second.
        '--max-semi-space-size=16',
        '--heap-growing-percent=50',
        options.entry,
        'agent',
      ],
      permissions,
      options.readable,
      workspace,
      options.environment,
    );
    this.#child = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // A process group of its own: a terminal's Ctrl-C would end an agent that has not got as far as ignoring it.
      detached: true,
      env: { ...environment, GAIA_MESH_SECRET: options.secret, NODE_COMPILE_CACHE: cache },
    });
    options.permits.serve(this.#child);
    this.#ended = this.#awaitEnd();
    const { promise: noPort, reject: refuse } = Promise.withResolvers<never>();
    if (isOffline && 'port' in place) {
      openPort(place.port).then(
        (server) => this.#tell(spec, server),
        (error: MeshError) => refuse(error.message + (options.portHint ?? '')),
      );
    } else {
      this.#tell(spec);
    }
    this.listening = this.#awaitPort(noPort);
    // Whoever awaits it hears of a failure; until then it must not count as unhandled.
    this.listening.catch(() => undefined);
    void this.#ended.then((how) => {
      if (this.#isOwnEnd) options.onDeath(this, how);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Kills it as a fault of the run, which is reported as any other death. */
  kill(): void {
    this.#isShot = this.#child.kill('SIGKILL');
  }

  /** Ends it: the launcher's channel closes, which an agent takes as its end; one that does not is killed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), AGENT_STOP_TIMEOUT_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  /** One that could not be started has no channel; of that, or that it has ended already, is heard by its end. */
  #tell(spec: AgentSpec, server?: net.Server): void {
    if (this.#child.pid === undefined || !this.#child.connected) {
      server?.close();
      return;
    }
    server?.on('connection', (socket) => socket.destroy());
    this.#child.send(spec, server, () => server?.close());
  }

  async #awaitPort(noPort: Promise<never>): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const callOff = waitPatiently(AGENT_START_TIMEOUT_MS, () =>
      reject(`it did not listen within ${AGENT_START_TIMEOUT_MS / 1000} s${this.#tail()}`),
    );
    this.#child.on('message', (message) => {
      if (isPermitMessage(message)) return;
      const result = messageSchema.safeParse(message);
      if (!result.success) reject('it said something else than its port');
      else if ('listening' in result.data) resolve(result.data.listening);
      else reject(result.data.failed);
    });
    void this.#ended.then(reject);
    noPort.catch(reject);
    try {
      return await promise;
    } catch (why) {
      this.#isStopping = true;
      this.#child.kill('SIGKILL');
      throw new MeshError('agent', `agent ${this.id} (${this.tool}) did not come up: ${why}`);
    } finally {
      callOff();
    }
  }

  /** Waits for the process's end, and for the last it said; how it ended, in words. */
  async #awaitEnd(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const { stderr } = this.#child;
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES);
    });
    this.#child.on('error', (error) => {
      // Of one that was started the end is heard; this may be a message that came too late for it.
      if (this.#child.pid === undefined) resolve(explainShortage(error) ?? error.message);
    });
    // Not `close`: Node does not emit it for a child whose channel was closed on this side.
    this.#child.on('exit', (code, signal) => {
      // One that crashed while the run was ending because of that very crash was not ended by this side.
      this.#isOwnEnd = !this.#isStopping || this.#isShot || (code !== 0 && !this.#child.killed);
      resolve(describeExit(code, signal));
    });
    const how = await promise;
    // One that could not be started has none.
    if (stderr?.readableEnded === false) {
      await Promise.race([once(stderr, 'close'), sleep(LAST_WORDS_MS, undefined, { ref: false })]);
    }
    return how + this.#tail();
  }

  /** The last it said: its standard error, else the end of its log. */
  #tail(): string {
    const text = this.#stderr.trim() || readLogEnd(this.#logFile);
    if (text === '') return '';
    // The message of an uncaught error stands above its stack, which would fill the few lines.
    const lines = text
      .split('\n')
      .filter((line) => line.trim() !== '' && !/^\s+at |^Node\.js v/.test(line))
      .slice(-TAIL_LINES);
    return `; the end of its log:\n${lines.map((line) => `    ${line.slice(0, 300)}`).join('\n')}`;
  }
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
}

function readLogEnd(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(-STDERR_BYTES).trim();
  } catch {
    return ''; // It died before it had a log.
  }
}
