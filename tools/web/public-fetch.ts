import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import net from 'node:net';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';
import { findConnectionFault, findRedirect, MAX_REDIRECTS, sendRequest } from '../http/fetch.ts';

/** IPv4 networks that are not public: IANA's special-purpose registry, multicast, and reserved ones. */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local, with the metadata services of clouds.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Exceptions in 2000::/3, which holds all global IPv6 addresses: protocol assignments (such as Teredo), documentation, 6to4. */
const PRIVATE_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const privateV4 = createBlockList(PRIVATE_V4, 'ipv4');
const privateV6 = createBlockList(PRIVATE_V6, 'ipv6');
const globalV6 = createBlockList([['2000::', 3]], 'ipv6');

/**
 * Returns true if an IP address belongs to the public internet: not loopback, private, link-local, shared, multicast or reserved. An
 * IPv6 address that carries an IPv4 one (mapped, or NAT64 as on networks without IPv4) is judged by that one. Anything but an
 * address is not public.
 */
export function isPublicAddress(address: string): boolean {
  switch (net.isIP(address)) {
    case 4:
      return !privateV4.check(address, 'ipv4');
    case 6: {
      // A zone names an interface of this machine.
      if (address.includes('%')) return false;
      const words = parseIpv6Words(address);
      const carried = findCarriedV4(words);
      if (carried !== undefined) return isPublicAddress(carried);
      return globalV6.check(address, 'ipv6') && !privateV6.check(address, 'ipv6');
    }
    default:
      return false;
  }
}

/** Returns the IPv4 address inside one of `::ffff:0:0/96` and `64:ff9b::/96`. */
function findCarriedV4(words: readonly number[]): string | undefined {
  const head = words.slice(0, 6).join();
  if (head !== [0, 0, 0, 0, 0, 0xffff].join() && head !== [0x64, 0xff9b, 0, 0, 0, 0].join()) return undefined;
  return words
    .slice(6)
    .flatMap((word) => [word >> 8, word & 0xff])
    .join('.');
}

/** Parses the eight words of an IPv6 address in any spelling. */
function parseIpv6Words(address: string): number[] {
  // The URL parser normalises all spellings to one, without an IPv4 part.
  const [left = '', right] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const words = (part: string) =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
  const [head, tail] = [words(left), words(right ?? '')];
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function createBlockList(
  subnets: readonly (readonly [string, number])[],
  family: 'ipv4' | 'ipv6',
): net.BlockList {
  const list = new net.BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, family);
  return list;
}

/** A page or file from the internet: its head has been read, its body has not. */
export interface PublicReply {
  /** The URL after redirects. */
  readonly url: string;
  /** Media type, lower case, without parameters; empty if none was sent. */
  readonly mediaType: string;
  readonly charset: string | undefined;
  readonly disposition: string | undefined;
  /** Unpacked bytes as they arrive; the reader has to bound them. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

interface PublicFetchOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Time limit for everything together: names, redirects, and the body. */
  readonly timeoutMs: number;
  /** Resolves a host name; tests use their own names. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
}

/**
 * The variable that allows private hosts: a comma-separated list of `host` or `host:port`, where a host is a name or an
 * address. It serves tests, and users who fetch from their own network.
 */
const ALLOWED_VARIABLE = 'GAIA_MESH_ALLOW_PRIVATE_HOSTS';

const MAX_URL_CHARACTERS = 8192;

const HEADERS = {
  // It resembles a browser's: sites send others an empty page.
  'user-agent': 'Mozilla/5.0 (compatible; gaia-mesh)',
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'accept-language': 'en',
  'accept-encoding': 'gzip, br',
};
/** The encodings that arrive unpacked: those that were requested, and older ones that some servers send regardless. */
const UNPACKED = ['', 'identity', 'gzip', 'x-gzip', 'br', 'deflate'];

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
  const finished = new AbortController();
  const signal = AbortSignal.any([options.signal, limit, finished.signal]);
  let url = parseWebAddress(target);
  try {
    for (let redirects = 0; ; redirects++) {
      const addresses = await checkAddresses(url, options, signal);
      const response = await sendRequest(url, { headers: HEADERS, signal, addresses });
      const location = findRedirect(response);
      if (location === undefined) return await use(toPublicReply(url, response));
      await response.body?.cancel();
      if (redirects === MAX_REDIRECTS) {
        throw new MeshError(
          'tool',
          `${formatUrl(url)} was redirected more than ${MAX_REDIRECTS} times: given up`,
        );
      }
      url = parseWebAddress(location, url);
    }
  } catch (error) {
    throw fetchFault(error, url, options, limit);
  } finally {
    // A reader may stop before the end, which would keep the connection open.
    finished.abort();
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
): Promise<readonly LookupAddress[]> {
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

async function resolveHost(host: string): Promise<readonly LookupAddress[]> {
  return lookup(host, { all: true });
}

function toPublicReply(url: URL, { status, statusText, ok, headers, body }: Response): PublicReply {
  if (!ok)
    throw new MeshError('tool', `${formatUrl(url)} answered with status ${status} ${statusText}`.trim());
  const packed = (headers.get('content-encoding') ?? '').trim().toLowerCase();
  if (!UNPACKED.includes(packed)) {
    throw new MeshError('tool', `the reply is compressed as ${packed.slice(0, 40)}, which was not requested`);
  }
  const [mediaType = '', ...parameters] = (headers.get('content-type') ?? '').split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)/i.exec(parameter)?.[1])
    .find(Boolean);
  return {
    url: url.href,
    mediaType: mediaType.trim().toLowerCase(),
    charset,
    disposition: headers.get('content-disposition') ?? undefined,
    body,
  };
}

/** Turns expected failures into messages; returns a bug as it is. */
function fetchFault(error: unknown, url: URL, options: PublicFetchOptions, limit: AbortSignal): unknown {
  const fault = (message: string) => new MeshError('tool', message, { cause: error });
  if (error instanceof MeshError) return error;
  if (options.signal.aborted) return fault(`${url.host}: stopped, the task has ended`);
  if (limit.aborted)
    return fault(`${formatUrl(url)} took longer than ${options.timeoutMs / 1000} s: given up`);
  const broken = findConnectionFault(error);
  if (broken === undefined) return error;
  const { code, message, isCutOff } = broken;
  // Codes of zlib and of the HTTP parser.
  if (/^(Z_|ERR__ERROR|ERR_BROTLI|HPE_)/.test(code))
    return fault(`${formatUrl(url)} sent a malformed reply: ${message} (${code})`);
  if (isCutOff) return fault(`${formatUrl(url)} broke off before its end`);
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_|UNABLE_|SELF_SIGNED|EPROTO)/.test(code)) {
    return fault(`${url.host} cannot be trusted: its certificate or TLS is invalid (${code})`);
  }
  return /^(E(?!RR_)|UND_ERR_)[A-Z_]+$/.test(code)
    ? fault(`no network: ${url.host} cannot be reached (${code})`)
    : error;
}

/** Formats a URL without its query, which may be long or private. */
function formatUrl(url: URL): string {
  return `${url.origin}${url.pathname}`.slice(0, 300);
}
