import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import type { PoolConfig } from 'pg';
import pg from 'pg';
import * as z from 'zod';
import type { StoreOptions } from '../store.ts';
import type { SqlConnection, SqlDatabase } from './sql-database.ts';

/**
 * Prepares the connections to a Postgres database by URL, Supabase's too. {@link parseConnection} describes the URL.
 *
 * @throws MeshError `usage` for an invalid URL
 */
export function openPostgres(url: string, options: StoreOptions): SqlDatabase {
  const { config, location } = parseConnection(url);
  const pool = new pg.Pool({
    ...config,
    max: options.connections ?? STORE_LIMITS.connections,
    connectionTimeoutMillis: STORE_LIMITS.connectTimeoutMs,
    query_timeout: STORE_LIMITS.queryTimeoutMs,
    application_name: 'gaia-mesh',
    // A run that has ended must not wait for idle connections.
    allowExitOnIdle: true,
  });
  // A lost idle connection is replaced at the next query; without a listener its error would end the process.
  pool.on('error', (error) =>
    options.warn(`${location}: an idle connection was lost: ${toErrorMessage(error)}`),
  );
  // A connection lost in use fails its query, or the next one. Its error event adds nothing, and would end the process, too.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const explain = (error: unknown): unknown => {
    // A bug of ours is rethrown unchanged.
    if (error instanceof TypeError || error instanceof RangeError) return error;
    const { code, message } = toFault(error);
    const shown = config.password ? message.replaceAll(config.password, '***') : message;
    return new MeshError('store', `${location}: ${shown}: ${adviseCode(code)}`, { cause: error });
  };
  return {
    kind: 'postgres',
    location,
    async connect() {
      try {
        return createConnection(await pool.connect(), explain);
      } catch (error) {
        throw explain(error);
      }
    },
    close: () => pool.end(),
  };
}

function createConnection(client: pg.PoolClient, explain: (error: unknown) => unknown): SqlConnection {
  let hasFailed = false;
  return {
    async query(text, parameters) {
      try {
        // Several statements in one text have a result each.
        const results: pg.QueryResult | pg.QueryResult[] = await client.query(text, [...parameters]);
        return [results].flat().flatMap(({ rows }) => rows);
      } catch (error) {
        hasFailed = true;
        throw explain(error);
      }
    },
    release: () => client.release(hasFailed),
  };
}

/** Returns the first error of a host with several addresses, for which Node gives a single error without a message. */
function toFault(error: unknown): { code: string | undefined; message: string } {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { data } = z.object({ code: z.string().optional() }).safeParse(first);
  return { code: data?.code, message: toErrorMessage(first) };
}

/** Returns advice by SQLSTATE (PostgreSQL, appendix A) or system code. */
function adviseCode(code: string | undefined): string {
  switch (code) {
    case '28P01':
    case '28000':
      return 'check user and password of the store';
    case '3D000':
      return 'create the database, or name one that exists';
    case '42501':
      return 'the user needs the right to create and write tables there';
    case '53300':
      return 'the server has no connection left: run fewer programs at once, or use its pooler';
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
      return 'check that the server runs and can be reached from here';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return 'name its certificate in the URL: ?sslrootcert=<file>';
    default:
      return 'check the server and its log';
  }
}

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
