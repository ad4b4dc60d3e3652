import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PageServer } from './page-server.ts';

async function started(answer: Parameters<typeof PageServer.start>[1] = () => ({ json: 'inside' })) {
  const pages = await PageServer.start(0, answer);
  onTestFinished(() => pages.close());
  return new URL(pages.url);
}

interface Got {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a request with any `host` header, which `fetch` does not allow. */
function get(url: URL, options: { host?: string; path?: string; method?: string } = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const { host = url.host, path = url.pathname, method = 'GET' } = options;
    const sent = request(
      { port: url.port, host: '127.0.0.1', path, method, headers: { host } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

test('the address has a token that nobody guesses, another for each page', async () => {
  const [one, two] = [await started(), await started()];

  expect(one.hostname).toBe('127.0.0.1');
  expect(one.pathname).toMatch(/^\/[\w-]{32}\/$/);
  expect(one.pathname).not.toBe(two.pathname);
});

test.each([
  ['no token', () => '/'],
  ['another token', (token: string) => `/${token.slice(1, -2)}${token.at(-2) === 'x' ? 'y' : 'x'}/`],
  ['half a token', (token: string) => `${token.slice(0, 9)}/`],
  ['a token elsewhere', (token: string) => `/x${token}`],
  ['a token in the query', (token: string) => `/?${token}`],
])('who has %s is told nothing', async (_, pathOf) => {
  const answer = vi.fn(() => ({ json: 'inside' }));
  const url = await started(answer);

  const { status, text } = await get(url, { path: pathOf(url.pathname) });

  expect(status).toBe(403);
  expect(text).not.toContain('inside');
  expect(answer).not.toHaveBeenCalled();
});

test.each(['attacker.example', 'attacker.example:80', '127.0.0.1', '[::1]:1'])(
  'who came by the name %j, which leads here, is told nothing',
  async (host) => {
    const url = await started();

    expect(await get(url, { host })).toMatchObject({ status: 403 });
    expect(await get(url, { host: `localhost:${url.port}` })).toMatchObject({ status: 200 });
  },
);

test('only reads: other methods are refused', async () => {
  const url = await started();

  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect(await get(url, { method })).toMatchObject({ status: 405 });
});

test('other pages of the browser can neither frame it nor read from it, and a page comes with its policy', async () => {
  const url = await started(() => ({ html: '<p>', policy: "default-src 'none'" }));

  const { headers } = await get(url);

  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'none'",
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test('what cannot be read is said to the page, and the server goes on', async () => {
  const url = await started(({ path }) => {
    if (path === 'broken') throw new MeshError('config', 'archive: is broken');
    return path === '' ? { json: 'inside' } : undefined;
  });

  expect(await get(url, { path: `${url.pathname}broken` })).toMatchObject({
    status: 500,
    text: '{"error":"archive: is broken"}',
  });
  expect(await get(url, { path: `${url.pathname}other` })).toMatchObject({ status: 404 });
  expect(await get(url)).toMatchObject({ status: 200, text: '"inside"' });
});

test.skipIf(process.platform !== 'linux')(
  'the page is on one address of this machine, and on no other',
  async () => {
    const { port } = await started();
    const socket = connect({ host: '127.0.0.2', port: Number(port) });
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  },
);

test('a page too many is refused until one of the 32 is closed', async () => {
  const url = await started(({ response }) => {
    response.writeHead(200).flushHeaders();
    return 'streams';
  });
  const open = async () => {
    const sent = request({
      port: url.port,
      host: '127.0.0.1',
      path: url.pathname,
      headers: { host: url.host },
    });
    sent.on('error', () => undefined).end();
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, close: () => sent.destroy() };
  };
  const pages = await Promise.all(Array.from({ length: 32 }, open));
  expect(pages.map(({ status }) => status)).toEqual(Array(32).fill(200));
  expect((await get(url)).status).toBe(503);
  for (const page of pages) page.close();
  await expect
    .poll(async () => {
      const page = await open();
      page.close();
      return page.status;
    })
    .toBe(200);
});

test('a port that is taken is said', async () => {
  const url = await started();

  await expect(PageServer.start(Number(url.port), () => undefined)).rejects.toThrow(
    `cannot serve the page on port ${url.port} of 127.0.0.1: the port is in use`,
  );
});

test.each([undefined, 'GET /', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'])(
  'is there within a second for who has the address while 300 strangers hold connections and say %j',
  async (says) => {
    const url = await started();
    const sockets = Array.from({ length: 300 }, () => {
      const socket = connect({ port: Number(url.port), host: '127.0.0.1' }).on('error', () => undefined);
      if (says !== undefined) socket.write(says);
      return socket;
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(
      sockets.map(
        (socket) => new Promise((resolve) => socket.once('connect', resolve).once('close', resolve)),
      ),
    );
    const timeAnswer = async () => {
      const before = performance.now();
      expect(await get(url)).toMatchObject({ status: 200 });
      return performance.now() - before;
    };

    // The best of a few tries counts, since other programs share this machine.
    await expect.poll(timeAnswer, { interval: 0 }).toBeLessThan(1000);
  },
);
