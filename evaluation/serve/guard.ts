import type { IncomingHttpHeaders } from 'node:http';
import { LOOPBACK_HOSTS } from '@gaia-mesh/core/system/outgoing-url.ts';
import { isSameSecret } from '@gaia-mesh/core/system/same-secret.ts';
import { toUrlHost } from '@gaia-mesh/stacks/http/http-server.ts';

interface Refused {
  readonly status: 401 | 403;
  readonly reason: string;
}

type RequestHeaders = IncomingHttpHeaders & { readonly ':authority'?: string | undefined };

/** Who may ask: whoever names this server as it is called, is no page of another site, and knows the token. */
export class Guard {
  readonly #names: ReadonlySet<string>;
  readonly #token: string | undefined;

  /** @param token undefined where everybody may ask who reaches the server */
  constructor(host: string, token: string | undefined) {
    this.#names = new Set([...LOOPBACK_HOSTS, toUrlHost(host).toLowerCase()]);
    this.#token = token;
  }

  /** A browser must not be led here by a name that somebody lets resolve to it, nor by another page. */
  refusedPlace(headers: RequestHeaders): Refused | undefined {
    const host = headers[':authority'] ?? headers.host ?? '';
    if (!this.#isOwn(host)) return { status: 403, reason: `not a name of this server: ${host.slice(0, 64)}` };
    const { origin } = headers;
    const from = origin === undefined ? undefined : URL.parse(origin)?.host;
    if (origin !== undefined && (from === undefined || !this.#isOwn(from)))
      return { status: 403, reason: `not an origin of this server: ${origin.slice(0, 64)}` };
    return undefined;
  }

  refused(headers: RequestHeaders): Refused | undefined {
    const place = this.refusedPlace(headers);
    if (place !== undefined || this.#token === undefined) return place;
    const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
    if (given === undefined)
      return {
        status: 401,
        reason: 'expected the header Authorization: Bearer <token>, as serve printed it',
      };
    return isSameSecret(given.trim(), this.#token)
      ? undefined
      : { status: 401, reason: 'this is not the token of this server' };
  }

  #isOwn(host: string): boolean {
    return this.#names.has(host.toLowerCase().replace(/:\d+$/, ''));
  }
}
