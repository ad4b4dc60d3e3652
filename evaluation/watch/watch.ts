import type { NewRunEvent } from '@gaia-mesh/core/run/run-event.ts';
import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import type { BatchEvent } from '../batch/batch.ts';
import { toAttemptId } from '../questions/question.ts';
import { fillPage } from '../report/page-html.ts';
import type { ResultFile } from '../report/report.ts';
import { printError } from '../terminal/print.ts';
import { LiveDetails } from './details.ts';
import { EventFeed } from './event-feed.ts';
import { openInBrowser } from './open-in-browser.ts';
import { PageServer } from './page-server.ts';

type Answerer = Parameters<typeof PageServer.start>[1];

/** Milliseconds in which a reloaded page is back. */
const RELOAD_MS = 2_000;
/** Milliseconds in which a browser has opened the page; the run may be shorter. */
const BROWSER_MS = 10_000;

/** A page in the browser that follows a command, and becomes its report at the end. */
export class Watch {
  readonly feed = new EventFeed();
  readonly #details = new LiveDetails();
  readonly #opens: boolean;
  #server: PageServer | undefined;
  #result: ResultFile | undefined;

  private constructor(opens: boolean) {
    this.#opens = opens;
  }

  /**
   * Serves the page and prints its address.
   *
   * @throws MeshError `usage` if the port is taken
   */
  static async start({
    title,
    port,
    opens,
  }: {
    /** Title of the page. */
    readonly title: string;
    /** Port of the page; 0 selects a free one. */
    readonly port: number;
    /** Opens the page in the user's browser; otherwise its address is only printed. */
    readonly opens: boolean;
  }): Promise<Watch> {
    const watch = new Watch(opens);
    watch.#server = await PageServer.start(port, (request) => watch.#answer(title, request));
    // The page must not keep a failed command alive.
    watch.#server.unref();
    printError(`watch it at ${watch.#server.url}`);
    if (opens) openInBrowser(watch.#server.url);
    return watch;
  }

  /** Answers a request of the page; undefined for an unknown path. */
  async #answer(
    title: string,
    { path, query, lastEventId, response }: Parameters<Answerer>[0],
  ): Promise<Awaited<ReturnType<Answerer>>> {
    const read = (name: string) => query.get(name) ?? '';
    switch (path) {
      case '':
        return fillPage({ kind: 'live', title });
      case 'events':
        this.feed.stream(response, lastEventId + 1);
        return 'streams';
      case 'log': {
        const log = await this.#details.log(read('run'), read('agent'));
        const left = log?.isCut ? '… earlier lines will be in the archive\n' : '';
        return { json: log === undefined ? null : `${left}${log.text}` };
      }
      case 'reasoning':
        return { json: (await this.#details.reasoning(read('run'), read('question'))) ?? null };
      case 'packet':
        return { json: (await this.#details.packet(read('run'), read('from'), read('id'))) ?? null };
      case 'report':
        return { json: await this.#readReport() };
      default:
        return undefined;
    }
  }

  async #readReport() {
    if (this.#result === undefined) return null;
    // The modules that build reports are loaded only for a page that is still open at the end.
    const { readReport } = await import('../report/report.ts');
    return readReport(this.#result);
  }

  /** Combines another observer of a run with this watch. */
  beside(other: RunObserver): RunObserver {
    let workspaces = '';
    return {
      began(folder) {
        other.began?.(folder);
        workspaces = folder;
      },
      event: (event) => {
        other.event?.(event);
        if (event.event === 'run_began')
          this.#details.began(
            event.run_id,
            workspaces,
            event.agents.map(({ id }) => id),
          );
        this.feed.add(event);
      },
      relayed: (batch) => {
        other.relayed?.(batch);
        this.feed.relayed(batch);
      },
    };
  }

  /** Passes on the results of a batch: answers of an earlier run or from the cache, and the verdicts of the batch's scorer. */
  batchEvent(event: BatchEvent): void {
    if (event.kind === 'kept' || event.kind === 'finished') this.feed.add(createResultEvent(event.attempt));
    else if (event.kind === 'workers')
      this.feed.add({
        event: 'workers',
        workers: event.workers.map(({ id, slots, running, done }) => ({ id, slots, running, done })),
      });
  }

  note(text: string): void {
    this.feed.add({ event: 'note', text });
  }

  /**
   * Turns the page into the report of the result, and waits until it is closed.
   *
   * @param signal ends the wait
   */
  async end(text: string, signal: AbortSignal, result?: ResultFile): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#result = result;
    this.feed.end(text);
    if (this.#opens || server.isComing(BROWSER_MS)) await server.entered(BROWSER_MS, signal);
    if (server.isWatched && !signal.aborted) {
      printError(
        `the page now shows the report: close it, or press Ctrl-C, to end (${formatCommandLine('view')} opens it again)`,
      );
      await server.left(RELOAD_MS, signal);
    }
    await this.close();
  }

  /** Closes the page without a report, after an error. */
  async close(): Promise<void> {
    this.feed.end('ended');
    await this.#server?.close();
    this.#server = undefined;
  }
}

/** Creates the event of a batch's result. */
function createResultEvent(attempt: Attempt): Extract<NewRunEvent, { event: 'task_ended' }> {
  const { task_id, cycle, status, final_answer, correct, elapsed_ms, reason, cached } = attempt;
  const { tokens, cost } = getUse(attempt);
  return {
    event: 'task_ended',
    task_id: toAttemptId(task_id, cycle),
    status,
    answer: status === 'answered' ? final_answer : null,
    reason,
    elapsed_ms,
    token_sum: tokens,
    correct: correct === null ? null : Number(correct),
    cost_usd: cost,
    cached,
  };
}
