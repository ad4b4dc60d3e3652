import type { Readable, Writable } from 'node:stream';
import { buildErrorResponse, type RpcRequest, readRequest } from '../../json-rpc.ts';
import { OpenCalls } from '../server/legacy.ts';
import type { McpServer } from '../server/mcp-server.ts';
import { readJsonLines } from './lines.ts';

/**
 * Serves MCP over stdio: each message is a line, requests are read as they come, answers are written as they
 * are ready. Resolves when the client has disconnected.
 */
export async function serveStdio(server: McpServer, input: Readable, output: Writable): Promise<void> {
  const calls = new OpenCalls();
  const write = (message: object) => void output.write(`${JSON.stringify(message)}\n`);
  output.on('error', () => input.destroy());
  output.once('close', () => calls.cancelAll());
  try {
    for await (const line of readJsonLines(input)) void answer(server, line, write, calls);
  } catch {
    output.destroy(); // A line without an end, or pipes that broke: the client sees that they are gone.
  } finally {
    calls.cancelAll();
  }
}

async function answer(
  server: McpServer,
  line: string,
  write: (message: object) => void,
  calls: OpenCalls,
): Promise<void> {
  let id: RpcRequest['id'];
  try {
    const request = readRequest(line);
    id = request.id;
    if (id === undefined) {
      calls.notify(request);
      return;
    }
    const call = calls.begin(id);
    try {
      const response = await server.handle(request, async (message) => write(message), call.signal);
      // A client does not wait for the answer to a call that it cancelled ("Cancellation").
      if (!call.signal.aborted) write(response);
    } finally {
      calls.end(id, call);
    }
  } catch (error) {
    write(buildErrorResponse(id, error));
  }
}
