import type { SingleBar } from 'cli-progress';
import { printError } from './print.ts';
import { toOneLine } from './table.ts';

/** Share of progress between two lines, when standard error is not a terminal. */
const SHARE_OF_A_LINE = 0.1;
/** Columns of one of the counts beside the bar. */
const MAX_COUNT_COLUMNS = 60;
const CLEAR_LINE = '\r\u001b[K';

/**
 * Shows the progress of a long operation on standard error: a bar on a terminal, otherwise a line every tenth of the way, each
 * with the estimated time left. Notes appear above the bar.
 */
export class ProgressBar {
  #total: number;
  readonly #noun: string;
  readonly #bar: SingleBar | undefined;
  readonly #startMs = performance.now();
  #done = 0;
  #said = 0;

  /** @param noun the counted items, in the plural; `%` if the total is 100 % */
  static async start(total: number, noun: string): Promise<ProgressBar> {
    if (!process.stderr.isTTY) return new ProgressBar(total, noun, undefined);
    const { Presets, SingleBar: Bar } = await import('cli-progress');
    const format = `  {bar} ${formatDone('{value}', '{total}', noun)}{counts}{left}`;
    // Redraw the bar below a note, even if it has not changed.
    const options = { format, stream: process.stderr, hideCursor: true, forceRedraw: true };
    const bar = new Bar(options, Presets.shades_classic);
    bar.start(total, 0, { counts: '', left: '' });
    return new ProgressBar(total, noun, bar);
  }

  private constructor(total: number, noun: string, bar: SingleBar | undefined) {
    this.#total = total;
    this.#noun = noun;
    this.#bar = bar;
  }

  /** Advances by one. `counts` are shown beside the bar, such as `3 answered`. */
  advance(...counts: readonly string[]): void {
    this.at(this.#done + 1, ...counts);
  }

  /** Sets the number of finished items, which may be fractional. */
  at(done: number, ...counts: readonly string[]): void {
    this.#done = Math.min(Math.max(done, 0), this.#total);
    const left = this.#left();
    this.#bar?.update(this.#done, {
      counts: counts.map((text) => ` · ${toOneLine(text, MAX_COUNT_COLUMNS)}`).join(''),
      left: left === undefined ? '' : ` · ${left}`,
    });
    const isDue = Math.floor(this.#done / this.#step) > Math.floor(this.#said / this.#step);
    if (this.#bar !== undefined || !isDue) return;
    this.#said = this.#done;
    const parts = [formatDone(Math.floor(this.#done), this.#total, this.#noun), ...counts];
    printError([...parts, ...(left === undefined ? [] : [left])].join(', '));
  }

  /** Changes the number of items, for example when more turn out to be needed. */
  set total(total: number) {
    this.#total = total;
    this.#bar?.setTotal(total);
  }

  /** Prints a note above the bar. */
  note(text: string): void {
    if (this.#bar === undefined) {
      printError(text);
      return;
    }
    process.stderr.write(CLEAR_LINE);
    printError(text);
    this.#bar.render();
  }

  end(): void {
    this.#bar?.stop();
  }

  get #step(): number {
    return Math.max(1, Math.ceil(this.#total * SHARE_OF_A_LINE));
  }

  /** Returns the estimated time left; undefined at the end, or shortly before it. */
  #left(): string | undefined {
    if (this.#done === 0) return undefined;
    const elapsedS = (performance.now() - this.#startMs) / 1000;
    return formatRemaining((elapsedS / this.#done) * (this.#total - this.#done));
  }
}

const formatDone = (done: number | string, total: number | string, noun: string): string =>
  noun === '%' ? `${done} % done` : `${done}/${total} ${noun}`;

/** Formats a duration: `about 40 s left`; undefined below a second. */
function formatRemaining(seconds: number): string | undefined {
  if (!(seconds >= 1)) return undefined;
  return `about ${seconds < 100 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`} left`;
}
