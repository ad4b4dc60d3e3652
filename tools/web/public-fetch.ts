import { lookup } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';
import { isPublicAddress } from './public-address.ts';

/** A page or file from the internet: its head has been read, its body has not. */
export interface PublicReply {
  /** The URL after redirects. */
  readonly url: string;
  /** Media type, lower case, without parameters; empty if none was sent. */
  readonly mediaType: string;
  readonly charset: string | undefined;
  readonly disposition: string | undefined;
  /** Decompressed bytes; the reader has to bound them. */
  readonly body: AsyncIterable<Uint8Array>;
}

interface PublicFetchOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Time limit for everything together: names, redirects, and the body. */
  readonly timeoutMs: number;
  /** Resolves a host name; tests use their own names. */
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
}

interface Address {
  readonly address: string;
  readonly family: number;
}

/**
 * The variable that allows private hosts: a comma-separated list of `host` or `host:port`, where a host is a name or an
 * address. It serves tests, and users who fetch from their own network.
 */
const ALLOWED_VARIABLE = 'GAIA_MESH_ALLOW_PRIVATE_HOSTS';

/** Maximum redirects. Browsers follow 20, but a server that needs more than a few wants to keep the client busy. */
const MAX_REDIRECTS = 5;
const MAX_URL_CHARACTERS = 8192;

/** A user agent that resembles a browser's: sites send others an empty page. */
const USER_AGENT = 'Mozilla/5.0 (compatible; gaia-mesh)';

/**
 * Fetches a URL that a model or a page supplied and that therefore must not lead to this machine or network: every address of
 * its host is checked, again after each redirect, and the connection goes to a checked address, so that a name that
 * changes in between (DNS rebinding) gains nothing. It sends no cookies and no keys, over a connection of its own.
 *
 * `use` has to read the body if it needs it; afterwards the connection is closed.
 *
 * @throws MeshError `tool`: a refusal with its reason, `no network: …`, or the status of a failure
 */
export async function fetchPublic<Result>(
  target: string,
  options: PublicFetchOptions,
  use: (reply: PublicReply) => Promise<Result>,
): Promise<Result> {
  const limit = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([options.signal, limit]);
  let url = parseWebAddress(target);
  let response: http.IncomingMessage | undefined;
  try {
    for (let redirects = 0; ; redirects++) {
      response = await get(url, await checkAddresses(url, options, signal), signal);
      const location = findRedirect(response);
      if (location === undefined) break;
      response.destroy();
      if (redirects === MAX_REDIRECTS) {
        throw new MeshError(
          'tool',
          `${formatUrl(url)} was redirected more than ${MAX_REDIRECTS} times: given up`,
        );
      }
      url = parseWebAddress(location, url);
    }
    const { statusCode = 0, statusMessage = '' } = response;
    if (statusCode < 200 || statusCode > 299) {
      throw new MeshError(
        'tool',
        `${formatUrl(url)} answered with status ${statusCode} ${statusMessage}`.trim(),
      );
    }
    return await use(toPublicReply(url, response));
  } catch (error) {
    throw fetchFault(error, url, options, limit);
  } finally {
    response?.destroy();
  }
}

/**
 * Parses a URL and refuses those that are never fetched.
 *
 * @throws MeshError `tool`
 */
function parseWebAddress(target: string, base?: URL): URL {
  const url = target.length > MAX_URL_CHARACTERS ? null : URL.parse(target, base?.href);
  const refused = (why: string) => new MeshError('tool', `${JSON.stringify(target.slice(0, 200))} ${why}`);
  if (url === null) throw refused('is not a URL: give one that begins with http:// or https://');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refused(`is not fetched: only http and https are, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '')
    throw refused('is not fetched: it holds a user or a password');
  return url;
}

/** Returns the addresses to connect to, each checked to be public or allowed. */
async function checkAddresses(
  url: URL,
  { environment, resolve = resolveHost }: PublicFetchOptions,
  signal: AbortSignal,
): Promise<readonly Address[]> {
  // The URL parser has already turned `http://2130706433/` and `http://0x7f.1/` into `127.0.0.1`, as the standard says.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = net.isIP(host);
  const addresses = family === 0 ? await raceAbort(signal, resolve(host)) : [{ address: host, family }];
  if (addresses.length === 0) throw new MeshError('tool', `no network: ${host} has no address`);
  const allowed = listAllowedHosts(environment);
  const port = url.port === '' ? (url.protocol === 'http:' ? '80' : '443') : url.port;
  const isAllowed = (address: string) =>
    [
      host,
      `${host}:${port}`,
      `[${host}]:${port}`,
      address,
      `${address}:${port}`,
      `[${address}]:${port}`,
    ].some((name) => allowed.has(name));
  for (const { address } of addresses) {
    if (isPublicAddress(address) || isAllowed(address)) continue;
    const what = address === host ? host : `${host} (${address})`;
    throw new MeshError(
      'tool',
      `${what} is an address of this machine or a private network: it is not fetched, unless ${ALLOWED_VARIABLE} names it`,
    );
  }
  return addresses;
}

function listAllowedHosts(environment: PublicFetchOptions['environment']): Set<string> {
  return new Set(
    (environment[ALLOWED_VARIABLE] ?? '').split(',').flatMap((host) => host.trim().toLowerCase() || []),
  );
}

async function resolveHost(host: string): Promise<readonly Address[]> {
  return lookup(host, { all: true });
}

/** Sends the request to one of `addresses` and waits for the head of the reply. */
function get(url: URL, addresses: readonly Address[], signal: AbortSignal): Promise<http.IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const { request } = url.protocol === 'https:' ? https : http;
  const asked = request(url, {
    // A connection that was made for another check is not reused.
    agent: false,
    signal,
    lookup: (_host, { all }, give) => {
      const [first] = addresses;
      if (all || first === undefined) give(null, [...addresses]);
      else give(null, first.address, first.family);
    },
    headers: {
      'user-agent': USER_AGENT,
      accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      'accept-language': 'en',
      'accept-encoding': 'gzip, br',
    },
  });
  asked.once('response', resolve).once('error', reject).end();
  return promise;
}

function findRedirect({ statusCode, headers: { location } }: http.IncomingMessage): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode ?? 0) ? location : undefined;
}

function toPublicReply(url: URL, response: http.IncomingMessage): PublicReply {
  const [mediaType = '', ...parameters] = (response.headers['content-type'] ?? '').split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)/i.exec(parameter)?.[1])
    .find(Boolean);
  return {
    url: url.href,
    mediaType: mediaType.trim().toLowerCase(),
    charset,
    disposition: response.headers['content-disposition'],
    body: unpackResponse(response),
  };
}

/** Decompresses the body as it arrives, so that the reader's bound applies to the decompressed size. */
function unpackResponse(response: http.IncomingMessage): AsyncIterable<Uint8Array> {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const unpacker = chooseUnpacker(encoding);
  if (unpacker === undefined) {
    throw new MeshError(
      'tool',
      `the reply is compressed as ${encoding.slice(0, 40)}, which was not requested`,
    );
  }
  if (unpacker === 'none') return response;
  // The pipeline starts at once: a response that breaks off without a listener would never end. The reader gets the error.
  return pipeline(response, unpacker, (error) => error);
}

function chooseUnpacker(encoding: string) {
  switch (encoding) {
    case 'identity':
    case '':
      return 'none';
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'deflate':
      return createInflate();
    default:
      return undefined;
  }
}

/** Turns expected failures into messages; returns a bug as it is. */
function fetchFault(error: unknown, url: URL, options: PublicFetchOptions, limit: AbortSignal): unknown {
  const fault = (message: string) => new MeshError('tool', message, { cause: error });
  if (error instanceof MeshError) return error;
  if (options.signal.aborted) return fault(`${url.host}: stopped, the task has ended`);
  if (limit.aborted)
    return fault(`${formatUrl(url)} took longer than ${options.timeoutMs / 1000} s: given up`);
  const code = readSystemCode(error) ?? '';
  // Codes of zlib and of the HTTP parser.
  if (/^(Z_|ERR__ERROR|ERR_BROTLI|HPE_)/.test(code)) {
    return fault(`${formatUrl(url)} sent a malformed reply: ${toErrorMessage(error)} (${code})`);
  }
  if (code === 'ERR_STREAM_PREMATURE_CLOSE') return fault(`${formatUrl(url)} broke off before its end`);
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_|UNABLE_|SELF_SIGNED|EPROTO)/.test(code)) {
    return fault(`${url.host} cannot be trusted: its certificate or TLS is invalid (${code})`);
  }
  return /^E(?!RR_)[A-Z_]+$/.test(code)
    ? fault(`no network: ${url.host} cannot be reached (${code})`)
    : error;
}

/** Formats a URL without its query, which may be long or private. */
function formatUrl(url: URL): string {
  return `${url.origin}${url.pathname}`.slice(0, 300);
}
