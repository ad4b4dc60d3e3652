import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import type { PostgresServer } from './postgres-server.ts';

/**
 * Starts a server on loopback that speaks Postgres' protocol and dialect, in this process and in memory. Its connections share
 * one session, and only transactions are isolated: tests use one connection per process, and read when no process writes.
 */
export async function startPglite(): Promise<PostgresServer> {
  const db = await PGlite.create();
  const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0, maxConnections: 20 });
  await server.start();
  return {
    url: `postgres://postgres:secret-word@${server.getServerConn()}/postgres`,
    stop: async () => {
      await server.stop();
      await db.close();
    },
  };
}
