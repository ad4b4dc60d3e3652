import { type ErrorCode, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { GaiaResult } from '../results/gaia-result.ts';

/** So many failures in a row by the model or the agents, with no other end between them, are not the questions' fault. */
const MAX_FAILURES_IN_A_ROW = 3;

/**
 * Tells a question that the model or an agent failed at from a model that is gone. A failure of theirs is held back until another
 * question shows that they still work: were it in the journal, a resumed batch would not ask that question again.
 */
export class SharedCause {
  readonly #held: GaiaResult[] = [];
  #error: MeshError | undefined;

  /** The results that may be kept now: none, or this one with those that were held back. */
  judge(result: GaiaResult, code: ErrorCode | undefined): readonly GaiaResult[] {
    if (result.status === 'failed' && code !== undefined && isSuspect(code)) {
      this.#held.push(result);
      if (this.#held.length >= MAX_FAILURES_IN_A_ROW || code === 'store') {
        const times =
          this.#held.length === 1 ? '' : `${this.#held.length} questions in a row failed, the last one: `;
        this.#error ??= new MeshError(code, `${times}${result.reason ?? 'no reason given'}`);
      }
      return [];
    }
    // From the cache, it shows nothing.
    return result.cached ? [result] : [...this.release(), result];
  }

  release(): readonly GaiaResult[] {
    return this.#held.splice(0);
  }

  /** Set when no question can be answered any more. */
  get error(): MeshError | undefined {
    return this.#error;
  }
}

function isSuspect(code: ErrorCode): boolean {
  return code === 'engine' || code === 'agent' || code === 'store';
}
