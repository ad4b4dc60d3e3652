import { createParser, type EventSourceMessage } from 'eventsource-parser';

interface EventBounds {
  /** Maximum characters of an event; an event that arrives whole in one chunk may be longer. */
  readonly maxCharacters: number;
  /** Maximum bytes of the stream. */
  readonly maxBytes?: number | undefined;
  /** Creates the error for an event or a stream beyond its bound. */
  readonly tooLong: () => Error;
}

interface ServerEvent extends EventSourceMessage {
  /** Time to wait before a new connection, if the server has named one since the last event. */
  readonly retryMs?: number | undefined;
}

/**
 * Yields the events of a stream of server-sent events (HTML standard, §9.2) as they arrive. Comments are skipped. The last event may
 * lack the empty line at its end, as some servers write it, so that it may also be torn.
 *
 * @throws the error of `tooLong`
 */
export async function* readServerEvents(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { maxCharacters, maxBytes = Number.POSITIVE_INFINITY, tooLong }: EventBounds,
): AsyncGenerator<ServerEvent, void, undefined> {
  const events: ServerEvent[] = [];
  let retryMs: number | undefined;
  const parser = createParser({
    maxBufferSize: maxCharacters,
    onEvent(event) {
      events.push({ ...event, retryMs });
      retryMs = undefined;
    },
    onRetry(ms) {
      retryMs = ms;
    },
    onError({ type }) {
      // Fields of another name are skipped, as the standard demands.
      if (type === 'max-buffer-size-exceeded') throw tooLong();
    },
  });
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong();
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
  }
  parser.feed(`${decoder.decode()}\n\n`);
  yield* events;
}

/** Parses the whole text of a stream, for example from a log. */
export function parseServerEvents(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => events.push(event) }).feed(`${text}\n\n`);
  return events;
}
