import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import { awaitChildEnd } from '@gaia-mesh/core/system/process/child-end.ts';
import { guard } from '@gaia-mesh/core/system/process/guard.ts';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { readJsonLines } from '../stdio/lines.ts';
import { readForeignMessage } from './foreign-messages.ts';

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The child's complete environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** The folder in which it starts. */
  readonly folder: string;
  /** Maximum bytes of a message that is read from it. */
  readonly maxMessageBytes: number;
}

/** Maximum length of the end of standard error that is kept, to show why a server ended. */
const MAX_LAST_WORDS = 2000;
/**
 * Maximum bytes that wait for a server to read them. Above it nothing more is read from the server, so that one
 * that asks without end and reads no answer fills no memory.
 */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** Time for a server to end after its pipe was closed; afterwards it is killed. */
const END_PATIENCE_MS = 2000;

/** Any JSON object is accepted here, as the SDK's own error would only describe the expected shape. */
const messageSchema = z.custom<JSONRPCMessage>((value) => typeof value === 'object' && value !== null);

/**
 * A foreign server in a child process: its environment has only the named variables and none of this process, its
 * lines have a bounded length, and its process group ends with this process, even after a crash.
 */
export class ChildTransport implements Transport {
  onclose = (): void => undefined;
  onerror = (_error: Error): void => undefined;
  onmessage = (_message: JSONRPCMessage): void => undefined;
  readonly #command: ChildCommand;
  #child: ChildProcessWithoutNullStreams | undefined;
  #draining: Promise<void> | undefined;
  #ended: Promise<void> | undefined;
  /** The end of its standard error, and of the lines that are no messages. */
  lastWords = '';

  constructor(command: ChildCommand) {
    this.#command = command;
  }

  async start(): Promise<void> {
    const { command, args, environment, folder } = this.#command;
    // Node passes an agent's permissions on in this variable, with which a server in Node could not read its
    // own code.
    const child = spawn('env', ['-u', 'NODE_OPTIONS', '--', command, ...args], {
      cwd: folder,
      env: environment,
      detached: true,
    });
    this.#child = child;
    const ended = awaitChildEnd(child);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.lastWords = (this.lastWords + text).slice(-MAX_LAST_WORDS);
    });
    child.stdin.on('error', (error) => this.onerror(error));
    try {
      await once(child, 'spawn');
    } catch (cause) {
      throw new MeshError('config', `MCP: ${command} cannot be started: ${toErrorMessage(cause)}`, { cause });
    }
    const release = guard({ pid: -Number(child.pid) });
    void this.#read(child);
    this.#ended = ended.then(() => {
      // Its own children are in its process group, unless they have left it.
      killGroup(child);
      release();
      this.onclose();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin?.writable !== true) throw new MeshError('agent', 'MCP: the server is gone');
    if (!stdin.write(`${formatForeignJson(message)}\n`)) await this.#waitForDrain(stdin);
  }

  /** Bytes that the server has not read. */
  get unreadBytes(): number {
    return this.#child?.stdin.writableLength ?? 0;
  }

  /** Waits until the server has read everything, or is gone. All waiters share one promise. */
  #waitForDrain(stdin: Writable): Promise<void> {
    this.#draining ??= new Promise((resolve) => {
      const drained = () => {
        stdin.off('drain', drained);
        stdin.off('close', drained);
        this.#draining = undefined;
        resolve();
      };
      stdin.on('drain', drained);
      stdin.on('close', drained);
    });
    return this.#draining;
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const timer = setTimeout(() => killGroup(child), END_PATIENCE_MS);
    child.stdin.end();
    await this.#ended;
    clearTimeout(timer);
  }

  async #read(child: ChildProcessWithoutNullStreams): Promise<void> {
    try {
      for await (const line of readJsonLines(child.stdout, this.#command.maxMessageBytes)) {
        if (line.trim() === '') continue;
        let value: unknown;
        try {
          value = readForeignMessage(line);
        } catch {
          // Some print a greeting first.
          this.lastWords = `${this.lastWords}${line.slice(0, MAX_LAST_WORDS)}\n`.slice(-MAX_LAST_WORDS);
          continue;
        }
        const { success, data } = messageSchema.safeParse(value);
        if (success) this.onmessage(data);
        if (this.unreadBytes > MAX_UNREAD_BYTES && child.stdin.writable)
          await this.#waitForDrain(child.stdin);
      }
    } catch (error) {
      if (hasEnded(child)) return;
      this.onerror(error instanceof Error ? error : new Error(toErrorMessage(error)));
      killGroup(child);
    }
  }
}

/** Kills a child together with the processes that it started. */
function killGroup(child: ChildProcessWithoutNullStreams): void {
  try {
    process.kill(-Number(child.pid), 'SIGKILL');
  } catch {
    // None is left, or the system has no groups.
    child.kill('SIGKILL');
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcessWithoutNullStreams): boolean {
  return exitCode !== null || signalCode !== null;
}
