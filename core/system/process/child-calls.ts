import type { ChildProcess } from 'node:child_process';
import { explainSystemFault, type MeshError } from '../../contracts/errors.ts';
import { AGENT_LIMITS } from '../../contracts/limits.ts';
import { awaitChildEnd } from './child-end.ts';
import { waitPatiently } from './patience.ts';

interface Call {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: MeshError) => void;
}

/** Numbered calls to a child process over its channel. The child answers each, or it is rejected after its time or at the child's end. */
export class ChildCalls {
  readonly #child: ChildProcess;
  readonly #fail: (why: string) => MeshError;
  readonly #ended: Promise<void>;
  readonly #calls = new Map<number, Call>();
  #last = 0;

  /** @param fail creates the error of a call that the child did not answer */
  constructor(child: ChildProcess, fail: (why: string) => MeshError) {
    this.#child = child;
    this.#fail = fail;
    this.#ended = awaitChildEnd(child).then(({ code, signal, error }) => {
      const how =
        error === undefined ? (signal ?? `exit code ${code}`) : (explainSystemFault(error) ?? error.message);
      for (const { reject } of this.#calls.values()) reject(fail(`it ended: ${how}`));
      this.#calls.clear();
    });
  }

  /** @param what the call in words, for the message of one that is out of time */
  async ask(message: object, what: string, patienceMs: number): Promise<unknown> {
    if (!this.#child.connected) throw this.#fail('its channel is closed');
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#last += 1;
    const call = this.#last;
    this.#calls.set(call, { resolve, reject });
    // A failed send needs no handling: the process's end rejects the call with its reason.
    this.#child.send({ call, ...message }, () => undefined);
    const callOff = waitPatiently(patienceMs, () =>
      reject(this.#fail(`no answer to "${what}" within ${Math.round(patienceMs / 1000)} s`)),
    );
    try {
      return await promise;
    } finally {
      callOff();
      this.#calls.delete(call);
    }
  }

  /** Finds a call that waits for its answer. */
  find(call: number): Call | undefined {
    return this.#calls.get(call);
  }

  /** Closes the channel, and kills the process if it does not exit then. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.kill(), AGENT_LIMITS.stopMs);
    await this.#ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
