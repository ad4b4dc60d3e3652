import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AgentPermissions } from '../../agent/spec.ts';
import { MeshError } from '../../contracts/errors.ts';
import { AGENT_LIMITS } from '../../contracts/limits.ts';
import { hasNamespaces } from '../../system/process/without-network.ts';
import { RateLimiter } from '../rate-limiter.ts';
import { AgentProcess } from './launcher.ts';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-launcher-')));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

interface Surroundings {
  readonly permissions: AgentPermissions;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Starts a script in the place of an agent. */
function launch(
  script: string,
  onDeath: (agent: AgentProcess, how: string) => void = () => undefined,
  { permissions = {}, environment = process.env }: Partial<Surroundings> = {},
): AgentProcess {
  const code = path.join(folder, 'code');
  mkdirSync(code, { recursive: true });
  const entry = path.join(code, 'entry.mjs');
  writeFileSync(entry, script);
  const agent = new AgentProcess(
    {
      id: '1',
      tool: 'stub',
      place: { port: 0 },
      workspace: path.join(folder, 'workspaces', '1'),
      engine: { name: 'extractive' },
    },
    permissions,
    {
      entry,
      readable: [code + path.sep],
      secret: 'a secret',
      environment,
      permits: new RateLimiter(),
      onDeath,
    },
  );
  onTestFinished(() => agent.stop());
  return agent;
}

const UP = "process.on('disconnect', () => process.exit(0)); process.send({ listening: 4711 });";

describe('a launched agent', () => {
  test('says its port, and ends when its launcher’s channel closes', async () => {
    const onDeath = vi.fn();
    const agent = launch(UP, onDeath);

    expect(await agent.listening).toBe(4711);
    await agent.stop();

    expect(() => process.kill(agent.pid ?? 0, 0)).toThrow('ESRCH');
    expect(onDeath).not.toHaveBeenCalled();
  });

  test('that does not end by itself is killed', async () => {
    const onDeath = vi.fn();
    const agent = launch(
      'process.on("disconnect", () => undefined); setInterval(() => 0, 1000); process.send({ listening: 1 });',
      onDeath,
    );
    await agent.listening;

    await agent.stop();

    expect(() => process.kill(agent.pid ?? 0, 0)).toThrow('ESRCH');
    expect(onDeath).not.toHaveBeenCalled();
  });

  test('is not ended by the Ctrl-C of the terminal that its launcher runs in', async () => {
    const agent = launch(UP);
    await agent.listening;

    // A signal to the launcher's process group does not reach it: it leads a group of its own.
    expect(() => process.kill(-(agent.pid ?? 0), 0)).not.toThrow();
  });

  test('that dies is reported once, with the end of what it said', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const onDeath = vi.fn((_agent: AgentProcess, how: string) => resolve(how));
    const agent = launch(`${UP} setImmediate(() => { throw new Error('out of luck'); });`, onDeath);
    await agent.listening;

    const how = await promise;

    expect(how).toMatch(/^it ended with exit code 1; the end of its log:\n/);
    expect(how).toContain('out of luck');
    await agent.stop();
    expect(onDeath).toHaveBeenCalledOnce();
  });

  test('that was killed is reported even where the run ends because of it', async () => {
    const onDeath = vi.fn();
    const agent = launch(UP, onDeath);
    await agent.listening;

    process.kill(agent.pid ?? 0, 'SIGKILL');
    await agent.stop();

    expect(onDeath).toHaveBeenCalledExactlyOnceWith(agent, expect.stringContaining('SIGKILL'));
  });

  test('that its run kills is reported, even when it is told to end before that is known', async () => {
    const onDeath = vi.fn();
    const agent = launch(UP, onDeath);
    await agent.listening;

    agent.kill();
    await agent.stop();

    expect(onDeath).toHaveBeenCalledExactlyOnceWith(agent, expect.stringContaining('SIGKILL'));
  });

  test('that has said nothing on standard error is shown by the end of its log', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const agent = launch(UP, (_agent, how) => resolve(how));
    writeFileSync(path.join(folder, 'workspaces', '1', 'agent.log'), 'first\nlast\n');
    await agent.listening;
    process.kill(agent.pid ?? 0, 'SIGKILL');

    expect(await promise).toBe('it was ended by SIGKILL; the end of its log:\n    first\n    last');
  });
});

describe('an agent that does not come up', () => {
  test.each([
    [
      'ends',
      "console.error('no weights'); process.exit(7);",
      'it ended with exit code 7; the end of its log:\n    no weights',
    ],
    ['says why', "process.send({ failed: 'port 9001 is in use' });", 'port 9001 is in use'],
    ['says something else', "process.send({ hello: 'world' });", 'its first message was not its port'],
  ])('is named with the reason when it %s', async (_how, script, message) => {
    const agent = launch(script);

    const error = await agent.listening.catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(MeshError);
    expect(error).toMatchObject({
      code: 'agent',
      message: expect.stringMatching(/^agent 1 \(stub\) did not come up: /),
    });
    expect(String(error)).toContain(message);
  });

  test('is given up after its time and killed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const agent = launch('setInterval(() => 0, 1000);');
    let isOver = false;
    agent.listening.catch(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(AGENT_LIMITS.startMs - 1);
    expect(isOver).toBe(false);
    // On a busy machine it is given more.
    for (let i = 0; i < 100 && !isOver; i++) await vi.advanceTimersByTimeAsync(AGENT_LIMITS.startMs / 4);

    await expect(agent.listening).rejects.toMatchObject({
      code: 'agent',
      message: 'agent 1 (stub) did not come up: it did not listen within 30 s',
    });
    vi.useRealTimers();
    await agent.stop();
    expect(() => process.kill(agent.pid ?? 0, 0)).toThrow('ESRCH');
  });
});

describe('the permissions of an agent', () => {
  test('are to read the code and its own workspace, to write that alone, and to start nothing (MP-06)', async () => {
    for (const other of ['10', '2']) {
      mkdirSync(path.join(folder, 'workspaces', other), { recursive: true });
      writeFileSync(path.join(folder, 'workspaces', other, 'memory.json'), 'private');
    }
    writeFileSync(path.join(folder, 'metrics.json'), 'private');
    const agent = launch(`
      import fs from 'node:fs';
      import { spawnSync } from 'node:child_process';
      import { Worker } from 'node:worker_threads';
      const workspaces = ${JSON.stringify(path.join(folder, 'workspaces'))};
      const attempt = (act) => {
        try { act(); return 'done'; } catch (error) { return error.code; }
      };
      const found = {
        readOwn: attempt(() => fs.readdirSync(workspaces + '/1')),
        writeOwn: attempt(() => fs.writeFileSync(workspaces + '/1/note.txt', 'mine')),
        readOther: attempt(() => fs.readFileSync(workspaces + '/2/memory.json')),
        readOtherByName: attempt(() => fs.readFileSync(workspaces + '/10/memory.json')),
        readOtherByDots: attempt(() => fs.readFileSync(workspaces + '/1/../2/memory.json')),
        listOthers: attempt(() => fs.readdirSync(workspaces)),
        writeOther: attempt(() => fs.writeFileSync(workspaces + '/2/memory.json', 'gotcha')),
        writeOtherByName: attempt(() => fs.writeFileSync(workspaces + '/10/memory.json', 'gotcha')),
        linkOther: attempt(() => fs.symlinkSync(workspaces + '/2', workspaces + '/1/friend')),
        readResults: attempt(() => fs.readFileSync(workspaces + '/../metrics.json')),
        readSystem: attempt(() => fs.readFileSync('/etc/hosts')),
        writeCode: attempt(() => fs.writeFileSync(import.meta.filename, '')),
        startProcess: attempt(() => { const { error } = spawnSync('true'); if (error) throw error; }),
        startThread: attempt(() => new Worker('0', { eval: true })),
      };
      fs.writeFileSync(workspaces + '/1/found.json', JSON.stringify(found));
      ${UP}
    `);
    await agent.listening;

    const found = JSON.parse(readFileSync(path.join(folder, 'workspaces', '1', 'found.json'), 'utf8'));

    const denied = 'ERR_ACCESS_DENIED';
    expect(found).toEqual({
      readOwn: 'done',
      writeOwn: 'done',
      readOther: denied,
      readOtherByName: denied,
      readOtherByDots: denied,
      listOthers: denied,
      writeOther: denied,
      writeOtherByName: denied,
      linkOther: denied,
      readResults: denied,
      readSystem: denied,
      writeCode: denied,
      startProcess: denied,
      startThread: denied,
    });
    expect(readFileSync(path.join(folder, 'workspaces', '2', 'memory.json'), 'utf8')).toBe('private');
  });

  /** What a script of an agent finds, which puts it in `found`. */
  async function foundBy(script: string, surroundings: Partial<Surroundings>): Promise<unknown> {
    const agent = launch(
      `
      import fs from 'node:fs';
      import net from 'node:net';
      const found = {};
      ${script}
      fs.writeFileSync(${JSON.stringify(path.join(folder, 'workspaces', '1', 'found.json'))}, JSON.stringify(found));
      ${UP}
    `,
      undefined,
      surroundings,
    );
    await agent.listening;
    await agent.stop();
    return JSON.parse(readFileSync(path.join(folder, 'workspaces', '1', 'found.json'), 'utf8'));
  }

  test('are of the environment what every program needs, and the variables that its tool names', async () => {
    const environment = {
      PATH: process.env.PATH,
      TZ: 'UTC',
      TAVILY_API_KEY: 'a key',
      OPENAI_API_KEY: 'another key',
      NODE_OPTIONS: '--no-deprecation',
      LD_PRELOAD: '',
      https_proxy: 'http://127.0.0.1:1',
    };
    const found = await foundBy('found.names = Object.keys(process.env).sort();', {
      permissions: { environment: ['TAVILY_API_KEY'] },
      environment,
    });

    expect(found).toEqual({
      names: ['GAIA_MESH_SECRET', 'NODE_COMPILE_CACHE', 'PATH', 'TAVILY_API_KEY', 'TZ'],
    });
  });

  const TRIES = `
    found.sqlite = await import('node:sqlite').then(() => 'there', () => 'missing');
    const [, port] = process.env.TZ.split(':');
    found.network = await new Promise((resolve) => {
      const socket = net.connect({ host: '127.0.0.1', port: Number(port) });
      socket.on('connect', () => resolve('there')).on('error', () => resolve('missing'));
    });
    process.on('message', (_message, server) => server?.close());
  `;

  test.each([
    ['without declaring them', {}, 'missing'],
    ['declaring them', { network: true, store: true }, 'there'],
  ] as const)('%s are no connections and no SQLite', async (_how, permissions, expected) => {
    if (!hasNamespaces()) {
      console.warn('not tested: processes without a network cannot be started here');
      return;
    }
    const server = net.createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;

    const found = await foundBy(TRIES, {
      permissions,
      environment: { PATH: process.env.PATH, TZ: `x:${port}` },
    });

    expect(found).toEqual({ sqlite: expected, network: expected });
  });
});
