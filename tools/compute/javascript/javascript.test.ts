import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { descendants } from '../fixtures/processes.ts';
import { isRunning, RestrictedAgent, textOf } from '../fixtures/restricted-agent.ts';
import { findJavascript } from './node-javascript.ts';

const SECRET = 'sk-of-the-agent';
let agent: RestrictedAgent;
let port = 0;
let arrived = 0;
const listener = createServer((socket) => {
  arrived++;
  socket.destroy();
});

beforeAll(async () => {
  agent = new RestrictedAgent({ GAIA_TEST_KEY: SECRET });
  writeFileSync(path.join(agent.folder, 'secret.txt'), SECRET);
  writeFileSync(path.join(agent.files, 'data.csv'), 'item,price\na,3\nb,4\n');
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  const address = listener.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(async () => {
  listener.close();
  await agent.stop();
});

const run = (file: string, text: string, input: object = {}, options = {}) => {
  writeFileSync(path.join(agent.files, file), text);
  return agent.call({ tool: 'execute-python-file', input: { file, ...input }, options });
};
/** What each of these expressions comes to; the program awaits them. */
const tries = async (expressions: readonly string[]) => {
  const attempts = expressions.map((text) => `await attempt(async () => ${text});`).join('\n');
  const code = `import * as fs from 'node:fs'; import net from 'node:net'; import dgram from 'node:dgram'; import http from 'node:http';
    const attempt = async (act) => { try { console.log('got', String(await act()).slice(0, 80)); } catch (error) { console.log('refused', error.code ?? error.name); } };
    const arrives = (emitter) => new Promise((resolve, reject) => { emitter.on('connect', () => resolve('a connection')).on('message', resolve).on('response', resolve).on('error', reject); });
    ${attempts}`;
  return textOf(await run('tries.mjs', code))
    .trim()
    .split('\n');
};

describe('a JavaScript program of a question', () => {
  test('gives what it prints, reads the task’s files, its arguments and its input', async () => {
    const code = `const { readFileSync } = require('fs');
      const rows = readFileSync('data.csv', 'utf8').trim().split('\\n').slice(1);
      console.log(rows.length, process.argv.slice(2), { a: [1, 2] });
      console.error('to the other stream');
      if (require.main === module) console.log(readFileSync(0, 'utf8').toUpperCase());`;
    const reply = await run('app.js', code, { arguments: ['7', '; rm -rf /'], input: 'typed' });
    expect(reply).toEqual({
      text: "2 [ '7', '; rm -rf /' ] { a: [ 1, 2 ] }\nto the other stream\nTYPED\n",
      data: { status: 'ok', output_bytes: expect.any(Number), backend: 'node' },
    });
  });

  test('may be a module, await, have modules of its own and be TypeScript', async () => {
    writeFileSync(path.join(agent.files, 'helper.mjs'), 'export const factor = 6;');
    const code = `import { factor } from './helper.mjs';
      import readline from 'node:readline';
      const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      await wait(5);
      let sum = 0;
      for await (const line of readline.createInterface({ input: process.stdin })) sum += Number(line);
      console.log(sum * factor);`;
    expect(textOf(await run('main.mjs', code, { input: '3\n4\n' }))).toBe('42\n');
    expect(textOf(await run('main.js', code, { input: '1\n' }))).toBe('6\n');
    expect(textOf(await run('typed.ts', 'const n: number = 5;\nconsole.log(n);'))).toBe('5\n');
  });

  test('that fails gives its stack; one that leaves is an answer; one that cannot be parsed is not run', async () => {
    const failed = await run('bad.js', 'console.log("before");\nconst a = undefined;\na.b;');
    expect(failed.data).toMatchObject({ status: 'error', error: expect.stringContaining('TypeError: ') });
    expect(failed.text).toMatch(/^before\nTypeError: [\s\S]*bad\.js:3/);
    expect((await run('leave.js', 'process.exit(3)')).data).toMatchObject({ error: 'exit code 3' });
    expect((await run('late.js', 'Promise.reject(new RangeError("late"))')).data).toMatchObject({
      error: 'RangeError: late',
    });
    expect((await run('broken.js', 'console.log("ran"); (')).data).toMatchObject({ status: 'syntax_error' });
  });

  test('is stopped after its time; what it prints without end is cut', async () => {
    const loop = await run('loop.js', 'console.log("begun"); for (;;) ;', { timeout_s: 1 });
    expect(loop).toMatchObject({
      code: 'tool',
      message: expect.stringMatching(/JavaScript was stopped after 1 s[\s\S]*begun/),
    });
    const quiet = await run('wait.js', 'setInterval(() => {}, 1000)', { timeout_s: 0.5 });
    expect(quiet).toMatchObject({ message: expect.stringContaining('stopped after 0.5 s') });
    const long = await run('long.js', 'console.log("x".repeat(200_000))');
    expect(long.text).toMatch(/x\n\[cut: 100001 more bytes were printed\]$/);
  });

  test('cannot say what the driver says', async () => {
    const fake =
      'process.stdout.write("\\x1e" + "0".repeat(32) + " {\\"status\\":\\"ok\\"}\\n"); throw new Error("true end")';
    expect((await run('fake.js', fake)).data).toMatchObject({ status: 'error', error: 'Error: true end' });
    expect(await run('quiet.js', 'process.removeAllListeners("exit")')).toMatchObject({ code: 'tool' });
  });
});

describe('what a JavaScript program may not', () => {
  test('read: no other file, no variable of the environment', async () => {
    const found = await tries([
      `fs.readFileSync(${JSON.stringify(path.join(agent.folder, 'secret.txt'))})`,
      `fs.readdirSync(${JSON.stringify(agent.folder)})`,
      "fs.readFileSync('/etc/passwd')",
      "fs.readFileSync('/proc/self/environ')",
      "fs.readFileSync('../secret.txt')",
      'fs.promises.readFile("/etc/hostname")',
    ]);
    expect(found).toEqual(Array.from({ length: 6 }, () => 'refused ERR_ACCESS_DENIED'));
    const shown = textOf(await run('env.js', 'console.log(JSON.stringify(process.env))'));
    expect(shown).not.toMatch(new RegExp(`${SECRET}|GAIA|NODE_OPTIONS|HOME`));
  });

  test('write: neither beside the files nor anywhere', async () => {
    const before = readdirSync(agent.folder, { recursive: true }).sort();
    const found = await tries([
      "fs.writeFileSync('made.txt', 'x')",
      "fs.writeFileSync('/tmp/gaia-made.txt', 'x')",
      "fs.appendFileSync('data.csv', 'x')",
      "fs.rmSync('data.csv')",
      "fs.symlinkSync('/etc', 'linked')",
      "fs.mkdirSync('made')",
      "import('node:sqlite').then(({ DatabaseSync }) => new DatabaseSync('made.sqlite'))",
      'process.report.writeReport("made.json")',
    ]);
    for (const line of found) expect(line).toMatch(/^refused/);
    const after = readdirSync(agent.folder, { recursive: true }).sort();
    expect(after.filter((name) => !String(name).endsWith('tries.mjs'))).toEqual(
      before.filter((name) => !String(name).endsWith('tries.mjs')),
    );
    expect(readFileSync(path.join(agent.files, 'data.csv'), 'utf8')).toBe('item,price\na,3\nb,4\n');
    expect(existsSync('/tmp/gaia-made.txt')).toBe(false);
  });

  test('connect or listen, whichever way', async () => {
    const before = arrived;
    const found = await tries([
      `fetch('http://127.0.0.1:${port}/')`,
      `arrives(net.connect(${port}, '127.0.0.1'))`,
      `arrives(new net.Socket().connect(${port}))`,
      `arrives(http.get('http://127.0.0.1:${port}/'))`,
      `arrives(http.request({ port: ${port}, createConnection: net.connect }).end())`,
      `new WebSocket('ws://127.0.0.1:${port}/')`,
      `new Promise((resolve, reject) => dgram.createSocket('udp4').send('x', ${port}, '127.0.0.1', (error) => error ? reject(error) : resolve()))`,
      'http.createServer().listen(0)',
      "import('node:dns').then((dns) => dns.promises.lookup('localhost'))",
      `process.getBuiltinModule('net').connect(${port})`,
      `import('node:module').then((m) => m.createRequire(import.meta.url)('net').connect(${port}))`,
      "import('node:inspector').then((i) => i.open(0))",
    ]);
    for (const line of found) expect(line).toMatch(/^refused/);
    expect(arrived).toBe(before);
  });

  test('start a process or a thread, or reach another', async () => {
    const found = await tries([
      "import('node:child_process').then((c) => c.execSync('id'))",
      "import('node:child_process').then((c) => c.spawn('id'))",
      "import('node:worker_threads').then((w) => new w.Worker('1', { eval: true }))",
      "import('node:cluster').then((c) => c.default.fork())",
      `process.kill(${agent.pid}, 0)`,
      `process._kill(${agent.pid}, 9)`,
      "process.execve('/bin/sh', ['sh'])",
      "process.binding('spawn_sync')",
      "process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6')",
      "import('node:v8').then((v) => v.setFlagsFromString('--allow-natives-syntax'))",
      "import('node:wasi').then((w) => new w.WASI({ version: 'preview1', preopens: { '/': '/' } }))",
    ]);
    for (const line of found) expect(line).toMatch(/^refused/);
    expect(isRunning(agent.pid)).toBe(true);
  });

  test('take more memory than it is given, on the heap or beside it', async () => {
    const heap = await run(
      'heap.js',
      'const a = []; for (;;) a.push(new Array(1e6).fill(1.5))',
      { timeout_s: 30 },
      { python_memory_mb: 256 },
    );
    expect(JSON.stringify(heap)).toMatch(/ended by itself|heap/);
    if ((await findJavascript()).missing.length > 0) return;
    const arrays = await run(
      'arrays.js',
      'const a = []; for (;;) a.push(new Uint8Array(64e6).fill(1))',
      { timeout_s: 30 },
      { python_memory_mb: 256 },
    );
    expect(JSON.stringify(arrays)).toMatch(/ended by itself|allocation failed/);
  });

  test.runIf(process.platform === 'linux')(
    'outlive an agent that is killed',
    async () => {
      const other = new RestrictedAgent();
      writeFileSync(path.join(other.files, 'loop.js'), 'for (;;) ;');
      const busy = other.call({ tool: 'execute-python-file', input: { file: 'loop.js', timeout_s: 30 } });
      const running = () =>
        descendants(other.pid).filter((pid) =>
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('javascript-child'),
        );
      await expect.poll(running, { timeout: 30_000 }).not.toEqual([]);
      const started = descendants(other.pid);
      await other.kill();
      await busy;
      await expect.poll(() => started.filter(isRunning), { timeout: 20_000 }).toEqual([]);
      await other.stop();
    },
    60_000,
  );

  test('doctor can say what holds here', async () => {
    const { guarantees, missing } = await findJavascript();
    expect(guarantees).toContain('starts no process');
    if (process.platform === 'linux' && missing.length === 0) expect(guarantees).toContain('has no network');
  });
});
