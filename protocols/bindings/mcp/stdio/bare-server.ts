import type { Readable, Writable } from 'node:stream';
import { mcpError, PARSE_ERROR } from '../server/errors.ts';
import { errorResponse, type McpRequest, type McpServer, readRequest } from '../server/mcp-server.ts';
import { linesOf } from './lines.ts';

/** MCP over stdio: a message a line, requests as they come, answers as they are ready. */
export async function serveStdio(server: McpServer, readable: Readable, writable: Writable): Promise<void> {
  const abort = new AbortController();
  readable.once('close', () => abort.abort());
  const write = (message: object) => void writable.write(`${JSON.stringify(message)}\n`);
  try {
    for await (const line of linesOf(readable)) void answer(server, line, write, abort.signal);
  } catch {
    readable.destroy(); // A line without an end, or pipes that broke: the client sees that they are gone.
  }
}

async function answer(
  server: McpServer,
  line: string,
  write: (message: object) => void,
  signal: AbortSignal,
): Promise<void> {
  let id: McpRequest['id'];
  try {
    const request = readRequest(parsed(line));
    id = request.id;
    if (id !== undefined) write(await server.handle(request, async (message) => write(message), signal));
  } catch (error) {
    write(errorResponse(id, error));
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw mcpError(PARSE_ERROR, 'the line is not JSON');
  }
}
