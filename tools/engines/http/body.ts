import * as z from 'zod';

// Far above any reply that fits a context, even where each character is written as \uXXXX.
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** A stream says every few characters anew who says them. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;

/** The whole body at once, for libraries that would read it without a bound. */
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

/** The first `maxBytes` or a little more, as text. */
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
 * The lines of a streamed body as they come, each a JSON object: a library that finds something else prints it, and stdout
 * is not ours to print on.
 */
export async function readLines(response: Response): Promise<Response> {
  return new Response(ReadableStream.from(readJsonLines(response)), { status: response.status });
}

/**
 * The lines of a streamed body as they come; the last is what stands behind the last end of a line.
 *
 * @throws Error for a stream without end, or a line without one
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
    lineSchema.parse(JSON.parse(line));
    yield Buffer.from(`${line}\n`);
  }
}
