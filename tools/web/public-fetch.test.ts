import http from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { readBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { tooLarge } from './bounded-body.ts';
import { fetchPublic } from './public-fetch.ts';

const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Starts a server on this machine, and counts its requests. */
async function serve(listener: http.RequestListener, host = '127.0.0.1') {
  let requests = 0;
  const server = http.createServer((request, response) => {
    requests += 1;
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { port, url: `http://127.0.0.1:${port}/`, requests: () => requests };
}

interface Given {
  readonly allow?: string;
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onResolve?: (host: string) => void;
}

/** Fetches the text at `url`; names are resolved by the test. */
function fetchText(
  url: string,
  { allow = '', names = {}, timeoutMs = 20_000, signal, onResolve }: Given = {},
) {
  const resolve = async (host: string) => {
    onResolve?.(host);
    return (names[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  const environment = { GAIA_MESH_ALLOW_PRIVATE_HOSTS: allow };
  const options = { environment, resolve, timeoutMs, signal: signal ?? new AbortController().signal };
  return fetchPublic(url, options, async (reply) => ({
    ...reply,
    text: (await readBytes(reply.body, 1000, tooLarge('the page', 1000))).toString(),
  }));
}

const hello: http.RequestListener = (_request, response) => response.end('hello');

describe('addresses that are refused', () => {
  test.each([
    ['the loopback address', (port: number) => `http://127.0.0.1:${port}/`],
    ['in decimal', (port: number) => `http://2130706433:${port}/`],
    ['in hexadecimal', (port: number) => `http://0x7f000001:${port}/`],
    ['in octal', (port: number) => `http://0177.0.0.01:${port}/`],
    ['in short', (port: number) => `http://127.1:${port}/`],
    ['with a dot at the end', (port: number) => `http://127.0.0.1.:${port}/`],
    ['in full-width digits', (port: number) => `http://１２７.0.0.1:${port}/`],
    ['as IPv6', (port: number) => `http://[::1]:${port}/`],
    ['mapped into IPv6', (port: number) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['mapped, in words', (port: number) => `http://[::ffff:7f00:1]:${port}/`],
    ['unspecified', (port: number) => `http://0.0.0.0:${port}/`],
    ['the metadata service', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a private network', () => 'http://192.168.1.1/'],
  ])('%s', async (_name, url) => {
    const server = await serve(hello);
    await expect(fetchText(url(server.port))).rejects.toThrow(/private network: it is not fetched/);
    expect(server.requests()).toBe(0);
  });

  test('are found behind a name, with the system’s own name service', async () => {
    const server = await serve(hello);
    const environment = {};
    const options = { environment, timeoutMs: 20_000, signal: new AbortController().signal };
    const asked = fetchPublic(`http://localhost:${server.port}/`, options, async () => 'read');
    await expect(asked).rejects.toThrow(/^localhost \(.*\) is an address of this machine/);
    expect(server.requests()).toBe(0);
  });

  test.each([
    [['127.0.0.1']],
    [['8.8.8.8', '127.0.0.1']],
    [['::ffff:10.0.0.1', '8.8.8.8']],
    [['2606:4700::1111', 'fe80::1']],
  ])('are found among all addresses of a name: %j', async (addresses) => {
    const names = { 'evil.example': addresses };
    await expect(fetchText('http://evil.example/', { names })).rejects.toThrow(
      /evil\.example \(.*not fetched/,
    );
  });

  test('are found after a redirect, each time', async () => {
    const inside = await serve(hello);
    const outside = await serve((_request, response) => {
      response.writeHead(302, { location: inside.url }).end();
    });
    const allow = `127.0.0.1:${outside.port}`;
    await expect(fetchText(outside.url, { allow })).rejects.toThrow(
      /127\.0\.0\.1 is an address of this machine/,
    );
    expect([outside.requests(), inside.requests()]).toEqual([1, 0]);
  });

  test('a name is asked for once, and the connection goes to what was checked (no DNS rebinding)', async () => {
    const server = await serve(hello);
    let asked = 0;
    // The name resolves to an allowed address first, and to a forbidden one afterwards.
    const resolve = async () => {
      asked += 1;
      return [{ address: asked === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }];
    };
    const options = {
      environment: { GAIA_MESH_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
      resolve,
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    };
    const read = () =>
      fetchPublic(`http://rebind.example:${server.port}/`, options, async (reply) =>
        (await readBytes(reply.body, 100, tooLarge('it', 100))).toString(),
      );
    expect(await read()).toBe('hello');
    expect(asked).toBe(1);
    // A kept connection would reach the address without a check.
    await expect(read()).rejects.toThrow(/10\.0\.0\.1/);
    expect(server.requests()).toBe(1);
  });
});

describe('the list of private hosts that are allowed', () => {
  test.each([
    ['an address', (port: number) => `127.0.0.1:${port}`],
    ['an address with any port', () => ' 127.0.0.1 , other'],
    ['a name', (port: number) => `site.example:${port}`],
    ['a name with any port', () => 'SITE.example'],
  ])('takes %s', async (_name, allow) => {
    const server = await serve(hello);
    const names = { 'site.example': ['127.0.0.1'] };
    const { text } = await fetchText(`http://site.example:${server.port}/`, {
      names,
      allow: allow(server.port),
    });
    expect(text).toBe('hello');
  });

  test.each([
    ['another port', '127.0.0.1:1'],
    ['another host', '127.0.0.2'],
    ['a name that it only begins with', 'site'],
    ['nothing', ','],
  ])('with %s does not let this one in', async (_name, allow) => {
    const server = await serve(hello);
    const names = { 'site.example': ['127.0.0.1'] };
    await expect(fetchText(`http://site.example:${server.port}/`, { names, allow })).rejects.toThrow(
      /not fetched/,
    );
  });
});

describe('a URL', () => {
  test.each([
    ['file:///etc/passwd', /only http and https are, not file:/],
    ['ftp://example.org/', /not ftp:/],
    ['data:text/html,hi', /not data:/],
    ['javascript:alert(1)', /not javascript:/],
    ['example.org', /is not a URL: give one that begins with/],
    ['http://', /is not a URL/],
    [`http://example.org/${'x'.repeat(9000)}`, /is not a URL/],
    ['http://user:secret@example.org/', /holds a user or a password/],
    ['http://:secret@example.org/', /holds a user or a password/],
    ['http://user@example.org/', /holds a user or a password/],
  ])('like %j is refused (RA-38)', async (url, message) => {
    await expect(fetchText(url)).rejects.toThrow(message);
  });

  test('of another scheme is refused after a redirect, too', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(301, { location: 'file:///etc/passwd' }).end();
    });
    await expect(fetchText(server.url, { allow: '127.0.0.1' })).rejects.toThrow(/not file:/);
  });

  test('whose host has no address means no network (REQ-084)', async () => {
    await expect(fetchText('http://nobody.example/')).rejects.toThrow(
      /^no network: nobody\.example has no address$/,
    );
  });
});

describe('an answer', () => {
  test.each([
    ['was not read', async () => 'enough'],
    ['its reader refused', () => Promise.reject(new MeshError('tool', 'of no use'))],
  ])('that %s keeps no connection', async (_what, use) => {
    const closed = Promise.withResolvers<void>();
    const server = await serve((request, response) => {
      request.socket.once('close', () => closed.resolve());
      response.write('the beginning of a page without an end');
    });
    const environment = { GAIA_MESH_ALLOW_PRIVATE_HOSTS: '127.0.0.1' };
    const options = { environment, timeoutMs: 100_000, signal: new AbortController().signal };
    await fetchPublic(server.url, options, use).catch(() => undefined);
    await closed.promise;
  });

  test('comes with its type, charset and last address', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/') return void response.writeHead(307, { location: '/b?c=1' }).end();
      response.writeHead(200, {
        'content-type': 'Text/HTML; Charset="ISO-8859-1"',
        'content-disposition': 'attachment',
      });
      response.end(`for ${request.headers.cookie ?? 'nobody'}`);
    });
    expect(await fetchText(server.url, { allow: '127.0.0.1' })).toMatchObject({
      url: `${server.url}b?c=1`,
      mediaType: 'text/html',
      charset: 'ISO-8859-1',
      disposition: 'attachment',
      text: 'for nobody',
    });
  });

  test('is followed through five redirects and not six', async () => {
    const server = await serve((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const allow = '127.0.0.1';
    expect((await fetchText(`${server.url}5`, { allow })).text).toBe('there');
    await expect(fetchText(`${server.url}6`, { allow })).rejects.toThrow(/redirected more than 5 times/);
  });

  test.each([
    ['gzip', gzipSync('packed')],
    ['br', brotliCompressSync('packed')],
  ])('packed as %s is unpacked', async (encoding, body) => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(body);
    });
    expect((await fetchText(server.url, { allow: '127.0.0.1' })).text).toBe('packed');
  });

  test('that is small packed and large unpacked is cut off at its bound', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000)));
    });
    await expect(fetchText(server.url, { allow: '127.0.0.1' })).rejects.toThrow(
      'the page is larger than 1000 bytes',
    );
  });

  test.each([
    ['is damaged', { 'content-encoding': 'gzip' }, 'no gzip', /sent a malformed reply/],
    [
      'is packed strangely',
      { 'content-encoding': 'zstd' },
      'x',
      /compressed as zstd, which was not requested/,
    ],
  ])('that %s is refused', async (_name, headers, body, message) => {
    const server = await serve((_request, response) => void response.writeHead(200, headers).end(body));
    await expect(fetchText(server.url, { allow: '127.0.0.1' })).rejects.toThrow(message);
  });

  test('that never ends is cut off at its bound, and the connection closed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const server = await serve((_request, response) => {
      response.on('close', resolve);
      const more = () => response.write('x'.repeat(1000));
      response.on('drain', more);
      while (more());
    });
    await expect(fetchText(server.url, { allow: '127.0.0.1' })).rejects.toThrow(/larger than 1000 bytes/);
    await promise;
  });

  test('with a status that says no is an error with that status', async () => {
    const server = await serve((_request, response) => void response.writeHead(404, 'Not Found').end());
    await expect(fetchText(`${server.url}a?key=1`, { allow: '127.0.0.1' })).rejects.toThrow(
      `${server.url}a answered with status 404 Not Found`,
    );
  });

  test('that breaks off is said to', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('x');
      response.destroy();
    });
    await expect(fetchText(server.url, { allow: '127.0.0.1' })).rejects.toThrow(/broke off before its end$/);
  });

  test.each(['head', 'body'])('whose %s does not come ends with its time', async (part) => {
    const server = await serve((_request, response) => {
      if (part === 'body') response.writeHead(200).write('x');
    });
    await expect(fetchText(server.url, { allow: '127.0.0.1', timeoutMs: 200 })).rejects.toThrow(
      /took longer than 0\.2 s: given up/,
    );
  });

  test('is not waited for when the task ends', async () => {
    const ended = new AbortController();
    const server = await serve(() => ended.abort());
    await expect(fetchText(server.url, { allow: '127.0.0.1', signal: ended.signal })).rejects.toThrow(
      /task has ended/,
    );
  });

  test('of nobody means no network (REQ-084)', async () => {
    const server = await serve(hello);
    await new Promise((resolve) => servers.splice(0)[0]?.close(resolve));
    const failed = await fetchText(server.url, { allow: '127.0.0.1' }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(MeshError);
    expect(failed).toHaveProperty(
      'message',
      `no network: 127.0.0.1:${server.port} cannot be reached (ECONNREFUSED)`,
    );
  });
});
