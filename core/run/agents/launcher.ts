import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import type net from 'node:net';
import path from 'node:path';
import * as z from 'zod';
import type { AgentPermissions, AgentSpec } from '../../agent/spec.ts';
import { explainSystemFault, MeshError } from '../../contracts/errors.ts';
import { AGENT_LIMITS } from '../../contracts/limits.ts';
import { awaitChildEnd } from '../../system/process/child-end.ts';
import { waitPatiently } from '../../system/process/patience.ts';
import { openPort } from '../../transports/tcp/tcp-transport.ts';
import { isPermitMessage, type RateLimiter } from '../rate-limiter.ts';
import { buildConfinedCommand } from './confinement.ts';

/**
 * Folder in a workspace for code that Node has compiled: the next run of the same agent starts in half the
 * time. Each agent has its own, since it may write there: no agent's code comes from another's folder.
 */
export const CACHE_FOLDER = '.cache';

/** Bytes of an agent's standard error that are kept, to be shown if it dies. */
const STDERR_BYTES = 8 * 1024;
const TAIL_LINES = 8;
/** Lines of a stack, Node's own native one included. */
const STACK_LINE = /^\s+at |^Node\.js v|^\s*\d+: 0x|^-{3,} .*stack trace -{3,}/;

interface LauncherOptions {
  /** Script that Node runs with the argument `agent`: it waits for the agent's spec on its channel. */
  readonly entry: string;
  /**
   * Folders and files that agents may read: code and packages, but nothing of the user (decided: Node's
   * permission model).
   */
  readonly readable: readonly string[];
  readonly secret: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Advice for the case that a port is in use, for people. */
  readonly portHint?: string;
  /** Grants the agents' requests to model servers, which they share (decided). */
  readonly permits: RateLimiter;
  /** Called once for an agent that ends before it was asked to. */
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
  /** Settles with the port on which the agent listens; 0 if it listens elsewhere. */
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
    // The folder must exist when Node starts: a missing folder counts as a file, and nothing inside may be
    // written.
    const cache = path.join(workspace, CACHE_FOLDER);
    mkdirSync(cache, { recursive: true });
    const { program, args, environment, isOffline } = buildConfinedCommand(
      [
        // Young objects get 16 MB before they are collected, not 1: a collection in the middle of a packet
        // takes longer than the packet.
        '--min-semi-space-size=16',
        '--max-semi-space-size=16',
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
      // The agent gets its own process group: a terminal's Ctrl-C would end one that does not ignore it yet.
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
    // The caller receives a failure; until it waits, the failure must not count as unhandled.
    this.listening.catch(() => undefined);
    void this.#ended.then((how) => {
      if (this.#isOwnEnd) options.onDeath(this, how);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Kills the agent as a fault of the run, which is reported like any other death. */
  kill(): void {
    this.#isShot = this.#child.kill('SIGKILL');
  }

  /** Ends the agent by closing its channel; an agent that does not end is killed. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), AGENT_LIMITS.stopMs);
    await this.#ended;
    clearTimeout(timer);
  }

  /** Sends the spec. A process without a channel has failed to start or has ended, which its end reports. */
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
    const callOff = waitPatiently(AGENT_LIMITS.startMs, () =>
      reject(`it did not listen within ${AGENT_LIMITS.startMs / 1000} s${this.#tail()}`),
    );
    this.#child.on('message', (message) => {
      if (isPermitMessage(message)) return;
      const result = messageSchema.safeParse(message);
      if (!result.success) reject('its first message was not its port');
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

  /** Waits for the process's end and its last output; returns a description of how it ended. */
  async #awaitEnd(): Promise<string> {
    const ended = awaitChildEnd(this.#child);
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES);
    });
    this.#child.on('exit', (code) => {
      // A process that crashed while its crash was ending the run was not ended by this side.
      this.#isOwnEnd = !this.#isStopping || this.#isShot || (code !== 0 && !this.#child.killed);
    });
    const { code, signal, error } = await ended;
    // A process that could not be started has no output.
    if (error !== undefined) return explainSystemFault(error) ?? error.message;
    return describeExit(code, signal) + this.#tail();
  }

  /** Returns the last output: standard error, or else the end of its log. */
  #tail(): string {
    const text = this.#stderr.trim() || readLogEnd(this.#logFile);
    if (text === '') return '';
    // The message of an uncaught error stands above its stack, which would fill the few lines.
    const lines = text
      .split('\n')
      .filter((line) => line.trim() !== '' && !STACK_LINE.test(line))
      .slice(-TAIL_LINES);
    return `; the end of its log:\n${lines.map((line) => `    ${line.slice(0, 300)}`).join('\n')}`;
  }
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === null) return `it ended with exit code ${code}`;
  // Node aborts itself where it can start no thread.
  const why = ' (Node does so without memory, or when no more threads may be started: see ulimit -u)';
  return `it was ended by ${signal}${signal === 'SIGABRT' ? why : ''}`;
}

function readLogEnd(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(-STDERR_BYTES).trim();
  } catch {
    return ''; // The agent died before it wrote a log.
  }
}
