import { once } from 'node:events';
import net from 'node:net';
import { freePort } from '@gaia-mesh/core/testing/free-port.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { openStore } from '../open-store.ts';
import { startPglite } from '../testing/pglite-server.ts';
import { execute, type PostgresServer, postgresPrograms, startPostgres } from '../testing/postgres-server.ts';
import { sampleAttempt, sampleKey } from '../testing/samples.ts';
import { storeContract } from '../testing/store-contract.ts';
import type { ContractPlace } from '../testing/store-under-test.ts';

function placeAt(server: () => PostgresServer): ContractPlace {
  return {
    fresh: async () => {
      const { url } = server();
      await execute(url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      return url;
    },
    execute: async (url, sql) => void (await execute(url, sql)),
  };
}

const warn = () => undefined;

const programs = postgresPrograms();
if (programs === undefined)
  console.warn('skipped: the tests with a real Postgres need its programs (initdb, postgres)');

/** Runs tests only with a real server, since PGlite has one connection and one user. */
const real = test.skipIf(programs === undefined);

describe(
  programs === undefined ? 'PGlite, in place of an installed Postgres' : 'an installed Postgres',
  () => {
    let server: PostgresServer;
    let isStopped = false;
    beforeAll(async () => {
      server = await (programs === undefined ? startPglite() : startPostgres(programs));
    });
    afterAll(async () => {
      if (!isStopped) await server.stop();
    });
    const place = placeAt(() => server);
    storeContract('Postgres', programs === undefined ? { ...place, largestTrace: 1024 * 1024 } : place);

    real('attempts at one question that several connections record at once get a number each', async () => {
      const store = await openStore(await place.fresh(), { warn, connections: 4 });
      const numbers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => store.recordAttempt(sampleAttempt({ attempt_id: `a${i}` }))),
      );
      expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
      await store.close();
    });

    real('a wrong password is reported without it, with what to check', async () => {
      const url = server.url.replace('secret-word', 'wrong-word');
      const failure: unknown = await openStore(url, { warn }).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'store',
        message: expect.stringMatching(
          /^postgres:\/\/tester@127\.0\.0\.1:\d+\/postgres: .*check user and password/,
        ),
      });
      expect(String(failure)).not.toContain('wrong-word');
    });

    real('a database that does not exist is reported as that', async () => {
      await expect(openStore(server.url.replace(/postgres$/, 'nowhere'), { warn })).rejects.toMatchObject({
        code: 'store',
        message: expect.stringMatching(/nowhere.*create the database/),
      });
    });

    real('a connection that the server ends is made anew, and the user told', async () => {
      const warnings: string[] = [];
      const store = await openStore(await place.fresh(), {
        warn: (text) => warnings.push(text),
        connections: 1,
      });
      await store.cacheAnswer(sampleKey(), '42');
      await execute(
        server.url,
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
      );
      await expect.poll(() => warnings).toHaveLength(1);
      expect(await store.cachedAnswer(sampleKey())).toMatchObject({ answer: '42' });
      await store.close();
    });

    real('rows are secured from whoever is not the owner, as Supabase needs it', async () => {
      const store = await openStore(await place.fresh(), { warn });
      await store.cacheAnswer(sampleKey(), '42');
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query(
        'DROP ROLE IF EXISTS stranger; CREATE ROLE stranger; GRANT SELECT ON ALL TABLES IN SCHEMA public TO stranger',
      );
      await client.query('GRANT USAGE ON SCHEMA public TO stranger; SET ROLE stranger');
      for (const table of ['gaia_attempts', 'gap_records', 'cached_answers', 'store_schema']) {
        expect((await client.query(`SELECT * FROM ${table}`)).rows).toEqual([]);
      }
      await client.query('RESET ROLE');
      expect((await client.query('SELECT * FROM cached_answers')).rows).toHaveLength(1);
      await client.query('DROP OWNED BY stranger; DROP ROLE stranger');
      await client.end();
      await store.close();
    });

    test('a connection that must be encrypted and cannot be is refused, not made in the open', async () => {
      await expect(openStore(`${server.url}?sslmode=require`, { warn })).rejects.toMatchObject({
        code: 'store',
        message: expect.stringContaining('SSL'),
      });
    });

    // This test is the last one, since it ends the server.
    test('a server that goes away in the middle of a run is an error of the next call', async () => {
      const store = await openStore(server.url, { warn, connections: 1 });
      await store.cacheAnswer(sampleKey(), '42');
      await server.stop();
      isStopped = true;
      await expect(store.cachedAnswer(sampleKey())).rejects.toMatchObject({ code: 'store' });
      await store.close();
    });
  },
);

describe('a server that is not there', () => {
  test('is reported with its address, without the password, with what to do', async () => {
    const port = await freePort();
    const failure: unknown = await openStore(`postgres://me:secret-word@localhost:${port}/db`, {
      warn,
    }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'store',
      message: expect.stringMatching(
        /^postgres:\/\/me@localhost:\d+\/db: .*ECONNREFUSED.*check that the server runs/,
      ),
    });
    expect(String(failure)).not.toContain('secret-word');
  });

  test('or is no Postgres, is reported too', async () => {
    const server = net
      .createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = z.object({ port: z.int() }).parse(server.address());
    await expect(openStore(`postgres://me@127.0.0.1:${port}/db`, { warn })).rejects.toMatchObject({
      code: 'store',
    });
    server.close();
  });
});
