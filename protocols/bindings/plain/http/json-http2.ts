import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import type { Inbox } from '../../contract/binding.ts';
import { metered } from '../../meter/metered.ts';
import { withDeadline } from '../exchange-limit.ts';
import { Http2Client } from './http2-client.ts';
import { bodyOfStream, type Http2Request, listenHttp2, noDate } from './http2-server.ts';
import { bodyOfPackets, JSON_TYPE, packetOfBody, packetsOfBody } from './packet-body.ts';
import { httpTraits } from './traits.ts';

const NAME = 'json/http2';

/** As `json/http1`, on HTTP/2. */
export const jsonHttp2 = metered({
  name: NAME,
  protocol: 'json',
  transport: 'http2',
  implementation: 'bare',
  packages: [],
  traits: httpTraits,
  async serve(inbox, settings) {
    const server = await listenHttp2((request) => void answer(inbox, request), settings);
    return { address: server.url, port: server.port, close: () => server.close() };
  },
  async connect(address, settings) {
    const http = await Http2Client.connect(address, settings);
    const { deadlineMs } = settings;
    return {
      exchange: (packet, caller) =>
        withDeadline({ signal: caller, deadlineMs, what: `${NAME}: ${packet.id}` }, async (signal) => {
          const head = { ':path': '/', 'content-type': JSON_TYPE };
          const { headers, body } = await http.post(head, Buffer.from(JSON.stringify(packet)), signal);
          const status = Number(headers[':status']);
          if (status === 200 || status === 204) return packetsOfBody(body);
          throw new MeshError('agent', `${NAME}: expected status 200 or 204, came ${status}: ${body}`);
        }),
      async close() {
        http.close();
      },
    };
  },
});

async function answer(inbox: Inbox, { stream, signal }: Http2Request): Promise<void> {
  const send = (status: number, type: string, body: Buffer) => {
    if (stream.destroyed || stream.closed) return;
    stream.respond({ ':status': status, 'content-type': type }, noDate({ endStream: false }));
    stream.end(body);
  };
  try {
    const body = bodyOfPackets(await inbox(packetOfBody(await bodyOfStream(stream)), signal));
    if (body.length > 0) return send(200, JSON_TYPE, body);
    if (!stream.destroyed) stream.respond({ ':status': 204 }, noDate({ endStream: true }));
  } catch (error) {
    send(500, 'text/plain', Buffer.from(messageOf(error)));
  }
}
