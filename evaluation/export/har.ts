import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { MeshError } from '../../core/contracts/errors.ts';
import type { Packet } from '../../core/contracts/packet.ts';
import type { Recording } from '../../core/recording/recording.ts';
import { packageVersion } from '../../core/system/package-root.ts';
import type { Stack, StackSettings } from '../../protocols/stacks/contract/stack.ts';
import { listenAt } from '../../protocols/stacks/listen.ts';
import { findStackEntries, listStackNames } from '../../protocols/stacks/registry.ts';
import { planExchanges } from '../compare/stacks/exchanges.ts';
import { DEFAULT_SETTINGS, toStackSettings } from '../compare/stacks/factors.ts';

const HOST = '127.0.0.1';
/** Exchanges that are played and kept: their bodies are in memory together. */
const MAX_EXCHANGES = 10_000;
/** A body is kept whole up to this. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

interface Entry {
  readonly startedDateTime: string;
  readonly time: number;
  readonly request: object;
  readonly response: object;
  readonly cache: object;
  readonly timings: { readonly send: number; readonly wait: number; readonly receive: number };
  readonly pageref: string;
}

/**
 * A run as the HTTP that a stack would have carried it by, in HAR 1.2: its exchanges are played through the stack's own client and
 * server, over sockets of this machine, and what passes between them is written down, the set-up of the session (agent card, versions,
 * tools) with it. Its times are those of the playing, without the work of agents.
 *
 * @param name as `compare --stacks` takes it, by its official packages with `:sdk` behind it
 * @throws MeshError `usage` for a stack that speaks no HTTP/1.1, or that there is none of
 */
export async function harOf(recording: Recording, name: string): Promise<string> {
  const stack = await findHttpStack(name);
  const exchanges = planExchanges(recording);
  if (exchanges.length > MAX_EXCHANGES)
    throw new MeshError(
      'usage',
      `a HAR has at most ${MAX_EXCHANGES} exchanges; the recording makes ${exchanges.length}`,
    );
  const entries: Entry[] = [];
  let task = 'session';
  let replies: readonly Packet[] = [];
  let port = 0;
  const proxy = createServer((incoming, outgoing) => {
    const page = task;
    void forward(incoming, outgoing, port).then(
      (entry) => entries.push({ ...entry, pageref: page }),
      (error: unknown) => outgoing.destroy(error instanceof Error ? error : undefined),
    );
  });
  const settings: StackSettings = {
    ...toStackSettings(DEFAULT_SETTINGS, null),
    advertisedPort: await listenAt(proxy, { port: 0 }),
    runId: recording.header.run_id,
  };
  const server = await stack.serve(() => Promise.resolve(replies), settings);
  try {
    if (server.port === undefined) throw new MeshError('usage', `${name} listens on no port`);
    port = server.port;
    const client = await stack.connect(server.address, settings);
    try {
      const { signal } = new AbortController();
      // One after the other, so that the server need not tell apart what comes again to several.
      for (const exchange of exchanges) {
        task = exchange.request.task_id;
        replies = exchange.replies;
        await client.exchange(exchange.request, signal, replies.length);
      }
    } finally {
      await client.close();
    }
  } finally {
    await server.close();
    proxy.closeAllConnections();
    proxy.close();
  }
  const pages = [...new Set(entries.map(({ pageref }) => pageref))].map((id) => ({
    ...{ id, title: id, pageTimings: {} },
    startedDateTime: entries.find(({ pageref }) => pageref === id)?.startedDateTime ?? '',
  }));
  const comment = `run ${recording.header.run_id} of ${recording.header.team}, played through ${name}`;
  const creator = { name: 'gaia-mesh', version: packageVersion };
  return `${JSON.stringify({ log: { version: '1.2', creator, comment, pages, entries } }, null, 1)}\n`;
}

async function findHttpStack(name: string): Promise<Stack> {
  const [own = '', implementation = 'bare'] = name.split(':');
  const entries = findStackEntries(own);
  const entry = entries.find((one) => one.implementation === implementation) ?? entries[0];
  const stack = await entry?.load();
  if (stack?.transport === 'http1' && stack.traits.replies === 'same exchange') return stack;
  throw new MeshError(
    'usage',
    `--stack ${name}: expected one that speaks HTTP/1.1, such as json/http1, a2a/jsonrpc, a2a/rest or mcp/http (of ${listStackNames().join(', ')})`,
  );
}

/** Passes one request on, and what answers it back, and writes both down. */
async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  port: number,
): Promise<Omit<Entry, 'pageref'>> {
  const started = new Date();
  const begin = performance.now();
  const body = await bodyOf(incoming);
  const sent = performance.now();
  const upstream = request({
    ...{ host: HOST, port, method: incoming.method, path: incoming.url },
    headers: incoming.rawHeaders,
    setHost: false,
  });
  upstream.end(body);
  const [response] = (await once(upstream, 'response')) as [IncomingMessage];
  const waited = performance.now();
  outgoing.writeHead(response.statusCode ?? 502, response.statusMessage, response.rawHeaders);
  const content = await bodyOf(response, (chunk) => outgoing.write(chunk));
  outgoing.end();
  const done = performance.now();
  const timings = { send: ms(sent - begin), wait: ms(waited - sent), receive: ms(done - waited) };
  const mimeOf = (message: IncomingMessage) => message.headers['content-type'] ?? '';
  const httpVersion = 'HTTP/1.1';
  const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? HOST}`);
  return {
    startedDateTime: started.toISOString(),
    time: ms(done - begin),
    request: {
      ...{ method: incoming.method, url: url.href, httpVersion, cookies: [] },
      headers: headersOf(incoming),
      queryString: [...url.searchParams].map(([name, value]) => ({ name, value })),
      ...(body.length === 0 ? {} : { postData: { mimeType: mimeOf(incoming), text: body.toString('utf8') } }),
      ...{ headersSize: -1, bodySize: body.length },
    },
    response: {
      ...{ status: response.statusCode, statusText: response.statusMessage ?? '', httpVersion, cookies: [] },
      headers: headersOf(response),
      content: { size: content.length, mimeType: mimeOf(response), text: content.toString('utf8') },
      ...{ redirectURL: response.headers.location ?? '', headersSize: -1, bodySize: content.length },
    },
    cache: {},
    timings,
  };
}

async function bodyOf(message: IncomingMessage, pass?: (chunk: Buffer) => unknown): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    pass?.(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new MeshError('limit', `a body has more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function headersOf({ rawHeaders }: IncomingMessage): { name: string; value: string }[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [{ name, value: rawHeaders[index + 1] ?? '' }] : [],
  );
}

function ms(value: number): number {
  return Math.round(value * 1000) / 1000;
}
