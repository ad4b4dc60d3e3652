import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@gaia-mesh/core/system/process/free-port.ts';
import pg from 'pg';

export interface PostgresServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Postgres refuses to run as root; any other user will do. */
const NOBODY = 65_534;
const PASSWORD = 'secret-word';
const DEBIAN = '/usr/lib/postgresql';

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

/** Starts a real server on loopback with a temporary database of its own; `programs` comes from {@link postgresPrograms}. */
export async function startPostgres(programs: string): Promise<PostgresServer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-postgres-'));
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if ('uid' in user) for (const file of [folder, passwordFile]) chownSync(file, NOBODY, NOBODY);
  const data = path.join(folder, 'data');
  const port = await freePort();
  execFileSync(
    path.join(programs, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'tester',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const server = spawn(
    path.join(programs, 'postgres'),
    ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-c', 'unix_socket_directories=', '-F'],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(server, 'exit');
  const stop = async () => {
    // SIGINT is Postgres' fast shutdown: it ends its connections.
    server.kill('SIGINT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const said: string[] = [];
  for await (const line of createInterface({ input: server.stderr })) {
    said.push(line);
    if (line.includes('ready to accept connections')) {
      server.stderr.resume();
      return { url: `postgres://tester:${PASSWORD}@127.0.0.1:${port}/postgres`, stop };
    }
  }
  await stop();
  throw new Error(`Postgres did not start: ${said.join('\n')}`);
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
