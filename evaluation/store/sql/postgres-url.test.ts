import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseConnection } from './postgres.ts';

describe('the URL of a database', () => {
  test('says host, port, user, password and database', () => {
    expect(parseConnection('postgresql://m%40e:p%2Fw%3F@[::1]:6543/my%20db')).toEqual({
      config: { host: '::1', port: 6543, user: 'm@e', password: 'p/w?', database: 'my db', ssl: false },
      location: 'postgres://m@e@[::1]:6543/my db',
    });
  });

  test('has defaults for all but the host', () => {
    expect(parseConnection('postgres://localhost')).toMatchObject({
      config: { host: 'localhost', port: 5432, user: undefined, password: undefined, database: undefined },
      location: 'postgres://localhost:5432/',
    });
  });

  test.each([
    ['postgres://db.example.org/x', { rejectUnauthorized: true }],
    ['postgres://db.example.org/x?sslmode=require', { rejectUnauthorized: true }],
    ['postgres://db.example.org/x?sslmode=no-verify', { rejectUnauthorized: false }],
    ['postgres://db.example.org/x?sslmode=disable', false],
    ['postgres://127.0.0.1/x', false],
    ['postgres://localhost/x?sslmode=verify-full', { rejectUnauthorized: true }],
    ['postgres://localhost.example.org/x', { rejectUnauthorized: true }],
  ])('%s: encrypted and checked unless it says otherwise or stays on this machine', (url, ssl) => {
    expect(parseConnection(url).config.ssl).toEqual(ssl);
  });

  test('may name the certificate of the server', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-'));
    const file = path.join(folder, 'ca.crt');
    writeFileSync(file, 'CERTIFICATE');
    const url = `postgres://db.example.org/x?sslrootcert=${encodeURIComponent(file)}`;
    expect(parseConnection(url).config.ssl).toEqual({ rejectUnauthorized: true, ca: 'CERTIFICATE' });
    rmSync(folder, { recursive: true });
    expect(() => parseConnection(url)).toThrow(
      `certificate of the store (sslrootcert) ${file}: there is no such file`,
    );
  });

  test.each(['postgres://me:secret-word@', 'postgres://me:secret-word%@host/db', 'postgres:me:secret-word'])(
    '%s is refused without showing it',
    (url) => {
      expect(() => parseConnection(url)).toThrow(expect.objectContaining({ code: 'usage' }));
      expect(() => parseConnection(url)).not.toThrow(/secret-word/);
    },
  );

  test('an unknown sslmode is refused by its name', () => {
    expect(() => parseConnection('postgres://host/db?sslmode=maybe')).toThrow(/not "maybe"/);
  });
});
