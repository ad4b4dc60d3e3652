import { MeshError } from '../../contracts/errors.ts';

const DEFAULT_NATS_URL = 'nats://127.0.0.1:4222';
const DEFAULT_PORT = '4222';

/** Address of a NATS server and our credentials for it. */
export interface NatsAddress {
  /** URL without credentials: only this one may be printed or recorded. */
  readonly shown: string;
  readonly host: string;
  readonly port: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
  /** True for `tls://`: a server without TLS is refused. */
  readonly isTls: boolean;
  /** URL with credentials, for the environment of an agent. */
  readonly secretUrl: string;
}

/**
 * Resolves the server: the requested one, else that of NATS_URL, else the one on this machine. Credentials
 * come only from NATS_URL, since requested URLs are recorded; they apply if both name the same server.
 *
 * @throws MeshError `usage` for an invalid URL; the message contains no credentials
 */
export function resolveNatsAddress(
  asked: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): NatsAddress {
  const known = environment.NATS_URL ? parseNatsUrl('NATS_URL', environment.NATS_URL) : undefined;
  if (asked === undefined) return known ?? parseNatsUrl('NATS_URL', DEFAULT_NATS_URL);
  const address = parseNatsUrl('the URL of the NATS server', asked);
  if (address.user !== undefined || address.token !== undefined) {
    throw new MeshError(
      'usage',
      'the URL of the NATS server: commands and team files are recorded, so no credentials go into them; put the URL with them into the environment as NATS_URL',
    );
  }
  return known?.shown === address.shown ? known : address;
}

function parseNatsUrl(name: string, text: string): NatsAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWhole =
    url !== undefined && url.hostname !== '' && /^\/?$/.test(url.pathname + url.search + url.hash);
  if (!isWhole || (url.protocol !== 'nats:' && url.protocol !== 'tls:')) {
    // The message leaves out the text, which may contain a password.
    throw new MeshError('usage', `${name}: expected nats://HOST:PORT or tls://HOST:PORT`);
  }
  const port = url.port || DEFAULT_PORT;
  const user = decodeCredential(name, url.username);
  const password = decodeCredential(name, url.password);
  // The server's own tools use the same rule: a name without a password is a token.
  const hasPassword = user !== '' && password !== '';
  return {
    shown: `${url.protocol}//${url.hostname}:${port}`,
    host: url.hostname,
    port,
    isTls: url.protocol === 'tls:',
    secretUrl: text,
    user: hasPassword ? user : undefined,
    password: hasPassword ? password : undefined,
    token: user !== '' && !hasPassword ? user : undefined,
  };
}

function decodeCredential(name: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new MeshError('usage', `${name}: a % in its credentials begins no code`, { cause: error });
  }
}
