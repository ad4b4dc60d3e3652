import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';
import type { BatchEvent } from '../batch/batch.ts';
import type { ReportData } from '../report/page-data.ts';
import { fillPage } from '../report/page-html.ts';
import { printError } from '../terminal/print.ts';
import { formatCommandLine } from '../terminal/shell-word.ts';
import { createResultEvent } from './archived-batch.ts';
import { LiveDetails } from './details.ts';
import { EventFeed } from './event-feed.ts';
import { openInBrowser } from './open-in-browser.ts';
import { PageServer } from './page-server.ts';
import { answerRequest } from './watched-run.ts';

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
  #report: () => Promise<ReportData | undefined> = async () => undefined;

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
    const run = { feed: watch.feed, details: watch.#details, report: () => watch.#report() };
    watch.#server = await PageServer.start(port, (request) =>
      request.path === ''
        ? fillPage({ title, kind: 'run', isListed: false }, true)
        : answerRequest(run, request),
    );
    // The page must not keep a failed command alive.
    watch.#server.unref();
    printError(`watch it at ${watch.#server.url}`);
    if (opens) openInBrowser(watch.#server.url);
    return watch;
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
   * Turns the page into the report, and waits until it is closed.
   *
   * @param signal ends the wait
   */
  async end(
    text: string,
    signal: AbortSignal,
    report?: () => Promise<ReportData | undefined>,
  ): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    if (report !== undefined) this.#report = report;
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
