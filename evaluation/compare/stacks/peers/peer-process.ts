import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { type ErrorCode, explainSystemFault, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { AGENT_START_TIMEOUT_MS, AGENT_STOP_TIMEOUT_MS } from '@gaia-mesh/core/contracts/limits.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { awaitChildEnd } from '@gaia-mesh/core/system/process/child-end.ts';
import { waitPatiently } from '@gaia-mesh/core/system/process/patience.ts';
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

interface Call {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: MeshError) => void;
}

/** A started process that runs one node. */
export class PeerProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #calls = new Map<number, Call>();
  #call = 0;
  #stderr = '';

  /** @param name name of the node in messages */
  constructor(name: string) {
    this.name = name;
    this.#child = spawn(process.execPath, [path.join(codeFolder, 'scripts', 'gaia-mesh.js'), 'peer'], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Ctrl-C reaches only the comparison, which stops its processes in order.
      detached: true,
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES);
    });
    this.#ended = awaitChildEnd(this.#child).then(({ code, signal, error }) =>
      error === undefined ? (signal ?? `exit code ${code}`) : (explainSystemFault(error) ?? error.message),
    );
    void this.#ended.then((how) => {
      for (const { reject } of this.#calls.values()) reject(this.#failure(`it ended: ${how}`));
      this.#calls.clear();
    });
    this.#child.on('message', (message) => this.#answered(message));
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
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.kill(), AGENT_STOP_TIMEOUT_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #ask<T>(command: Command, schema: z.ZodType<T>, patienceMs: number): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (!this.#child.connected) throw this.#failure('its channel is closed');
    this.#call += 1;
    const call = this.#call;
    this.#calls.set(call, { resolve, reject });
    // A failed send needs no handling: the process's exit rejects the call with its reason.
    this.#child.send({ call, command }, () => undefined);
    const callOff = waitPatiently(patienceMs, () =>
      reject(this.#failure(`no answer to "${command.do}" within ${Math.round(patienceMs / 1000)} s`)),
    );
    try {
      return schema.parse(await promise);
    } finally {
      callOff();
      this.#calls.delete(call);
    }
  }

  #answered(message: unknown): void {
    const parsed = answerSchema.safeParse(message);
    // A package may have used the channel for its own messages.
    if (!parsed.success) return;
    const call = this.#calls.get(parsed.data.call);
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
