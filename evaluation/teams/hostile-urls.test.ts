import { randomUUID } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { connectForeign } from '@gaia-mesh/stacks/mcp/foreign/foreign-server.ts';
import { createSelfSigned } from '@gaia-mesh/stacks/self-signed.ts';
import { loadEngine } from '@gaia-mesh/tools/engines/registry.ts';
import { dataToolPlace } from '@gaia-mesh/tools/fixtures/data-tool-place.ts';
import { callService, type ServiceCall } from '@gaia-mesh/tools/web/call-service.ts';
import { fetchPublic } from '@gaia-mesh/tools/web/public-fetch.ts';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { send as sendOtlp } from '../export/otlp/open-telemetry.ts';
import { ScoringApi } from '../questions/scoring-api.ts';
import { offerTeam, serveOffer } from '../serve/serve-team.ts';
import { connectA2a } from './foreign-peers.ts';

/** URLs and redirects try to lead each of our clients to another host, which must not receive a byte. */

const TOKEN = 'token-that-must-not-travel';
const REDIRECTS = [301, 302, 303, 307, 308];

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** Starts an HTTP server that keeps the requests it received. */
async function serve(answer: (seen: Seen, response: http.ServerResponse) => void, host = '127.0.0.1') {
  const seen: Seen[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const last = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
    seen.push(last);
    answer(last, response);
  });
  const port = await listen(server, host);
  return { seen, host: `${host}:${port}`, url: `http://${host}:${port}` };
}

/** Another host of this machine, and the number of connections to it. */
async function trap() {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const port = await listen(server, '127.0.0.2');
  return { port, host: `127.0.0.2:${port}`, connections: () => connections };
}

async function listen(server: net.Server, host: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  ends.push(
    () =>
      new Promise((resolve) => {
        if (server instanceof http.Server) server.closeAllConnections();
        server.close(resolve);
      }),
  );
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** URLs that lead, or seem to lead, from the host OWN to the host TRAP, which has the port PORT. */
const HOSTILE_URLS = [
  'http://OWN//TRAP/steal',
  'http://OWN/\\TRAP/steal',
  'http://OWN\\\\TRAP/steal',
  'http://OWN/\t/TRAP/steal',
  'http://OWN/\n/TRAP/steal',
  'http://OWN/%2f%2fTRAP/steal',
  'http://OWN/%2f/TRAP/steal',
  'http://OWN/..//TRAP/steal',
  'http://OWN/.//TRAP/steal',
  'http://OWN/http://TRAP/steal',
  'http://OWN//user@TRAP/steal',
  'http://OWN@TRAP/steal',
  'http://OWN%40TRAP/steal',
  'http://user:password@TRAP/steal',
  'http://TRAP#@OWN/',
  'http://TRAP\\@OWN/',
  'http://TRAP?@OWN/',
  'http://TRAP/steal',
  'HTTP://TRAP/steal',
  'https://TRAP/steal',
  'http:/TRAP/steal',
  'http:TRAP/steal',
  'http:\\\\TRAP/steal',
  '//TRAP/steal',
  ' http://TRAP/steal',
  'ht\ttp://TRAP/steal',
  'http://2130706434:PORT/',
  'http://0x7f000002:PORT/',
  'http://0177.0.0.2:PORT/',
  'http://127.2:PORT/',
  'http://[::ffff:127.0.0.2]:PORT/',
  'http://127。0。0。2:PORT/',
  'http://127.0.0.2.:PORT/',
  'http://localhost.evil.com:PORT/',
  'http://127.0.0.1.evil.com:PORT/',
];

const fill = (url: string, own: string, other: { readonly host: string; readonly port: number }) =>
  url.replace('OWN', own).replace('TRAP', other.host).replace('PORT', String(other.port));

const signal = () => AbortSignal.timeout(20_000);
const json = (response: http.ServerResponse, body: object) =>
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

describe('an agent of A2A', () => {
  const message = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Paris' }] } };

  /** Asks an agent whose card has one interface, and whose server answers every message by `answer`. */
  async function ask(
    protocolBinding: string,
    url: (own: string) => string,
    answer: (seen: Seen, response: http.ServerResponse) => void,
  ) {
    const own = await serve((seen, response) => {
      if (seen.method !== 'GET') return answer(seen, response);
      const supportedInterfaces = [{ url: url(own.host), protocolBinding, protocolVersion: '1.0' }];
      return json(response, { name: 'foreign', supportedInterfaces });
    });
    const place = { url: own.url, token: TOKEN, maxMessageBytes: 100_000 };
    const reply = await connectA2a(place, signal())
      .then(async (peer) => {
        ends.push(() => peer.close());
        return peer.call('ask', { message: 'a secret question' }, { signal: signal(), timeoutMs: 5_000 });
      })
      .catch((error: unknown) => error);
    return { own, reply };
  }

  // Both interfaces share the code that reads the URL, so each URL is tried with one of them, and every seventh with both.
  test.each(
    HOSTILE_URLS.flatMap((url, index) => {
      const names = ['JSONRPC', 'HTTP+JSON'];
      return (index % 7 === 0 ? names : names.slice(index % 2, (index % 2) + 1)).map(
        (name) => [name, url] as const,
      );
    }),
  )('leads neither token nor question to another host by the %s interface %j', async (name, url) => {
    const other = await trap();
    await ask(
      name,
      (own) => fill(url, own, other),
      (_seen, response) => json(response, message),
    );
    expect(other.connections()).toBe(0);
  });

  test('is asked itself where its path looks like a host', async () => {
    const other = await trap();
    const { own, reply } = await ask(
      'HTTP+JSON',
      (host) => `http://${host}//${other.host}/steal`,
      (_seen, response) => json(response, message),
    );
    expect(reply).toMatchObject({ texts: ['Paris'] });
    expect(own.seen.at(-1)).toMatchObject({ path: `//${other.host}/steal/message:send` });
  });

  test('is asked for nothing outside its interface, whatever id its task has', async () => {
    const task = { id: '..', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
    const { own, reply } = await ask(
      'HTTP+JSON',
      (host) => `http://${host}/a2a`,
      (_seen, response) => json(response, { task }),
    );
    expect(reply).toMatchObject({ message: expect.stringContaining('expected a path of the server') });
    const [card, ...asked] = own.seen.map(({ path }) => path);
    expect(card).toBe('/.well-known/agent-card.json');
    expect(asked).toEqual(['/a2a/message:send', '/a2a/tasks/..:cancel']);
  });

  test.each(REDIRECTS)('leads nowhere by a redirect (%i) of its card or of a message', async (status) => {
    const other = await trap();
    const redirect = (_seen: Seen, response: http.ServerResponse) =>
      response.writeHead(status, { Location: `http://${other.host}/steal` }).end();
    const card = await serve(redirect);
    const place = { url: card.url, token: TOKEN, maxMessageBytes: 100_000 };
    await expect(connectA2a(place, signal())).rejects.toThrow(`received status ${status}`);
    for (const name of ['JSONRPC', 'HTTP+JSON']) await ask(name, (own) => `http://${own}/`, redirect);
    expect(other.connections()).toBe(0);
  });
});

describe('a server of MCP', () => {
  test.each(REDIRECTS)('leads the token nowhere by a redirect (%i)', async (status) => {
    const other = await trap();
    for (const location of [`http://${other.host}/`, `//${other.host}/`, `/\\${other.host}/`]) {
      const own = await serve((_seen, response) => response.writeHead(status, { Location: location }).end());
      const place = { url: `${own.url}/mcp`, token: TOKEN, maxMessageBytes: 100_000 };
      await expect(connectForeign(place, signal())).rejects.toThrow('no session');
      expect(own.seen.length).toBeGreaterThan(0);
    }
    expect(other.connections()).toBe(0);
  });

  test('does not lead to where it says that tokens are given out', async () => {
    const other = await trap();
    const metadata = `Bearer resource_metadata="http://${other.host}/.well-known/oauth-protected-resource"`;
    const own = await serve((_seen, response) =>
      response.writeHead(401, { 'WWW-Authenticate': metadata }).end(),
    );
    const place = { url: `${own.url}/mcp`, token: TOKEN, maxMessageBytes: 100_000 };
    await expect(connectForeign(place, signal())).rejects.toThrow('no session');
    expect(other.connections()).toBe(0);
  });

  test('is asked itself where its path looks like a host', async () => {
    const other = await trap();
    const own = await serve((_seen, response) => response.writeHead(404).end());
    const place = { url: `${own.url}//${other.host}/mcp`, token: TOKEN, maxMessageBytes: 100_000 };
    await expect(connectForeign(place, signal())).rejects.toThrow('no session');
    expect([own.seen[0]?.path, other.connections()]).toEqual([`//${other.host}/mcp`, 0]);
  });
});

describe.each(['ollama', 'openai', 'anthropic'])('a model server (%s)', (name) => {
  const step = {
    input: {},
    embedded: () => ({ answer: '' }),
    model: {
      prompt: 'ask',
      variables: () => ({ question: 'a secret question' }),
      reply: z.object({ answer: z.string() }),
      result: () => ({ answer: '' }),
    },
  };

  async function ask(host: string) {
    const engine = await loadEngine(name, {
      host,
      model: 'm',
      prompts: () => 'For people.\n\n## system\n\nBe brief.\n\n## user\n\nAsk: {{question}}\n',
      environment: { OPENAI_API_KEY: TOKEN, ANTHROPIC_API_KEY: TOKEN, GAIA_MESH_KEY_HOSTS: host },
      options: { max_retries: 0 },
    });
    await expect(engine.perform(step, { signal: signal(), countTokens: () => undefined })).rejects.toThrow(
      /HTTP (30\d|404)|has no model/,
    );
  }

  test.each(REDIRECTS)('leads the key nowhere by a redirect (%i)', async (status) => {
    const other = await trap();
    const own = await serve((_seen, response) =>
      response.writeHead(status, { Location: `http://${other.host}/steal` }).end(),
    );
    await ask(own.url);
    expect([own.seen.length > 0, other.connections()]).toEqual([true, 0]);
  });

  test('is asked itself where its path looks like a host', async () => {
    const other = await trap();
    const own = await serve((_seen, response) => response.writeHead(404).end());
    await ask(`${own.url}//${other.host}/v1`);
    expect(own.seen[0]?.path).toContain(`//${other.host}/`);
    expect(other.connections()).toBe(0);
  });
});

describe('a webhook', () => {
  const served = {
    name: 'team',
    ask: async () => ({
      answer: 'Paris',
      status: 'answered' as const,
      task_id: 't',
      elapsed_ms: 1,
      packets: 1,
      bytes: 1,
      tokens: null,
      model_calls: 0,
      cost_usd: null,
    }),
  };

  async function team(pushTo: readonly string[] = []) {
    const limits = { tasks: 1, waiting: 1, bytes: 1_000 };
    const plan = { description: 'A team', mcp: undefined, a2a: true, limits };
    const serving = await serveOffer(
      offerTeam(served, plan, false),
      { listen: '127.0.0.1', port: 0, pushTo: [...pushTo] },
      undefined,
    );
    ends.push(() => serving.close());
    return async (url: string) => {
      const taskPushNotificationConfig = { url, authentication: { scheme: 'Bearer', credentials: TOKEN } };
      const response = await fetch(`${serving.url}/a2a/jsonrpc`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'SendMessage',
          params: {
            message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Q' }] },
            configuration: { taskPushNotificationConfig },
          },
        }),
      });
      return z
        .looseObject({ error: z.unknown() })
        .partial()
        .parse(await response.json());
    };
  }

  /** Resolves when the last event of a task has come. */
  const untilDone = (hook: { readonly seen: readonly Seen[] }) =>
    vi.waitFor(
      () => expect(hook.seen.map(({ body }) => body).join()).toContain('TASK_STATE_COMPLETED'),
      10_000,
    );

  test('on another host is not called, however its URL is written', async () => {
    const [other, hook] = [await trap(), await serve((_seen, response) => response.writeHead(204).end())];
    const ask = await team();
    for (const url of HOSTILE_URLS) await ask(fill(url, hook.host, other));
    // Events are sent one after the other, so that those of the last task come after all others.
    await ask(`${hook.url}/last`);
    await vi.waitFor(() => expect(hook.seen.at(-1)?.path).toBe('/last'), 60_000);
    await untilDone(hook);
    expect(other.connections()).toBe(0);
    expect(hook.seen.map(({ path }) => path)).toContain(`//${other.host}/steal`);
  });

  test.each([
    'http://localhost.evil.com/',
    'http://127.0.0.1.evil.com/',
    'http://evil-localhost/',
    'http://evil.localhost/',
    'http://localhost./',
    'http://127.0.0.2/',
    'http://0.0.0.0/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest',
    'http://xn--localhost-.com/',
    'http://user@127.0.0.1/',
    'http://127.0.0.1\\@evil.com/',
    'http:127.0.0.1/',
    'ftp://localhost/',
  ])('whose host only looks like this machine is refused: %s', async (url) => {
    const ask = await team();
    expect(await ask(url)).toMatchObject({ error: { code: -32602 } });
  });

  test.each(['http://LOCALHOST:1/', 'http://127.1:1/', 'http://2130706433:1/', 'http://[0:0::1]:1/'])(
    'on this machine or on a host that its user named is taken: %s',
    async (url) => {
      const ask = await team(['hooks.example.com']);
      expect(await ask(url)).not.toHaveProperty('error');
      expect(await ask('http://hooks.example.com.evil.com/')).toHaveProperty('error');
    },
  );

  test.each(REDIRECTS)('leads events and credentials nowhere by a redirect (%i)', async (status) => {
    const other = await trap();
    const hook = await serve((_seen, response) =>
      response.writeHead(status, { Location: `http://${other.host}/steal` }).end(),
    );
    const ask = await team();
    await ask(hook.url);
    await untilDone(hook);
    expect(other.connections()).toBe(0);
  });
});

describe('a page that a tool fetches', () => {
  const read = (url: string, allow: string) =>
    fetchPublic(
      url,
      { environment: { GAIA_MESH_ALLOW_PRIVATE_HOSTS: allow }, signal: signal(), timeoutMs: 10_000 },
      async (reply) => reply.url,
    );

  test.each(REDIRECTS)('leads to no private host by a redirect (%i)', async (status) => {
    const other = await trap();
    for (const url of HOSTILE_URLS) {
      const own = await serve(({ path }, response) =>
        path === '/start'
          ? response.writeHead(status, { Location: encodeURI(fill(url, own.host, other)) }).end()
          : response.end('here'),
      );
      await read(`${own.url}/start`, own.host).catch(() => undefined);
    }
    expect(other.connections()).toBe(0);
  });

  test('is none of another host, however its URL is written', async () => {
    const other = await trap();
    const own = await serve((_seen, response) => response.end('here'));
    for (const url of HOSTILE_URLS) await read(fill(url, own.host, other), own.host).catch(() => undefined);
    expect(other.connections()).toBe(0);
  });
});

describe('a service that a tool asks', () => {
  const ask = (call: ServiceCall, base: string) => {
    const variables = ['TAVILY_BASE_URL', 'HF_BASE_URL', 'GEMINI_BASE_URL', 'SCORING_BASE_URL'];
    const environment = Object.fromEntries(variables.map((name) => [name, base]));
    return callService(call, dataToolPlace({ environment, options: { retries: 0 }, signal: signal() }));
  };

  test.each(REDIRECTS)('leads no body and no key elsewhere by a redirect (%i)', async (status) => {
    const other = await trap();
    const own = await serve((_seen, response) =>
      response.writeHead(status, { Location: `http://${other.host}/steal` }).end(),
    );
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-goog-api-key': TOKEN };
    const call: ServiceCall = { service: 'gemini', path: '/search', json: { query: 'Q' }, headers };
    await expect(ask(call, own.url)).rejects.toThrow(/redirects a POST to http:\/\/127\.0\.0\.2:/);
    expect([own.seen.length, other.connections()]).toEqual([1, 0]);
  });

  test.each(REDIRECTS)('leads a file’s request elsewhere without any key (%i)', async (status) => {
    const storage = await serve((_seen, response) => response.end('the file'), '127.0.0.2');
    const own = await serve(({ path }, response) =>
      path === '/file'
        ? response.writeHead(status, { Location: '/again' }).end()
        : response.writeHead(status, { Location: `${storage.url}/file` }).end(),
    );
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-goog-api-key': TOKEN, cookie: TOKEN };
    const reply = await ask({ service: 'huggingface', path: '/file', headers }, own.url);
    expect(reply.text).toBe('the file');
    expect(own.seen.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill(`Bearer ${TOKEN}`));
    expect(storage.seen).toHaveLength(1);
    expect(JSON.stringify(storage.seen)).not.toContain(TOKEN);
  });

  test('leads from TLS to no connection without it', async () => {
    const certificate = await createSelfSigned();
    if (certificate === null) throw new Error('openssl is not there');
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const other = await trap();
    const own = https.createServer({ ...certificate }, (_request, response) =>
      response.writeHead(302, { Location: `http://${other.host}/file` }).end(),
    );
    const port = await listenOnPlace(own, { port: 0 });
    ends.push(() => {
      vi.unstubAllEnvs();
      own.closeAllConnections();
      own.close();
    });
    const call: ServiceCall = { service: 'huggingface', path: '/file' };
    await expect(ask(call, `https://127.0.0.1:${port}`)).rejects.toThrow(
      /redirects a GET to http:.* not followed/,
    );
    expect(other.connections()).toBe(0);
  });

  test('leads to no other scheme and no user, and not around for ever', async () => {
    for (const location of ['ftp://127.0.0.1/', 'http://user@127.0.0.1/', 'file:///etc/passwd', '/file']) {
      const own = await serve((_seen, response) => response.writeHead(302, { Location: location }).end());
      await expect(ask({ service: 'huggingface', path: '/file' }, own.url)).rejects.toThrow('not followed');
      expect(own.seen.length).toBeLessThanOrEqual(6);
    }
  });

  test.each(['@TRAP/steal', '.evil.com/', '/../steal', '/\\TRAP/'])('has no path %j', async (path) => {
    const other = await trap();
    const own = await serve((_seen, response) => response.end('here'));
    const call: ServiceCall = { service: 'tavily', path: path.replace('TRAP', other.host) };
    await expect(ask(call, own.url)).rejects.toThrow('expected a path of the server');
    expect([own.seen.length, other.connections()]).toEqual([0, 0]);
  });
});

test.each(REDIRECTS)('a scoring API leads no submission elsewhere by a redirect (%i)', async (status) => {
  const other = await trap();
  const own = await serve((_seen, response) =>
    response.writeHead(status, { Location: `http://${other.host}/submit` }).end(),
  );
  const api = new ScoringApi(own.url, signal(), { firstBackoffMs: 1 });
  const submission = { username: 'u', agent_code: 'c', answers: [] };
  await expect(api.submit(submission)).rejects.toThrow('redirects a POST');
  expect([own.seen.length, other.connections()]).toEqual([1, 0]);
});

test.each(REDIRECTS)(
  'a collector of OTLP leads spans and its headers nowhere by a redirect (%i)',
  async (status) => {
    const other = await trap();
    const own = await serve((_seen, response) =>
      response.writeHead(status, { Location: `http://${other.host}/v1/traces` }).end(),
    );
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', `authorization=${TOKEN}`);
    ends.push(() => vi.unstubAllEnvs());
    const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
    const span = { ...ids, name: 'run', kind: 'internal', startUs: 0, endUs: 1, attributes: {} } as const;
    const telemetry = { resource: {}, spans: [span] };
    await expect(sendOtlp(telemetry, `${own.url}//${other.host}/`)).rejects.toThrow();
    expect(own.seen[0]).toMatchObject({
      path: `//${other.host}/v1/traces`,
      headers: { authorization: TOKEN },
    });
    expect(other.connections()).toBe(0);
  },
);
