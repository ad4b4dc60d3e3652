import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { parseExactJson } from '@gaia-mesh/core/system/parse-json.ts';
import { streamLines } from './body.ts';

/** The end of a stream in OpenAI's format. */
export const END_OF_EVENTS = Symbol('end of events');

export function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get('Content-Type') ?? '');
}

/**
 * Yields the data of each event of a stream as JSON, as it arrives (server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html).
 *
 * @throws SyntaxError for data that is not JSON; Error for a stream that is too long
 */
export async function* readEvents(response: Response): AsyncGenerator<JsonValue | typeof END_OF_EVENTS> {
  let data: string[] = [];
  // A line may end with CR and LF, of which LF may come with the next part.
  for await (const line of streamLines(response, /\r\n|\n|\r(?!$)/)) {
    if (line === '') {
      yield* parseEvent(data);
      data = [];
    } else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  yield* parseEvent(data);
}

function* parseEvent(data: readonly string[]): Generator<JsonValue | typeof END_OF_EVENTS> {
  const text = data.join('\n').trim();
  if (text === '') return;
  yield text === '[DONE]' ? END_OF_EVENTS : parseExactJson(text);
}
