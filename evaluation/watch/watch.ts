import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';
import type { BatchEvent } from '../batch/batch.ts';
import type { ReportData } from '../report/report-html.ts';
import { watchHtml } from '../report/watch-html.ts';
import { printError } from '../terminal/print.ts';
import { LiveDetails } from './details.ts';
import { EventFeed } from './event-feed.ts';
import { combineObservers } from './observed-by.ts';
import { openInBrowser } from './open-in-browser.ts';
import { PageServer } from './page-server.ts';
import { createBatchFeed, createRunFeed } from './run-events.ts';
import { answerRequest } from './watched-run.ts';

/** A page that is loaded again is back by then. */
const RELOAD_MS = 2_000;
/** A browser that was told to open the page, or has begun to, has it by then; the run may be shorter. */
const BROWSER_MS = 10_000;

interface WatchOptions {
  /** What is watched, for the title. */
  readonly title: string;
  /** 0: any free one. */
  readonly port: number;
  /** In the user's browser; else its address is printed, and that is all. */
  readonly opens: boolean;
}

/** A page in the browser that follows what a command does, and is its report in the end. */
export class Watch {
  readonly feed = new EventFeed();
  readonly #details = new LiveDetails();
  readonly #batchEvents = createBatchFeed(this.feed);
  readonly #opens: boolean;
  #server: PageServer | undefined;
  #report: () => Promise<ReportData | undefined> = async () => undefined;

  private constructor(opens: boolean) {
    this.#opens = opens;
  }

  /** Serves the page, and prints where. @throws MeshError `usage` where the port is taken */
  static async start({ title, port, opens }: WatchOptions): Promise<Watch> {
    const watch = new Watch(opens);
    const page = watchHtml({ title, kind: 'run', isListed: false });
    const run = { feed: watch.feed, details: watch.#details, report: () => watch.#report() };
    watch.#server = await PageServer.start(port, (request) =>
      request.path === '' ? page : answerRequest(run, request),
    );
    // Whatever goes wrong with the command: the page does not keep it.
    watch.#server.unref();
    printError(`watch it at ${watch.#server.url}`);
    if (opens) openInBrowser(watch.#server.url);
    return watch;
  }

  /** Whoever else observes a run, and this watch. */
  beside(other: RunObserver, questions: number | null): RunObserver {
    const learns: RunObserver = {
      began: ({ runId, workspaces, agents }) =>
        this.#details.began(
          runId,
          workspaces,
          agents.map(({ id }) => id),
        ),
    };
    return combineObservers(other, learns, createRunFeed(this.feed, questions));
  }

  batchEvent(event: BatchEvent): void {
    this.#batchEvents(event);
  }

  note(text: string): void {
    this.feed.add({ kind: 'note', text });
  }

  /**
   * The command has done its work: the page is its report now, for as long as somebody has it open.
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
        'the page is the report now: close it, or press Ctrl-C, to end (npm run view opens it again)',
      );
      await server.left(RELOAD_MS, signal);
    }
    await this.close();
  }

  /** Without a report: something went wrong. */
  async close(): Promise<void> {
    this.feed.end('ended');
    await this.#server?.close();
    this.#server = undefined;
  }
}
