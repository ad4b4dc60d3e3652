import type { IncomingMessage, ServerResponse } from 'node:http';
import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import type { Inbox } from '../../contract/binding.ts';
import { traceOf } from '../../contract/trace-of.ts';
import { HttpClient } from '../../http/http-client.ts';
import { bodyOf, listenHttp } from '../../http/http-server.ts';
import { metered } from '../../meter/metered.ts';
import { withDeadline } from '../exchange-limit.ts';
import { bodyOfPackets, JSON_TYPE, packetOfBody, packetsOfBody } from './packet-body.ts';
import { httpTraits } from './traits.ts';

const NAME = 'json/http1';

/** A packet is the body of a POST, and what answers it that of the response: what HTTP alone costs. */
export const jsonHttp1 = metered({
  name: NAME,
  protocol: 'json',
  transport: 'http1',
  implementation: 'bare',
  packages: [],
  traits: httpTraits,
  async serve(inbox, settings) {
    const server = await listenHttp((request, response) => void answer(inbox, request, response), settings);
    return { address: server.url, port: server.port, close: () => server.close() };
  },
  async connect(address, settings) {
    const http = new HttpClient(address, settings);
    const { deadlineMs } = settings;
    return {
      exchange: (packet, caller) =>
        withDeadline({ signal: caller, deadlineMs, what: `${NAME}: ${packet.id}` }, async (signal) => {
          const headers = { 'Content-Type': JSON_TYPE, ...traceOf(settings, packet) };
          const body = JSON.stringify(packet);
          const { status, text } = await http.fetch({ method: 'POST', path: '/', headers, body, signal });
          if (status === 200) return packetsOfBody(Buffer.from(text));
          if (status === 204) return [];
          throw new MeshError('agent', `${NAME}: expected status 200 or 204, came ${status}: ${text}`);
        }),
      async close() {
        http.close();
      },
    };
  },
});

async function answer(inbox: Inbox, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const over = new AbortController();
  response.once('close', () => over.abort());
  try {
    const packets = await inbox(packetOfBody(await bodyOf(request)), over.signal);
    const body = bodyOfPackets(packets);
    if (body.length === 0) response.writeHead(204).end();
    else response.writeHead(200, { 'Content-Type': JSON_TYPE, 'Content-Length': body.length }).end(body);
  } catch (error) {
    // Who asked is told, unless it has gone; a part of the body may be unread.
    if (response.destroyed || response.headersSent) return;
    const isTheirs = error instanceof MeshError && error.code === 'packet' && !request.complete;
    response.writeHead(isTheirs ? 400 : 500, { 'Content-Type': 'text/plain' }).end(messageOf(error));
  }
}
