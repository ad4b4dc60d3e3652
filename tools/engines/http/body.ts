import { readBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import { readServerEvents } from '@gaia-mesh/core/system/server-events.ts';

// Maximum bytes of a body, far above any reply that fits a context, even with each character written as \uXXXX.
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of a stream, which repeats its metadata every few characters. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;

function createLengthError(): Error {
  return new Error(`it is more than ${MAX_STREAM_BYTES} bytes, or a line of it more than ${MAX_BODY_BYTES}`);
}

/** Yields the lines of a streamed body that are not empty. */
export async function* readLines({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // The pieces of a line are joined once, so that a long one is not copied with each of them.
  let begun: string[] = [];
  let characters = 0;
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    const [first = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n');
    begun.push(first);
    characters += first.length;
    if (bytes > MAX_STREAM_BYTES || characters > MAX_BODY_BYTES) throw createLengthError();
    for (const line of lines) {
      const whole = begun.join('').trim();
      if (whole !== '') yield whole;
      begun = [line];
      characters = line.length;
    }
  }
  const last = (begun.join('') + decoder.decode()).trim();
  if (last !== '') yield last;
}

export function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get('Content-Type') ?? '');
}

/** Yields the data of each event of a stream as it arrives. @throws Error for a stream that is too long */
export async function* readEventTexts({ body }: Response): AsyncGenerator<string> {
  const bounds = { maxCharacters: MAX_BODY_BYTES, maxBytes: MAX_STREAM_BYTES, tooLong: createLengthError };
  for await (const { data } of readServerEvents(body ?? [], bounds)) {
    const text = data.trim();
    if (text !== '') yield text;
  }
}

/** Reads a whole body as text. */
export async function readWholeText({ body }: Response): Promise<string> {
  const createError = () => new Error(`it is more than ${MAX_BODY_BYTES} bytes`);
  return (await readBytes(body, MAX_BODY_BYTES, createError)).toString();
}
