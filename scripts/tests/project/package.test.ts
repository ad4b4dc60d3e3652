import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder, packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { list } from 'tar';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Cli, runCli, temporaryFolder } from '../../testing/cli.ts';
import { writeGuideFiles } from '../../testing/guide-files.ts';
import { linkPackages } from '../../testing/link-packages.ts';
import { olderNode, userSearchPath } from '../../testing/older-node.ts';

// What a stranger gets: the tarball, installed in an empty folder, run with whatever Node the machine has.

/** Writing all declarations takes 5 s on two idle cores. */
const PACK_TIMEOUT_MS = 600_000;
/** Usually 10 to 20 s; the first time on a slow line or a busy machine takes minutes, as Node itself is fetched. */
const INSTALL_TIMEOUT_MS = 600_000;
/** Code, weights, the table of a tokenizer, sample tasks. Much more means that something was packed which nobody needs. */
const MAX_TARBALL_BYTES = 6 * 1024 * 1024;
const MAX_INSTALLED_MB = 300;
/** The working tree's folders that are not part of the project. */
const NOT_SOURCES = ['.git', 'node_modules', 'dist', 'workspaces', 'runs'];

/** Where types were not found they would be `any`, and the expected error would not come. */
const consumer = `import { type Packet, parsePacket } from 'gaia-mesh';
import { listContractChecks } from 'gaia-mesh/contract';
const base = { from: '1', id: '1-1', task_id: 't', token_used: 0, ts: 0, payload: { text: 'hello' } };
const packet: Packet = parsePacket({ ...base, type: 'note' });
// @ts-expect-error
export const none = packet.colour;
// @ts-expect-error
export const checks = () => listContractChecks('json');
console.log(packet.type);
`;

const app = temporaryFolder();
const installed = path.join(app, 'node_modules', 'gaia-mesh');
const command = path.join(app, 'node_modules', '.bin', 'gaia-mesh');
const packed = new Map<string, number>();
let tarball = '';
/** The folder that is published. */
let built = '';
let whyNotInstalled: string | undefined;

beforeAll(async () => {
  tarball = await pack();
  list({
    file: tarball,
    sync: true,
    onReadEntry: ({ path: name, mode = 0 }) => packed.set(name.replace(/^package\//, ''), mode),
  });
}, PACK_TIMEOUT_MS);

test('the tarball holds the built package and nothing else', () => {
  const names = [...packed.keys()];
  const bytes = statSync(tarball).size;
  console.info(`tarball: ${Math.round(bytes / 1000)} kB, ${names.length} files`);

  for (const name of [
    'LICENSE',
    'NOTICE',
    'README.md',
    'CHANGELOG.md',
    'package.json',
    'dist/types/scripts/library.d.ts',
  ])
    expect(names).toContain(name);
  expect(names.filter((name) => /\.ts$/.test(name) && !/\.d\.ts$/.test(name))).toEqual([]);
  expect(
    names.filter((name) => /\.test\.|\/(testing|fixtures|train-reader)\/|tsbuildinfo/.test(name)),
  ).toEqual([]);
  expect(names.filter((name) => /\/weights\/.*\.bin$/.test(name))).not.toEqual([]);
  expect(bytes).toBeLessThan(MAX_TARBALL_BYTES);
});

test.runIf(process.env.GAIA_MESH_RELEASE === 'true')(
  'publishing it has nothing to correct and nothing to warn of',
  async () => {
    const env = { ...process.env, PATH: userSearchPath };
    // The folder is built already.
    const args = ['publish', built, '--dry-run', '--ignore-scripts', '--loglevel=notice'];
    const { stdout, stderr } = await promisify(execFile)('npm', args, { cwd: app, env });
    const warnings = stderr
      .split('\n')
      .filter((line) => /^npm (?:warn|error)/i.test(line) && !line.includes('requires you to be logged in'));
    expect(stdout).toContain(`gaia-mesh@${packageVersion}`);
    expect(warnings).toEqual([]);
  },
);

test('its command is executable', () => {
  expect((packed.get('scripts/gaia-mesh.js') ?? 0) & 0o111).toBe(0o111);
});

describe('installed in an empty folder', () => {
  beforeAll(async () => {
    writeFileSync(path.join(app, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    try {
      // Asked first: an installation tries for minutes.
      await npm(['view', 'zod', 'version', '--fetch-retries=0', '--fetch-timeout=15000'], app);
    } catch (error) {
      if (process.env.CI === 'true') throw error;
      whyNotInstalled = "npm's registry cannot be reached";
      const code = /npm error code (\S+)/.exec(toErrorMessage(error))?.[1] ?? toErrorMessage(error);
      console.warn(`skipped: ${whyNotInstalled} (${code}), so the package was not installed`);
      return;
    }
    await npm(['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], app);
  }, INSTALL_TIMEOUT_MS);

  beforeEach((context) => {
    if (whyNotInstalled !== undefined) context.skip(whyNotInstalled);
  });

  // npm's links to commands are started by the Node that is first on the search path: here the machine's own.
  const user = { program: command, cwd: app, env: { PATH: userSearchPath } };
  const node = olderNode() === undefined ? 'the Node that is here' : 'an older Node';

  test('takes at most 300 MB with Node 24, and what it leaves out is named by who needs it', async () => {
    const megabytes = sizeOf(path.join(app, 'node_modules')) / 1e6;
    console.info(`installed: ${Math.round(megabytes)} MB`);
    expect(megabytes).toBeLessThan(MAX_INSTALLED_MB);

    const { code, stderr } = await runCli(
      ['bench', '--otlp', 'http://127.0.0.1:4318', '--port-base', 'auto'],
      user,
    );
    expect(code).not.toBe(0);
    expect(stderr).toMatch(
      /--otlp needs the package @opentelemetry\S+, which is not installed: npm install /,
    );

    const compared = await runCli(['compare', '--stacks', 'mesh/json,mcp/http,a2a/rest'], user);
    expect(compared).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        '--stacks mcp/http sdk, a2a/rest sdk need packages that are not installed',
      ),
    });
  });

  test(`the mesh answers on ${node}, and its results are in the user's folder (REQ-083)`, async () => {
    const before = readdirSync(installed);

    const { code, stdout, stderr } = await runCli(['bench', '--port-base', 'auto', '--json'], user);

    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'answered',
      answer: expect.stringMatching(/\S/),
      adapter: 'json',
      engine: 'extractive',
      agents: expect.arrayContaining([expect.objectContaining({ tool: 'reason' })]),
      ledger: expect.objectContaining({ balanced: true }),
    });
    for (const name of ['metrics.json', 'run_artifacts.tar.gz', 'workspaces'])
      expect(existsSync(path.join(app, name)), name).toBe(true);
    expect(readdirSync(installed)).toEqual(before);
  });

  test('an agent calls tools whose processes load packages that lie beside this one', async () => {
    const questions = path.join(app, 'table.jsonl');
    writeFileSync(
      questions,
      '{"task_id":"a","Question":"How many rows does the attached table have?","Final answer":"2","Level":1,"file_name":"t.csv"}\n' +
        '{"task_id":"b","Question":"What is 12 * 12?","Final answer":"144","Level":1}\n',
    );
    writeFileSync(path.join(app, 't.csv'), 'Boat,Seats\nHeron,4\nTern,6\n');
    const words = [
      'gaia',
      '--team',
      'react',
      '--questions',
      questions,
      '--out',
      path.join(app, 'react.jsonl'),
    ];

    const { code, stderr } = await runCli(words, user);

    expect(code, stderr).toBe(0);
    const answers = readFileSync(path.join(app, 'react.jsonl'), 'utf8').trim().split('\n');
    expect(answers.map((line) => JSON.parse(line))).toMatchObject([{ correct: true }, { correct: true }]);
  });

  test('a run follows an agent that was started by hand in the same folder', async () => {
    const cwd = path.join(app, 'by-hand');
    mkdirSync(cwd);
    const agent = new Cli(['agent', '--id', '2', '--tool', 'triple', '--port', '0'], { ...user, cwd });
    await agent.says(/agent 2 \(triple\) listens/);
    agent.signal('SIGINT');
    expect(await agent.ended()).toMatchObject({ code: 0 });

    const { code, stdout, stderr } = await runCli(['bench', '--port-base', 'auto', '--quiet'], {
      ...user,
      cwd,
    });

    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/\S/);
  });

  test('adapter, tool and engine of the user’s load from files beside it', async () => {
    const cwd = path.join(app, 'own');
    mkdirSync(cwd);
    writeGuideFiles(cwd, 'users');
    const parts = ['--adapter', './shout.ts', '--engine', './frugal.ts', '--tool', 'search=./skim.ts'];
    const { code, stdout, stderr } = await runCli(['bench', ...parts, '--port-base', 'auto', '--json'], {
      ...user,
      cwd,
    });

    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'answered', adapter: 'shout', engine: 'frugal' });
  });

  test('code of the user and the example of docs/extending.md import it, and their types are found', async () => {
    const files = { 'consumer.ts': consumer, 'ask.ts': libraryExample() };
    for (const [name, source] of Object.entries(files)) writeFileSync(path.join(app, name), source);
    const compiler = path.join(codeFolder, 'node_modules', 'typescript', 'bin', 'tsc');
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--module'];
    const run = (...args: readonly string[]) => runCli(args, { program: process.execPath, cwd: app });

    for (const modules of [['nodenext'], ['esnext', '--moduleResolution', 'bundler']]) {
      const types = await run(compiler, ...flags, ...modules, ...Object.keys(files));
      expect(types).toMatchObject({ code: 0, stdout: '' });
    }
    expect(await run('consumer.ts')).toMatchObject({ code: 0, stdout: 'note\n' });
    const example = await run('ask.ts');
    expect(example, example.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^0 search_docs: \d+ bytes\n[\s\S]*^3 October 1868 after [\d.]+ ms\n$/m),
    });
  });
});

function libraryExample(): string {
  const page = readFileSync(path.join(codeFolder, 'docs', 'extending.md'), 'utf8');
  return /^```ts\n(\/\/ ask\.ts[\s\S]*?)^```/m.exec(page)?.[1] ?? '';
}

/** Packs a copy of the working tree, so that `dist/` of the checkout stays as it is. */
async function pack(): Promise<string> {
  const copy = path.join(temporaryFolder(), 'gaia-mesh');
  mkdirSync(copy);
  for (const name of readdirSync(codeFolder)) {
    if (!NOT_SOURCES.includes(name))
      cpSync(path.join(codeFolder, name), path.join(copy, name), { recursive: true });
  }
  linkPackages(copy);
  await npm(['pack'], copy);
  built = copy;
  const [name = ''] = readdirSync(copy).filter((file) => file.endsWith('.tgz'));
  return path.join(copy, name);
}

async function npm(args: readonly string[], cwd: string): Promise<void> {
  // Its settings in the environment count (a registry, a cache), but for how much it says: that tells why it failed.
  const env = { ...process.env, PATH: userSearchPath };
  await promisify(execFile)('npm', [...args, '--loglevel=error'], { cwd, env, timeout: INSTALL_TIMEOUT_MS });
}

/** Bytes on the disk of all that is in a folder; a file with several names counts once. */
function sizeOf(folder: string): number {
  const seen = new Set<number>();
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { ino, size } = lstatSync(path.join(entry.parentPath, entry.name));
    if (!seen.has(ino)) bytes += size;
    seen.add(ino);
  }
  return bytes;
}
