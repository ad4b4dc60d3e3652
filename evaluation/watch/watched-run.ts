import type { ReportData } from '../report/report-html.ts';
import type { Details } from './details.ts';
import type { EventFeed } from './event-feed.ts';
import { streamEvents } from './event-stream.ts';
import type { Answer, PageRequest } from './page-server.ts';

/** What a page shows: what happens, what can be opened of it, and what it came to. */
export interface WatchedRun {
  readonly feed: EventFeed;
  readonly details: Details;
  /** Of a run that is over; undefined where there is nothing but what the page shows already. */
  readonly report: () => Promise<ReportData | undefined>;
}

/** Answers what the page of one run asks for; undefined for anything else. */
export async function answerOf(
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
