import { sampleRecording } from '../../testing/sample-recording.ts';
import { CountingServer } from '../counting-server.ts';
import type { Answer, HttpBinding } from '../http-binding.ts';

interface Heard {
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, unknown>>;
  readonly request: unknown;
  readonly answer: unknown;
}

/** Sends the sample recording through a binding: what its server heard and said, and how many bytes the requests' heads were. */
export async function played(binding: HttpBinding): Promise<{ heard: Heard[]; headBytes: number }> {
  const heard: Heard[] = [];
  const answer: Answer = async (request, body) => {
    const reply = await binding.answer(request, body);
    const { headers, rawHeaders } = request;
    heard.push({ headers, rawHeaders, request: JSON.parse(body.toString()), answer: reply.body });
    return reply;
  };
  const server = await CountingServer.start(new Map([['/x', answer]]));
  try {
    const ask = await binding.connect(server.url('/x'));
    for (const { packet } of sampleRecording.packets) await ask(packet, AbortSignal.timeout(20_000));
    const { http, bodies } = server.traffic();
    return { heard, headBytes: http.up - bodies.up };
  } finally {
    await server.close();
  }
}

/** Bytes of the heads of these requests, put together from what the parser made of them. */
export function headsOf(heard: readonly Heard[]): number {
  const lines = heard.flatMap(({ rawHeaders }) => [
    'POST /x HTTP/1.1',
    ...rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1]}`] : [])),
    '',
  ]);
  return Buffer.byteLength(lines.map((line) => `${line}\r\n`).join(''));
}
