import type { ServerHttp2Stream } from 'node:http2';
import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import { bodyOf } from '../../http/http-server.ts';
import { listenHttp2 } from '../../http/http2-server.ts';
import { dialHttp2 } from '../../http/http2-session.ts';
import { type Answer, callStack } from '../call-stack.ts';

const TYPE = 'application/json';

/** As `json/http1`, on HTTP/2. */
export const jsonHttp2 = callStack({
  transport: 'http2',
  implementation: 'bare',
  async listen(answer, settings) {
    const { url, port, close } = await listenHttp2((stream) => void serve(answer, stream), settings);
    return { address: url, port, close };
  },
  async dial(address, settings) {
    const http = await dialHttp2(address, settings);
    return {
      async call(request, signal) {
        const head = { ':path': '/', 'content-type': TYPE };
        const bytes = Buffer.from(request);
        const { headers, body } = await http.with((session) => session.post(head, bytes, signal));
        const status = Number(headers[':status']);
        if (status === 200 || status === 204) return body;
        throw new MeshError('agent', `json/http2: expected status 200 or 204, came ${status}: ${body}`);
      },
      close: () => http.close(),
    };
  },
});

/** HPACK writes each second of the day in another number of bytes. Node has this option for long, and does not document it. */
const NO_DATE = { endStream: false, sendDate: false };

async function serve(answer: Answer, stream: ServerHttp2Stream): Promise<void> {
  const send = (status: number, type: string, body: Buffer) => {
    if (stream.destroyed || stream.closed) return;
    stream.respond({ ':status': status, 'content-type': type }, NO_DATE);
    stream.end(body);
  };
  const over = new AbortController();
  stream.once('close', () => over.abort());
  try {
    const body = await answer(await bodyOf(stream), over.signal);
    if (body.length > 0) return send(200, TYPE, body);
    if (!stream.destroyed) stream.respond({ ':status': 204 }, { ...NO_DATE, endStream: true });
  } catch (error) {
    send(500, 'text/plain', Buffer.from(messageOf(error)));
  }
}
