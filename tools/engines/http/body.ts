import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { readBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import { parseExactJson } from '@gaia-mesh/core/system/parse-json.ts';
import { readServerEvents } from '@gaia-mesh/core/system/server-events.ts';

// Maximum bytes of a body, far above any reply that fits a context, even with each character written as \uXXXX.
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of a stream, which repeats its metadata every few characters. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;

/** @throws SyntaxError for a body that is not JSON */
export async function readWholeJson({ body }: Response): Promise<JsonValue> {
  const createError = () => new Error(`it is more than ${MAX_BODY_BYTES} bytes`);
  return parseExactJson((await readBytes(body, MAX_BODY_BYTES, createError)).toString());
}

function createLengthError(): Error {
  return new Error(`it is more than ${MAX_STREAM_BYTES} bytes, or a line of it more than ${MAX_BODY_BYTES}`);
}

/** Yields each line of a streamed body as JSON. @throws SyntaxError for a line that is not */
export async function* readJsonLines(response: Response): AsyncGenerator<JsonValue> {
  const decoder = new TextDecoder();
  // The pieces of a line are joined once, so that a long one is not copied with each of them.
  let begun: string[] = [];
  let characters = 0;
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    const [first = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n');
    begun.push(first);
    characters += first.length;
    if (bytes > MAX_STREAM_BYTES || characters > MAX_BODY_BYTES) throw createLengthError();
    for (const line of lines) {
      yield* parseLine(begun.join(''));
      begun = [line];
      characters = line.length;
    }
  }
  yield* parseLine(begun.join('') + decoder.decode());
}

function* parseLine(line: string): Generator<JsonValue> {
  if (line.trim() !== '') yield parseExactJson(line);
}

/** The end of a stream in OpenAI's format. */
export const END_OF_EVENTS = Symbol('end of events');

export function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get('Content-Type') ?? '');
}

/**
 * Yields the data of each event of a stream as JSON, as it arrives.
 *
 * @throws SyntaxError for data that is not JSON; Error for a stream that is too long
 */
export async function* readEvents(response: Response): AsyncGenerator<JsonValue | typeof END_OF_EVENTS> {
  const bounds = { maxCharacters: MAX_BODY_BYTES, maxBytes: MAX_STREAM_BYTES, tooLong: createLengthError };
  for await (const { data } of readServerEvents(response.body ?? [], bounds)) {
    const text = data.trim();
    if (text !== '') yield text === '[DONE]' ? END_OF_EVENTS : parseExactJson(text);
  }
}
