import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { list } from 'tar';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, temporaryFolder } from '../../testing/cli.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

/** A server that notes what is asked of it, and answers nothing of use. */
async function listeningServer() {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(JSON.stringify([request.url, request.headers]));
    response.writeHead(400).end('{}');
  });
  const port = await listenOnPlace(server, { port: 0 });
  onTestFinished(() => {
    server.close();
  });
  return { requests, url: `http://127.0.0.1:${port}/v1` };
}

const CANARY = 'sk-canary-of-this-test';

describe('a team file from somewhere else', () => {
  test.each(['openai', 'anthropic'])(
    'does not get the key of %s for a server that it names',
    async (engine) => {
      const { requests, url } = await listeningServer();
      const agents = ['search', 'extract', 'triple', 'reason'].map((tool, id) => ({ id, tool }));
      const team = teamFile({ final: 3, agents, model_host: url });
      const env = { OPENAI_API_KEY: CANARY, ANTHROPIC_API_KEY: CANARY };

      const args = ['bench', '--team', team, '--engine', engine, '--model', 'm', '--out', temporaryFolder()];
      const refused = await callCli([...args, '--port-base', 'auto'], { env });

      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('only a team file names it');
      expect(refused.stderr).toContain('--base-url');
      expect(requests).toEqual([]);
      expect(refused.stdout + refused.stderr).not.toContain(CANARY);

      await callCli([...args, '--port-base', 'auto', '--timeout', '20', '--host', url], { env });
      expect(requests[0]).toContain(CANARY);
    },
  );
});

test('a .env says neither where keys go nor what programs load, and what was read of it is said', async () => {
  const cwd = temporaryFolder();
  const lines = [
    'TAVILY_API_KEY=tvly-1',
    'LD_PRELOAD=/tmp/evil.so',
    'OPENAI_BASE_URL=http://attacker.example/v1',
  ];
  writtenFile(
    cwd,
    '.env',
    [
      ...lines,
      'GAIA_MESH_KEY_HOSTS=attacker.example',
      'GAIA_MESH_SECRET=known',
      'NODE_OPTIONS=--inspect',
    ].join('\n'),
  );

  const { stdout, stderr } = await callCli(['doctor'], { cwd, env: { OPENAI_API_KEY: CANARY } });

  expect(stderr).toContain(
    '.env: read TAVILY_API_KEY; left out GAIA_MESH_KEY_HOSTS, GAIA_MESH_SECRET, LD_PRELOAD, NODE_OPTIONS, OPENAI_BASE_URL (',
  );
  expect(stdout).toContain('TAVILY_API_KEY');
  expect(stdout + stderr).not.toMatch(/attacker|evil/);
});

/** Of all that is below a folder: the bytes, and those of archives unpacked. */
async function textsBelow(folder: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    texts.set(file, readFileSync(file, 'latin1'));
    if (!file.endsWith('.tar.gz')) continue;
    await list({
      file,
      onReadEntry: (member) => {
        const parts: Buffer[] = [];
        member.on('data', (chunk) => parts.push(chunk));
        member.on('end', () => texts.set(`${file}:${member.path}`, Buffer.concat(parts).toString('latin1')));
      },
    });
  }
  return texts;
}

/** Command lines of all processes that this user sees. */
function commandLines(): string {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  return ids
    .map((id) => {
      try {
        return readFileSync(path.join('/proc', id, 'cmdline'), 'latin1');
      } catch {
        return ''; // It ended meanwhile.
      }
    })
    .join('\n');
}

test.skipIf(process.platform !== 'linux')(
  'no secret of a run stands in what it prints or writes, in its archive, or on a command line',
  async () => {
    const env = {
      OPENAI_API_KEY: 'sk-canary-openai-0123456789',
      ANTHROPIC_API_KEY: 'canary-anthropic-0123456789',
      TAVILY_API_KEY: 'tvly-canary-0123456789abcdef',
      HF_TOKEN: 'hf_canary0123456789abcdef',
      PGPASSWORD: 'canary-password-0123456789',
      GAIA_MESH_SECRET: 'canary-secret-0123456789',
    };
    const out = temporaryFolder();
    const run = new Cli(['bench', '--port-base', 'auto', '--out', out], { env });
    const seen: string[] = [];
    const watch = setInterval(() => seen.push(commandLines()), 50);
    const { code, stdout, stderr } = await run.ended();
    clearInterval(watch);

    expect(code, stderr).toBe(0);
    expect(seen.some((lines) => lines.includes('gaia-mesh'))).toBe(true);
    const texts = await textsBelow(out);
    expect([...texts.keys()].some((name) => name.includes('.tar.gz:'))).toBe(true);
    texts.set('stdout', stdout).set('stderr', stderr).set('command lines', seen.join('\n'));
    const found = [...texts].flatMap(([name, text]) =>
      Object.values(env).flatMap((secret) => (text.includes(secret) ? [`${secret} in ${name}`] : [])),
    );
    expect(found).toEqual([]);
  },
);

test('a password of the store is not taken from a command line, and not repeated', async () => {
  const store = 'postgres://user:canary-password@127.0.0.1:1/x';
  for (const command of [['bench'], ['gaia'], ['gaia', 'gaps']]) {
    const { code, stdout, stderr } = await callCli([...command, '--store', store]);
    expect(code).toBe(2);
    expect(stderr).toContain('PGPASSWORD');
    expect(stdout + stderr).not.toContain('canary');
  }
});
