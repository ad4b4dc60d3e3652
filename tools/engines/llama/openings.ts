import { rm } from 'node:fs/promises';
import path from 'node:path';
import { LLAMA_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { LlamaSequence } from './library.ts';

/** The state of the model after an opening, in a file. */
interface Opening {
  readonly tokens: readonly number[];
  readonly file: string;
  readonly bytes: number;
}

/**
 * States of the model after the openings of prompts: the roles of a team take turns, and each would otherwise read its instructions and
 * tools anew. They hold no document and no question.
 */
export class Openings {
  readonly #sequence: LlamaSequence;
  readonly #folder: string;
  /** The one that was used last is the last. */
  #kept: Opening[] = [];
  #count = 0;
  #canKeep = true;

  constructor(sequence: LlamaSequence, folder: string) {
    this.#sequence = sequence;
    this.#folder = folder;
  }

  /** Restores the longest opening of a prompt that is longer than `least`, and returns its tokens; undefined if there is none. */
  async restore(prompt: readonly number[], least: number): Promise<number | undefined> {
    const found = this.#kept
      .filter(({ tokens }) => tokens.length > least && tokens.length < prompt.length)
      .filter(({ tokens }) => tokens.every((token, index) => token === prompt[index]))
      .reduce<Opening | undefined>(
        (best, one) => (one.tokens.length > (best?.tokens.length ?? 0) ? one : best),
        undefined,
      );
    if (found === undefined) return undefined;
    this.#kept = [...this.#kept.filter((one) => one !== found), found];
    await this.#sequence.loadStateFromFile(found.file, { acceptRisk: true });
    return found.tokens.length;
  }

  /** Keeps the state after an opening, and evicts the least recently used ones. */
  async keep(tokens: readonly number[]): Promise<void> {
    const { openings, openingBytes } = LLAMA_LIMITS;
    const isKept = this.#kept.some(
      (one) =>
        one.tokens.length === tokens.length && one.tokens.every((token, index) => token === tokens[index]),
    );
    if (isKept || !this.#canKeep) return;
    this.#count += 1;
    const file = path.join(this.#folder, `${this.#count}.state`);
    try {
      const { fileSize: bytes } = await this.#sequence.saveStateToFile(file);
      this.#kept.push({ tokens, file, bytes });
    } catch {
      // A full disk costs time, and no answer.
      this.#canKeep = false;
      await rm(file, { force: true });
    }
    const sum = () => this.#kept.reduce((all, { bytes }) => all + bytes, 0);
    while (this.#kept.length > openings || sum() > openingBytes) {
      const [oldest] = this.#kept.splice(0, 1);
      if (oldest !== undefined) await rm(oldest.file, { force: true });
    }
  }
}
