import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@gaia-mesh/core/testing/free-port.ts';
import pg from 'pg';

export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
}

interface RestartableServer extends PostgresServer {
  /** Ends the server and starts it again with its data. */
  restart(): Promise<void>;
}

interface PostgresPlace {
  /** The address to listen on; loopback by default. */
  readonly host?: string;
  /** A command that runs the server elsewhere, such as in a network namespace. */
  readonly within?: readonly string[];
}

/** Postgres refuses to run as root; any other user will do. */
const NOBODY = 65_534;
const PASSWORD = 'secret-word';
const DEBIAN = '/usr/lib/postgresql';
/** Gives up root's rights where the command before it needs them. */
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

/** Returns the folder of the installed Postgres' programs, if there is one. */
export function postgresPrograms(): string | undefined {
  const debian = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).map((version) => path.join(DEBIAN, version, 'bin'))
    : [];
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...debian.sort().reverse()];
  return folders.find((folder) =>
    ['initdb', 'postgres'].every((name) => existsSync(path.join(folder, name))),
  );
}

/** Starts a real server with a temporary database of its own; `programs` comes from {@link postgresPrograms}. */
export async function startPostgres(
  programs: string,
  { host = '127.0.0.1', within = [] }: PostgresPlace = {},
): Promise<RestartableServer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-postgres-'));
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  const isRoot = process.getuid?.() === 0;
  const user = isRoot && within.length === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) for (const file of [folder, passwordFile]) chownSync(file, NOBODY, NOBODY);
  const data = path.join(folder, 'data');
  const inPlace = within.length === 0 ? [] : [...within, ...AS_NOBODY];
  const place = { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] as ['ignore', 'ignore', 'pipe'] };
  const create = ['-D', data, '-U', 'tester', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  const [first = '', ...rest] = [...inPlace, path.join(programs, 'initdb'), ...create];
  execFileSync(first, [...rest, '-E', 'UTF8', '--locale=C', '--no-sync'], { ...user, ...place });
  if (host !== '127.0.0.1')
    appendFileSync(path.join(data, 'pg_hba.conf'), 'host all all samenet scram-sha-256\n');
  const run = async (port: number) => {
    const listen = ['-h', host, '-p', String(port), '-c', 'unix_socket_directories=', '-F'];
    const [program = '', ...args] = [...inPlace, path.join(programs, 'postgres'), '-D', data, ...listen];
    const server = spawn(program, args, { ...user, ...place });
    const said: string[] = [];
    for await (const line of createInterface({ input: server.stderr })) {
      said.push(line);
      if (!line.includes('ready to accept connections')) continue;
      server.stderr.resume();
      return server;
    }
    throw new Error(`Postgres did not start: ${said.join('\n')}`);
  };
  const start = async (attempts = 3) => {
    const port = await freePort();
    try {
      return { port, server: await run(port) };
    } catch (error) {
      // Another test may have taken the port in between.
      if (attempts > 1 && String(error).includes('Address already in use')) return start(attempts - 1);
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  };
  let { port, server } = await start();
  const end = async () => {
    const ended = once(server, 'exit');
    // SIGINT is Postgres' fast shutdown: it ends its connections.
    server.kill('SIGINT');
    await ended;
  };
  return {
    url: `postgres://tester:${PASSWORD}@${host}:${port}/postgres`,
    async stop() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
    async restart() {
      await end();
      server = await run(port);
    },
  };
}

/** Runs statements on a server, and returns the rows of the last one. */
export async function execute(url: string, statements: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const results: pg.QueryResult | pg.QueryResult[] = await client.query(statements);
    return [results].flat().at(-1)?.rows ?? [];
  } finally {
    await client.end();
  }
}
