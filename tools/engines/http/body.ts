import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { parseExactJson } from '@gaia-mesh/core/system/parse-json.ts';

// Maximum bytes of a body, far above any reply that fits a context, even with each character written as \uXXXX.
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of a stream, which repeats its metadata every few characters. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;

/** Reads the whole body, with a bound, for libraries that would read it without one. */
export async function readWhole(response: Response): Promise<Response> {
  return new Response(await readBytes(response), {
    status: response.status,
    headers: { 'Content-Type': response.headers.get('Content-Type') ?? 'application/json' },
  });
}

/** @throws SyntaxError for a body that is not JSON */
export async function readWholeJson(response: Response): Promise<JsonValue> {
  return parseExactJson((await readBytes(response)).toString());
}

async function readBytes(response: Response): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`it is more than ${MAX_BODY_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
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

/** Yields each line of a streamed body as JSON. @throws SyntaxError for a line that is not */
export async function* readJsonLines(response: Response): AsyncGenerator<JsonValue> {
  for await (const line of streamLines(response, '\n')) if (line.trim() !== '') yield parseExactJson(line);
}
