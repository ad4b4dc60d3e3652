import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentPermissions } from '../../agent/spec.ts';
import { LOADAVG } from '../../system/platform.ts';
import { hasNamespaces, isolateCommand } from '../../system/process/without-network.ts';
import { buildConfinedCommand } from './confinement.ts';

// What the permissions hold against is tried by real processes in `launcher.test.ts`; these tests hold which an agent gets.

const workspace = path.join('/runs', 'workspaces', '1');
const own = workspace + path.sep;

const confine = (permissions: AgentPermissions, environment: Record<string, string | undefined> = {}) =>
  buildConfinedCommand(['--flag', 'entry.js'], permissions, ['/code/', '/packages/'], workspace, environment);

/** The permissions of an agent that declares none. */
const READS = [LOADAVG, '/code/', '/packages/', own].map((name) => `--allow-fs-read=${name}`);
const WRITES = [`--allow-fs-write=${own}`];
const NO_SQLITE = '--no-experimental-sqlite';

describe('the command of an agent', () => {
  test('without permissions reads the code and its workspace, writes that alone, and has no network', () => {
    const args = ['--permission', ...READS, ...WRITES, NO_SQLITE, '--flag', 'entry.js'];
    expect(confine({})).toEqual({
      ...isolateCommand(args),
      environment: {},
      isOffline: hasNamespaces(),
    });
  });

  test.each<[string, AgentPermissions, readonly string[]]>([
    [
      'files and folders',
      { reads: ['/data/', '/a.txt'], writes: ['/out/', '/b.txt'] },
      [
        ...READS,
        '--allow-fs-read=/data/',
        '--allow-fs-read=/a.txt',
        ...WRITES,
        '--allow-fs-write=/out/',
        '--allow-fs-write=/b.txt',
        NO_SQLITE,
      ],
    ],
    ['processes', { childProcesses: true }, [...READS, ...WRITES, '--allow-child-process', NO_SQLITE]],
    ['threads', { workers: true }, [...READS, ...WRITES, '--allow-worker', NO_SQLITE]],
    ['SQLite', { store: true }, [...READS, ...WRITES]],
    [
      'none of these, by name',
      { childProcesses: false, workers: false, store: false },
      [...READS, ...WRITES, NO_SQLITE],
    ],
  ])('with a network and %s has those and no other', (_what, permissions, flags) => {
    expect(confine({ ...permissions, network: true })).toEqual({
      program: process.execPath,
      args: ['--permission', ...flags, '--flag', 'entry.js'],
      environment: {},
      isOffline: false,
    });
  });

  test('with any permission but the network stays offline', () => {
    const all = { childProcesses: true, workers: true, store: true, environment: 'all' } as const;
    for (const permissions of [all, { network: false }])
      expect(confine(permissions).isOffline).toBe(hasNamespaces());
  });
});

describe('the environment of an agent', () => {
  const plain = {
    PATH: '/bin',
    HOME: '/home',
    USER: 'a',
    LOGNAME: 'a',
    SHELL: '/bin/sh',
    LANG: 'C',
    LANGUAGE: 'en',
    LC_ALL: 'C',
    LC_TIME: 'C',
    TZ: 'UTC',
    TMPDIR: '/tmp',
    TERM: 'dumb',
    NO_COLOR: '1',
    CI: '1',
  };
  const ofNetwork = {
    http_proxy: 'p',
    HTTPS_PROXY: 'p',
    no_proxy: 'p',
    ALL_PROXY: 'p',
    NODE_USE_ENV_PROXY: '1',
    NODE_EXTRA_CA_CERTS: 'c',
    SSL_CERT_FILE: 'c',
    SSL_CERT_DIR: 'c',
  };
  const others = {
    OPENAI_API_KEY: 'a key',
    NODE_OPTIONS: '--inspect',
    LD_PRELOAD: 'x',
    SSH_AUTH_SOCK: 's',
    // Names that only look like those of plain variables.
    MY_PATH: 'x',
    PATH_KEY: 'x',
    LC_: 'x',
    'LC_A-B': 'x',
    CI_JOB_TOKEN: 'x',
    my_http_proxy: 'x',
    http_proxy_password: 'x',
    SSL_CERT_KEY: 'x',
    httpss_proxy: 'x',
    path: 'x',
  };
  const given = { ...others, ...plain, ...ofNetwork, UNSET: undefined };

  test('has what any program needs, and no key', () => {
    expect(confine({}, given).environment).toStrictEqual(plain);
    expect(confine({ network: false }, given).environment).toStrictEqual(plain);
  });

  test('has the proxies and certificates with a network alone', () => {
    expect(confine({ network: true }, given).environment).toStrictEqual({ ...plain, ...ofNetwork });
  });

  test('has the variables that its tool names, if they are set', () => {
    const { OPENAI_API_KEY } = others;
    expect(confine({ environment: ['OPENAI_API_KEY', 'UNSET', 'MISSING'] }, given).environment).toStrictEqual(
      {
        ...plain,
        OPENAI_API_KEY,
      },
    );
  });

  test('is that of its launcher for a tool that asks for all', () => {
    expect(confine({ environment: 'all' }, given).environment).toStrictEqual({
      ...others,
      ...plain,
      ...ofNetwork,
    });
  });
});
