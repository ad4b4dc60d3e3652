import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { MeshError, readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import type { Agent } from 'undici';

export interface FetchInit {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | URLSearchParams | FormData | undefined;
  readonly signal: AbortSignal;
  /** The checked addresses of the host, if any: the connection goes to one of them, even if its name has another address by then. */
  readonly addresses?: readonly LookupAddress[];
}

/**
 * Sends one request; every request to a model server, to a service and to the public web passes through here. It has no time limit but the
 * caller's `signal`: Node's own `fetch` gives up on a server that is silent for 300 s, and a model on a CPU may read a long prompt for
 * longer than that. It follows no redirect, so that a key stays with its server: policies decide about the next request.
 *
 * @throws TypeError `fetch failed`, with the reason as its cause (see {@link findConnectionFault})
 */
export async function sendRequest(
  url: URL,
  { headers = {}, body, signal, addresses }: FetchInit,
): Promise<Response> {
  const { Agent, fetch } = await import('undici');
  // Each request has its own connection: a server may close a kept one just when it is reused, and one that was made for another check
  // of addresses must not be used.
  const create = (lookup?: LookupFunction) =>
    new Agent({ pipelining: 0, headersTimeout: 0, bodyTimeout: 0, allowH2: false, connect: { lookup } });
  plainAgent ??= create();
  const content = body === undefined ? undefined : new Response(body);
  const type = content?.headers.get('content-type') ?? 'application/json';
  // Node's types and the package's are two copies of the same types, which the compiler does not identify.
  const send = fetch as unknown as (url: URL, init: object) => Promise<Response>;
  return send(url, {
    method: content === undefined ? 'GET' : 'POST',
    headers: content === undefined ? headers : { 'content-type': type, ...headers },
    body: await content?.arrayBuffer(),
    signal,
    redirect: 'manual',
    dispatcher: addresses === undefined ? plainAgent : create(pinAddresses(addresses)),
  });
}

let plainAgent: Agent | undefined;

function pinAddresses(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, give) => {
    const [first] = addresses;
    if (all || first === undefined) give(null, [...addresses]);
    else give(null, first.address, first.family);
  };
}

/** The location of a redirect; undefined for any other reply. */
export function findRedirect({ status, headers }: Response): string | undefined {
  return REDIRECTS.includes(status) ? (headers.get('location') ?? undefined) : undefined;
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Reads the first `maxBytes` or a little more, as text. */
export async function readStart(response: Response, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(parts).toString();
}

/** Maximum redirects of one request. Browsers follow 20, but a server that needs more than a few wants to keep the client busy. */
export const MAX_REDIRECTS = 5;

const CUT_OFF = 'UND_ERR_SOCKET';
/** Codes of an existing connection that the other side closed. */
const CUT_OFF_CODES: readonly string[] = [
  CUT_OFF,
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ERR_STREAM_PREMATURE_CLOSE',
];

interface ConnectionFault {
  readonly code: string;
  readonly message: string;
  /** True if the other side closed an existing connection. */
  readonly isCutOff: boolean;
}

/** Returns the reason behind a failed request or a body that broke off; undefined for any other error. */
export function findConnectionFault(error: unknown): ConnectionFault | undefined {
  for (let inner = error; inner instanceof Error && !(inner instanceof MeshError); inner = inner.cause) {
    const code = readSystemCode(inner);
    if (code !== undefined)
      return { code, message: inner.message || code, isCutOff: CUT_OFF_CODES.includes(code) };
    // The parser calls a reset in the middle of a reply an invalid end, without a code.
    if (inner.name === 'HTTPParserError')
      return { code: CUT_OFF, message: 'the connection was cut off', isCutOff: true };
  }
  return undefined;
}
