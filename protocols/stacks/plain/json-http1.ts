import type { IncomingMessage, ServerResponse } from 'node:http';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { HttpClient } from '../http/http-client.ts';
import { listenHttp, readBody } from '../http/http-server.ts';
import { type Answer, callStack } from './call-stack.ts';

const TYPE = 'application/json';

/** A packet is the body of a POST, and its answers are the body of the response: the cost of HTTP alone. */
export const jsonHttp1 = callStack({
  transport: 'http1',
  implementation: 'bare',
  async listen(answer, settings) {
    const server = await listenHttp((request, response) => void serve(answer, request, response), settings);
    return { address: server.url, port: server.port, close: () => server.close() };
  },
  async dial(address, settings) {
    const http = new HttpClient(address, settings);
    return {
      async call(body, signal) {
        const headers = { 'Content-Type': TYPE };
        const { status, text } = await http.fetch({ method: 'POST', path: '/', headers, body, signal });
        if (status === 200 || status === 204) return Buffer.from(text);
        throw new MeshError('agent', `json/http1: expected status 200 or 204, received ${status}: ${text}`);
      },
      close: () => http.close(),
    };
  },
});

async function serve(answer: Answer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const over = new AbortController();
  response.once('close', () => over.abort());
  try {
    const body = await answer(await readBody(request), over.signal);
    if (body.length === 0) response.writeHead(204).end();
    else response.writeHead(200, { 'Content-Type': TYPE, 'Content-Length': body.length }).end(body);
  } catch (error) {
    // The client learns of the error, unless it has disconnected.
    if (response.destroyed || response.headersSent) return;
    response.writeHead(500, { 'Content-Type': 'text/plain' }).end(toErrorMessage(error));
  }
}
