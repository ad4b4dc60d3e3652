import { MAX_BODY_BYTES, MAX_STREAM_BYTES } from './body.ts';

/** What ends a stream of OpenAI's format. */
export const END_OF_EVENTS = Symbol('end of events');

export function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get('Content-Type') ?? '');
}

/**
 * The data of each event of a stream, as JSON, while it comes (server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html).
 *
 * @throws SyntaxError for data that is no JSON; Error for a stream without end
 */
export async function* eventsOf(response: Response): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let rest = '';
  let data: string[] = [];
  for await (const part of response.body ?? []) {
    bytes += part.length;
    rest += decoder.decode(part, { stream: true });
    if (rest.length > MAX_BODY_BYTES || bytes > MAX_STREAM_BYTES) {
      throw new Error(
        `it is more than ${MAX_STREAM_BYTES} bytes, or a line of it more than ${MAX_BODY_BYTES}`,
      );
    }
    // A line may end with CR and LF, of which the second comes with the next part.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        yield* eventIn(data);
        data = [];
      } else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
    }
  }
  const last = (rest + decoder.decode()).trimEnd();
  if (last.startsWith('data:')) data.push(last.slice(5).trim());
  yield* eventIn(data);
}

function* eventIn(data: readonly string[]): Generator<unknown> {
  const text = data.join('\n').trim();
  if (text === '') return;
  yield text === '[DONE]' ? END_OF_EVENTS : JSON.parse(text);
}
