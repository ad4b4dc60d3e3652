import type { ServerResponse } from 'node:http';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { readServerEvents } from '@gaia-mesh/core/system/server-events.ts';
import { writeJson } from './http-server.ts';

/**
 * This module writes and reads streams of server-sent events as A2A and MCP use them: one line of data, which is
 * JSON, and nothing else (HTML standard, §9.2).
 */

function writeHead(response: ServerResponse): void {
  if (!response.headersSent)
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
}

/** Writes an event, behind the head if it is the first one, and resolves when the connection takes more. */
export async function writeEvent(response: ServerResponse, data: string): Promise<void> {
  writeHead(response);
  if (response.destroyed || response.write(`data: ${data}\n\n`)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}

/** Writes the events of a stream as they come, to its end. If the client disconnects, the work behind them continues. */
export async function writeEvents(response: ServerResponse, texts: AsyncIterable<string>): Promise<void> {
  writeHead(response);
  for await (const text of texts) {
    if (response.destroyed) return;
    await writeEvent(response, text);
  }
  response.end();
}

/** Writes the end of an answer: all of it, as JSON, or the last event if a stream has begun. */
export function writeLast(response: ServerResponse, status: number, text: string): void {
  if (!response.headersSent) writeJson(response, status, text);
  else response.end(`data: ${text}\n\n`);
}

/**
 * Yields the events of a stream as they come.
 *
 * @param maxBytes maximum bytes of all events together; without it, only each event is bounded
 * @throws MeshError `limit` for an event that is larger than any packet, and beyond `maxBytes`
 */
export function readEvents(
  body: AsyncIterable<Uint8Array>,
  maxBytes?: number,
): ReturnType<typeof readServerEvents> {
  const most = Math.min(maxBytes ?? MAX_FRAME_BYTES, MAX_FRAME_BYTES);
  return readServerEvents(body, {
    maxCharacters: MAX_FRAME_BYTES,
    maxBytes,
    tooLong: () => new MeshError('limit', `HTTP answer: expected at most ${most} bytes`),
  });
}
