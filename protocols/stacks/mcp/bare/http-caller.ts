import { MeshError } from '../../../../core/contracts/errors.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { eventsOf } from '../../http/event-stream.ts';
import { HttpClient } from '../../http/http-client.ts';
import { bodyOf } from '../../http/http-server.ts';
import { MCP_REVISION } from '../revision.ts';
import type { McpCaller } from './client.ts';

/** Streamable HTTP: each request is a POST that says in headers again what gateways need to know. */
export function httpCaller(address: string, settings: StackSettings): McpCaller {
  const http = new HttpClient(address, settings);
  const path = new URL(address).pathname;
  return {
    async call(request, name, signal) {
      const response = await http.open({
        method: 'POST',
        path,
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': MCP_REVISION,
          'Mcp-Method': request.method,
          ...(name === undefined ? {} : { 'Mcp-Name': name }),
        },
        body: JSON.stringify(request),
        signal,
      });
      if (response.headers['content-type']?.startsWith('text/event-stream') !== true)
        return jsonOf((await bodyOf(response)).toString(), response.statusCode);
      let last: unknown;
      for await (const event of eventsOf(response)) last = jsonOf(event, response.statusCode);
      return last;
    },
    close: () => http.close(),
  };
}

function jsonOf(text: string, status: number | undefined): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MeshError('packet', `MCP: expected JSON, came status ${status} with ${text.slice(0, 80)}`, {
      cause,
    });
  }
}
