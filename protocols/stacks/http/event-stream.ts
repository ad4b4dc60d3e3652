import type { ServerResponse } from 'node:http';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { streamLines } from '@gaia-mesh/core/system/stream-lines.ts';
import { writeJson } from './http-server.ts';

/**
 * Writes the head of a stream of server-sent events as A2A and MCP use them: one line of data, which is JSON,
 * and nothing else (HTML standard, §9.2).
 */

export function writeEventHead(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
}

/** Writes an event and resolves when the connection takes more. */
export async function writeEvent(response: ServerResponse, data: string): Promise<void> {
  if (response.destroyed || response.write(`data: ${data}\n\n`)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}

/** Writes the events of a stream as they come, to its end. If the client has gone, the work behind them continues. */
export async function writeEvents(response: ServerResponse, texts: AsyncIterable<string>): Promise<void> {
  writeEventHead(response);
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
 * Yields the data of each event and skips comments and other fields. The last event may lack the empty line at
 * its end if it is whole.
 *
 * @throws MeshError `limit` for an event that is larger than any packet
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let data: string[] = [];
  for await (const line of readEventLines(body)) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line === '' && data.length > 0) {
      yield data.join('\n');
      data = [];
    }
  }
  const rest = data.join('\n');
  if (rest !== '' && tryParseJson(rest) !== undefined) yield rest;
}

/**
 * Yields the lines of a stream of events as they come.
 *
 * @throws MeshError `limit` for a line that is longer than any packet
 */
export function readEventLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  return streamLines(body, {
    check(lineCharacters) {
      if (lineCharacters > MAX_FRAME_BYTES)
        throw new MeshError('limit', `HTTP event: expected at most ${MAX_FRAME_BYTES} bytes`);
    },
  });
}
