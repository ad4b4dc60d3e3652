import type { ServerResponse } from 'node:http';
import type { EventFeed } from './event-feed.ts';

/** Events in one write, about 100 kB; it also bounds the data that waits for a slow page. */
const EVENTS_A_WRITE = 500;
/** Milliseconds after which a page that reads nothing is disconnected. */
const STALLED_MS = 60_000;
/** Milliseconds between keep-alive comments, so that intermediaries do not close a silent connection. */
const ALIVE_EVERY_MS = 15_000;

/**
 * Sends a feed to one page as server-sent events. The page has a position in the feed and receives the following events when it can take
 * them; it skips those that are no longer kept. So nothing waits for the page.
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
