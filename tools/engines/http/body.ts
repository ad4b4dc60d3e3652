import { MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';

// Maximum bytes of a body, far above any reply that fits a context, even with each character written as \uXXXX.
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of a stream, which repeats its metadata every few characters. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;

/** Reads the whole body, with a bound, for libraries that would read it without one. */
export async function readWhole(response: Response): Promise<Response> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`it is more than ${MAX_BODY_BYTES} bytes`);
    parts.push(part);
  }
  return new Response(Buffer.concat(parts), {
    status: response.status,
    headers: { 'Content-Type': response.headers.get('Content-Type') ?? 'application/json' },
  });
}

/** Reads the first `maxBytes` or a little more, as text. */
export async function readStart(response: Response, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(parts).toString();
}

/**
 * Passes on the lines of a streamed body, each checked to be a JSON object: the library prints anything else, and stdout
 * is not ours to print on.
 */
export async function readLines(response: Response): Promise<Response> {
  return new Response(ReadableStream.from(readJsonLines(response)), { status: response.status });
}

/**
 * Yields the lines of a streamed body as they arrive; the last is the text after the last line end.
 *
 * @throws Error for a stream or a line that is too long
 */
export async function* streamLines(response: Response, end: string | RegExp): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let rest = '';
  for await (const part of response.body ?? []) {
    bytes += part.length;
    rest += decoder.decode(part, { stream: true });
    if (rest.length > MAX_BODY_BYTES || bytes > MAX_STREAM_BYTES) {
      throw new Error(
        `it is more than ${MAX_STREAM_BYTES} bytes, or a line of it more than ${MAX_BODY_BYTES}`,
      );
    }
    const lines = rest.split(end);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest + decoder.decode();
}

const lineSchema = z.record(z.string(), z.unknown());

async function* readJsonLines(response: Response): AsyncGenerator<Uint8Array> {
  for await (const line of streamLines(response, '\n')) {
    if (line.trim() === '') continue;
    lineSchema.parse(parseForeignJson(line, { maxDepth: MAX_MESSAGE_DEPTH }));
    yield Buffer.from(`${line}\n`);
  }
}
