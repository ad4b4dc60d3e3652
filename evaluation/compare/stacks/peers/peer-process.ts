import { spawn } from 'node:child_process';
import path from 'node:path';
import { type ErrorCode, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { AGENT_START_TIMEOUT_MS, AGENT_STOP_TIMEOUT_MS } from '@gaia-mesh/core/contracts/limits.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { ChildCalls } from '@gaia-mesh/core/system/process/child-calls.ts';
import * as z from 'zod';
import {
  answerSchema,
  type Command,
  type CommandOf,
  type Counted,
  connectedSchema,
  countedSchema,
  type Play,
  type PlayResult,
  playedSchema,
  servedSchema,
} from './protocol.ts';

const closedSchema = z.strictObject({});

/** Bytes of a process's standard error that are kept, to show them if it fails. */
const STDERR_BYTES = 4 * 1024;
/** Additional wait for a load that does not end by itself. */
const SLACK_MS = 30_000;

/** A started process that runs one node. */
export class PeerProcess {
  readonly name: string;
  readonly #calls: ChildCalls;
  #stderr = '';

  /** @param name name of the node in messages */
  constructor(name: string) {
    this.name = name;
    const child = spawn(process.execPath, [path.join(codeFolder, 'scripts', 'gaia-mesh.js'), 'peer'], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Ctrl-C reaches only the comparison, which stops its processes in order.
      detached: true,
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES);
    });
    this.#calls = new ChildCalls(child, (why) => this.#failure(why));
    child.on('message', (message) => this.#answered(message));
  }

  /** Serves a stack and returns the address that clients connect to. */
  async serve(command: CommandOf<'serve'>): Promise<z.infer<typeof servedSchema>> {
    return this.#ask({ do: 'serve', ...command }, servedSchema, AGENT_START_TIMEOUT_MS);
  }

  async connect(command: CommandOf<'connect'>): Promise<z.infer<typeof connectedSchema>> {
    return this.#ask({ do: 'connect', ...command }, connectedSchema, AGENT_START_TIMEOUT_MS);
  }

  async play(command: Omit<Play, 'do'>): Promise<PlayResult> {
    const { load } = command;
    const ms = load.kind === 'closed' ? load.maxMs : (load.count / load.ratePerS) * 1000;
    return this.#ask({ do: 'play', ...command }, playedSchema, ms + SLACK_MS);
  }

  async count(): Promise<Counted> {
    return this.#ask({ do: 'count' }, countedSchema, SLACK_MS);
  }

  /** Stops the process after it has closed its stack; kills it if it does not exit. */
  async stop(): Promise<void> {
    await this.#ask({ do: 'close' }, closedSchema, AGENT_STOP_TIMEOUT_MS).catch(() => undefined);
    await this.#calls.stop();
  }

  kill(): void {
    this.#calls.kill();
  }

  async #ask<T>(command: Command, schema: z.ZodType<T>, patienceMs: number): Promise<T> {
    return schema.parse(await this.#calls.ask({ command }, command.do, patienceMs));
  }

  #answered(message: unknown): void {
    const parsed = answerSchema.safeParse(message);
    // A package may have used the channel for its own messages.
    if (!parsed.success) return;
    const call = this.#calls.find(parsed.data.call);
    if (!('failed' in parsed.data)) {
      call?.resolve(parsed.data.value);
      return;
    }
    const { code, message: why } = parsed.data.failed;
    call?.reject(new MeshError(toErrorCode(code), `${this.name}: ${why}`));
  }

  #failure(why: string): MeshError {
    const said = this.#stderr.trim();
    return new MeshError('agent', `${this.name}: ${why}${said === '' ? '' : `; it said:\n${said}`}`);
  }
}

const CODES: readonly ErrorCode[] = [
  'usage',
  'config',
  'io',
  'agent',
  'handshake',
  'frame',
  'packet',
  'limit',
];

/** Converts a code from a process. A bug is not an expected error: it is reported as a failure of the process. */
function toErrorCode(code: string): ErrorCode {
  return CODES.find((known) => known === code) ?? 'agent';
}
