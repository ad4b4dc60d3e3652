import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import type { PoolConfig } from 'pg';

/** Maximum bytes of a file of certificates; all authorities that browsers trust take 250 kB. */
const MAX_CERTIFICATE_BYTES = 1024 * 1024;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

/**
 * Parses `postgres://user:password@host:port/database?sslmode=…&sslrootcert=file`. Without a password, `pg` uses `PGPASSWORD` or
 * `~/.pgpass`. Without `sslmode`, a connection is encrypted and the server's certificate checked, except on this machine;
 * `disable` turns off both, `no-verify` the check. Supabase signs with its own certificate, which its dashboard offers for
 * download: name it as `sslrootcert`.
 *
 * The URL is parsed here and not by `pg`, which would put a part of it into warnings.
 *
 * @throws MeshError `usage`, without the URL, which may hold a password
 */
export function parseConnection(url: string): {
  readonly config: PoolConfig & { readonly password: string | undefined };
  readonly location: string;
} {
  const parsed = URL.parse(url);
  if (parsed === null || !/^postgres(ql)?:$/.test(parsed.protocol) || parsed.hostname === '')
    throw createUrlError();
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  const database = tryDecode(parsed.pathname.slice(1));
  const user = tryDecode(parsed.username);
  const port = parsed.port === '' ? 5432 : Number(parsed.port);
  return {
    config: {
      host,
      port,
      database,
      user,
      password: tryDecode(parsed.password),
      ssl: parseTls(parsed.searchParams, LOOPBACK.test(host)),
    },
    location: `postgres://${user === undefined ? '' : `${user}@`}${parsed.hostname}:${port}/${database ?? ''}`,
  };
}

function createUrlError(): MeshError {
  return new MeshError(
    'usage',
    'the address of the store must be like postgres://user:password@host:5432/database, with special characters of the ' +
      'password as %xx; this one cannot be read',
  );
}

function tryDecode(part: string): string | undefined {
  try {
    return decodeURIComponent(part) || undefined;
  } catch {
    throw createUrlError();
  }
}

function parseTls(parameters: URLSearchParams, isLoopback: boolean): PoolConfig['ssl'] {
  const mode = parameters.get('sslmode') ?? (isLoopback ? 'disable' : 'verify-full');
  const certificate = parameters.get('sslrootcert');
  switch (mode) {
    case 'disable':
      return false;
    case 'no-verify':
      return { rejectUnauthorized: false };
    case 'require':
    case 'verify-ca':
    case 'verify-full':
      return {
        rejectUnauthorized: true,
        ca: certificate === null ? undefined : readCertificate(certificate),
      };
    default:
      throw new MeshError(
        'usage',
        `sslmode of the store must be disable, no-verify, require or verify-full, not ${JSON.stringify(mode)}`,
      );
  }
}

function readCertificate(file: string): string {
  return readUserText(file, {
    what: 'certificate of the store (sslrootcert)',
    maxBytes: MAX_CERTIFICATE_BYTES,
    code: 'usage',
  });
}
