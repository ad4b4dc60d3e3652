import type { ServerResponse } from 'node:http';
import type { ReportData } from '../report/report-html.ts';
import type { Details } from './details.ts';
import type { EventFeed } from './event-feed.ts';
import type { Answer, PageRequest } from './page-server.ts';

/** What a page shows: what happens, what can be opened of it, and what it came to. */
export interface WatchedRun {
  readonly feed: EventFeed;
  readonly details: Details;
  /** Of a run that is over; undefined where there is nothing but what the page shows already. */
  readonly report: () => Promise<ReportData | undefined>;
}

/** Answers what the page of one run asks for; undefined for anything else. */
export async function answerRequest(
  { feed, details, report }: WatchedRun,
  { path, query, lastEventId, response }: PageRequest,
  name = path,
): Promise<Answer | undefined> {
  const asked = (name: string) => query.get(name) ?? '';
  switch (name) {
    case 'events':
      streamEvents(feed, response, lastEventId + 1);
      return 'streams';
    case 'log':
      return { json: (await details.log(asked('run'), asked('agent'))) ?? null };
    case 'reasoning':
      return { json: (await details.reasoning(asked('run'), asked('question'))) ?? null };
    case 'packet':
      return { json: (await details.packet(asked('run'), asked('from'), asked('id'))) ?? null };
    case 'report':
      return { json: (await report()) ?? null };
    default:
      return undefined;
  }
}

/** Written in one go: some 100 kB. What waits for a page that reads slowly is this much, and no more. */
const EVENTS_A_WRITE = 500;
/** A page that takes nothing for so long is gone, or might as well be. */
const STALLED_MS = 60_000;
/** A sign of life, so that what stands between does not end a silent connection. */
const ALIVE_EVERY_MS = 15_000;

/**
 * Sends a feed to one page, as server-sent events. The page has a place in the feed and gets what follows it, when it can take it; where
 * that is no longer kept, it goes on from what is. So nothing waits for it anywhere, and nobody.
 */
export function streamEvents(feed: EventFeed, response: ServerResponse, from: number): void {
  let next = from;
  let isFull = false;
  let stalled: NodeJS.Timeout | undefined;
  const pump = () => {
    while (!isFull && next <= feed.last) {
      const { texts, next: after } = feed.from(next, EVENTS_A_WRITE);
      next = after;
      if (texts.length === 0) continue;
      isFull = !response.write(`id: ${after - 1}\ndata: [${texts.join(',')}]\n\n`);
      if (isFull) stalled = setTimeout(() => response.destroy(), STALLED_MS).unref();
    }
  };
  const stop = feed.listen(pump);
  const alive = setInterval(() => {
    if (!isFull) isFull = !response.write(': alive\n\n');
  }, ALIVE_EVERY_MS).unref();
  response.on('drain', () => {
    clearTimeout(stalled);
    isFull = false;
    pump();
  });
  response.on('close', () => {
    clearTimeout(stalled);
    clearInterval(alive);
    stop();
  });
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  pump();
}
