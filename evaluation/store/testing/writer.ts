import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./write-answers.ts', import.meta.url));

/** A separate process that writes answers into the store at `url`. */
export class Writer {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #stdout = '';
  #stderr = '';

  constructor(url: string, name: string, count: number, nodeOptions: readonly string[] = []) {
    this.#child = spawn(process.execPath, [...nodeOptions, SCRIPT, url, name, String(count)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'close');
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
  }

  /** Questions whose answers the store has acknowledged, without a last line that was torn by the end. */
  get acknowledged(): string[] {
    return this.#stdout
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== 'done');
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Waits until everything is written. */
  async done(): Promise<void> {
    await this.#ended;
    if (this.#child.exitCode !== 0)
      throw new Error(`the writer ended with ${this.#child.exitCode}: ${this.#stderr}`);
  }

  /** Kills the process, which is working on the next answer, as soon as `count` answers are acknowledged. */
  async killAfter(count: number): Promise<void> {
    this.#child.stdout?.on('data', () => {
      if (this.acknowledged.length >= count) this.#child.kill('SIGKILL');
    });
    await this.#ended;
    if (this.#child.signalCode !== 'SIGKILL') {
      throw new Error(`the writer was not killed but ended with ${this.#child.exitCode}: ${this.#stderr}`);
    }
  }
}
