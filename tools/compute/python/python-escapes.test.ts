import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { PYTHON_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { computing, descendants } from '../fixtures/processes.ts';
import { isRunning, RestrictedAgent, textOf } from '../fixtures/restricted-agent.ts';
import { TO_JAVASCRIPT } from '../fixtures/to-javascript.ts';

const SECRET = 'a-key-that-nobody-may-see';

describe('Python', () => {
  let agent: RestrictedAgent;
  let server: Server;
  let port = 0;
  let arrived = 0;
  beforeAll(async () => {
    agent = new RestrictedAgent({ GAIA_TEST_KEY: SECRET });
    writeFileSync(path.join(agent.folder, 'secret.txt'), SECRET);
    writeFileSync(path.join(agent.workspace, 'notes.txt'), SECRET);
    writeFileSync(path.join(agent.files, 'data.txt'), 'of the task');
    server = createServer((_, response) => response.end(SECRET)).on('connection', () => arrived++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
    await run('1');
  }, 180_000);
  afterAll(async () => {
    await agent.stop();
    server.close();
  });

  const call = (code: string, timeoutS = 30, taskId = 't1') =>
    agent.call({ tool: 'python_repl', input: { code, timeout_s: timeoutS }, taskId });
  const run = async (code: string) => textOf(await call(code));
  /** Evaluates each expression on its own, and returns its value or the name of its error. */
  const tries = async (setup: string, expressions: readonly string[]) => {
    const code = `${setup}\ndef attempt(text):\n    try:\n        return "got %r" % (eval(text),)\n    except BaseException as error:\n        return type(error).__name__\nimport json\nprint(json.dumps([attempt(each) for each in ${JSON.stringify(expressions)}]))`;
    const results: string[] = JSON.parse((await run(code)).split('\n')[0] ?? '');
    return results.map((result, index) => `${expressions[index]}: ${result}`);
  };

  test('no file outside can be read: of the user, of other agents, of the system', async () => {
    const paths = [
      path.join(agent.folder, 'secret.txt'),
      path.join(agent.workspace, 'notes.txt'),
      import.meta.filename,
      '/etc/passwd',
      '/etc/shadow',
      '/etc/hostname',
      '/proc/self/environ',
      '/proc/1/environ',
      `/proc/${process.pid}/environ`,
      `/proc/${agent.pid}/environ`,
      '/sys/kernel/uevent_seqnum',
      '/old/etc/passwd',
      '../../../../../etc/passwd',
      '/files/../etc/passwd',
      '/files/../secret.txt',
      path.join(os.homedir(), '.bashrc'),
    ];
    for (const result of await tries(
      '',
      paths.map((each) => `open(${JSON.stringify(each)}, "rb").read()[:80]`),
    )) {
      expect(result).toMatch(/: (FileNotFoundError|PermissionError|NotADirectoryError|OSError)$/);
    }
  });

  test('no folder of the user’s can be listed', async () => {
    const folders = [
      agent.folder,
      agent.workspace,
      process.cwd(),
      os.tmpdir(),
      '/home',
      '/var',
      '/etc',
      '/old',
      '/proc',
      '/sys',
      '/mnt',
    ];
    for (const folder of folders) {
      const names = await run(
        `import os\nprint(os.listdir(${JSON.stringify(folder)}) if os.path.isdir(${JSON.stringify(folder)}) else [])`,
      );
      // Entries of the sandbox itself: links to the interpreter, the linker's table, a folder for the code.
      const own = new Set(['alternatives', 'ld.so.cache', 'pyodide', 'data.txt', 'self', 'web_user']);
      const shown = [...names.matchAll(/'([^']+)'/g)]
        .map(([, name]) => name ?? '')
        .filter((name) => !own.has(name));
      expect(shown, folder).toEqual([]);
    }
  });

  test('nothing outside can be written, and the task’s files are not to be changed or deleted', async () => {
    const before = readdirSync(agent.folder, { recursive: true })
      .filter((name) => !String(name).includes('.cache'))
      .sort();
    await run(`
import os, shutil
for path in [${[agent.folder, agent.workspace, agent.files, '/', '/usr', '/usr/local', '/files', '/etc', '/dev', '/old'].map((each) => JSON.stringify(each)).join(', ')}]:
    for act in (lambda: open(path + "/written.txt", "w").write("x"), lambda: os.mkdir(path + "/made"), lambda: os.symlink("/", path + "/linked")):
        try: act()
        except OSError: pass
for act in (lambda: os.unlink("/files/data.txt"), lambda: os.truncate("/files/data.txt", 0), lambda: open("data.txt", "w").write("gone"),
            lambda: os.chmod("/files/data.txt", 0), lambda: os.rename("/files/data.txt", "/files/other"), lambda: shutil.rmtree("/files")):
    try: act()
    except OSError: pass
`);
    const after = readdirSync(agent.folder, { recursive: true })
      .filter((name) => !String(name).includes('.cache'))
      .sort();
    expect(after).toEqual(before);
    expect(readFileSync(path.join(agent.files, 'data.txt'), 'utf8')).toBe('of the task');
    for (const folder of ['/', '/usr', '/usr/local', '/etc', '/dev']) {
      expect(existsSync(path.join(folder, 'written.txt')), folder).toBe(false);
    }
  });

  test('no connection leaves: not to this machine, not by UDP, not by another family', async () => {
    const before = arrived;
    const found = await tries('import socket, urllib.request', [
      `socket.create_connection(("127.0.0.1", ${port}), timeout=3)`,
      `urllib.request.urlopen("http://127.0.0.1:${port}/", timeout=3).read()`,
      `urllib.request.urlopen("http://localhost:${port}/", timeout=3).read()`,
      `socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", ${port})) and open("/none")`,
      `socket.socket(socket.AF_UNIX).connect("/var/run/docker.sock")`,
      `socket.socket(40, socket.SOCK_STREAM).connect((2, 1024))`,
    ]);
    for (const result of found) expect(result).toMatch(/: \w*(Error|Exception|herror|timeout)$/);
    expect(arrived).toBe(before);
  });

  test('no variable of the environment is there', async () => {
    const shown = await run('import os\nprint(sorted(os.environ.items()))');
    expect(shown).not.toContain(SECRET);
    expect(shown).not.toContain('GAIA');
    expect(shown).not.toContain('NODE_OPTIONS');
    expect(shown).not.toContain(agent.folder);
  });

  test.runIf(process.platform === 'linux')(
    'none of the processes around it has the agent’s environment',
    async () => {
      await run('1');
      const environments = descendants(agent.pid).map((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8'));
      expect(environments).not.toEqual([]);
      for (const environment of environments) {
        expect(environment).not.toContain(SECRET);
        // NODE_OPTIONS would pass the agent's permissions on to the process.
        expect(environment).not.toContain('NODE_OPTIONS');
      }
    },
  );

  test('no process can be started, so none outlives it', async () => {
    const marker = path.join(agent.folder, 'outlived');
    const found = await tries('import os, subprocess, multiprocessing', [
      'os.fork()',
      `os.system("sleep 1; touch ${marker}") == 0 and "ran"`,
      `subprocess.run(["/bin/sh", "-c", "true"]).returncode == 0 and "ran"`,
      `subprocess.Popen("touch ${marker}", shell=True, start_new_session=True)`,
      'os.posix_spawn("/bin/sh", ["sh", "-c", "true"], {})',
      'os.execv("/bin/sh", ["sh", "-c", "true"])',
      'multiprocessing.Process(target=print).start()',
    ]);
    for (const result of found) expect(result).toMatch(/: (got False|\w*Error)$/);
    expect(existsSync(marker)).toBe(false);
  });

  test('a fork bomb starts nothing', async () => {
    const reply = await call(
      'import os\ncount = 0\nfor _ in range(10_000):\n    try:\n        count += os.fork() >= 0\n    except (OSError, AttributeError):\n        pass\ncount',
    );
    expect(reply.text).toBe('0\n');
  });

  test('signals reach nobody: not the agent, not whoever started it', async () => {
    const found = await tries('import os, signal', [
      `os.kill(${agent.pid}, signal.SIGKILL)`,
      `os.kill(${process.pid}, 0)`,
      'os.kill(os.getppid(), signal.SIGUSR1) if os.getppid() > 1 else open("/none")',
    ]);
    for (const result of found) expect(result).not.toContain('got');
    expect(isRunning(agent.pid)).toBe(true);
  });

  test('memory is bounded, and the interpreter lives on', async () => {
    const reply = await call('held = []\nwhile True:\n    held.append(bytearray(16 << 20))', 30);
    expect(reply.data ?? reply.message).toMatchObject({ status: 'error', error: 'MemoryError' });
    expect(await run('del held\n1')).toBe('1\n');
  });

  test('what is written is bounded: a file, all files, and their number', async () => {
    const shown = await run(`
import os
def fill(name, megabytes):
    try:
        with open(name, "wb") as file:
            for _ in range(megabytes):
                file.write(bytes(1 << 20))
        return megabytes
    except OSError as error:
        size = os.path.getsize(name) >> 20
        return size
largest = fill("large", 200)
total = largest + sum(fill("part%d" % n, 30) for n in range(8))
print(largest <= 32, total <= 160)
for n in range(8):
    if os.path.exists("part%d" % n): os.unlink("part%d" % n)
os.unlink("large")
`);
    expect(shown).toBe('True True\n');
    expect(
      await run(
        `print(len(bytes(1))); f = open("/desk/a", "wb")\ntry:\n    f.truncate(10 << 30)\n    print("grown")\nexcept OSError:\n    print("refused")`,
      ),
    ).toContain('refused');
  });

  test('an interpreter that ends itself is told of, and the next call has another', async () => {
    for (const code of ['import os\nos._exit(3)', 'import ctypes\nctypes.string_at(0)']) {
      const reply = await call(`print("last words", flush=True)\n${code}`, 10, 'ending');
      // In WebAssembly, address 0 can be read, so that the interpreter does not end.
      if (reply.code === undefined) continue;
      expect(reply).toMatchObject({
        code: 'tool',
        message: expect.stringMatching(/ended by itself[\s\S]*last words/),
      });
    }
    expect(textOf(await call('1 + 1', 10, 'ending'))).toContain('2\n');
  });

  test('code that will not be stopped is stopped: endless C, deep recursion, caught signals', async () => {
    const stubborn = [
      'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
      'sum(range(10 ** 15))',
      'import time\ntime.sleep(3600)',
    ];
    for (const code of stubborn) {
      const reply = await call(code, 0.5, 'stubborn');
      expect(reply, code).toMatchObject({
        code: 'tool',
        message: expect.stringContaining('stopped after 0.5 s'),
      });
    }
    const deep = await call('def f(n):\n    return f(n + 1)\nf(0)', 10, 'stubborn');
    expect(deep.data ?? deep).toMatchObject(
      deep.data === undefined ? { code: 'tool' } : { error: expect.stringContaining('RecursionError') },
    );
  });

  test.runIf(process.platform === 'linux')(
    'dies with an agent that is killed, in the middle of an endless loop',
    async () => {
      const other = new RestrictedAgent();
      cpSync(path.join(agent.workspace, '.cache'), path.join(other.workspace, '.cache'), { recursive: true });
      const busy = other.call({
        tool: 'python_repl',
        input: { code: 'while True: pass', timeout_s: 5 },
      });
      await expect.poll(() => computing(other.pid), { timeout: 60_000 }).not.toEqual([]);
      const started = descendants(other.pid);
      await other.kill();
      await busy;
      await expect.poll(() => started.filter(isRunning), { timeout: 20_000 }).toEqual([]);
      await other.stop();
    },
    120_000,
  );

  describe('JavaScript behind Python', () => {
    test('has no name any more', async () => {
      const found = await tries('', [
        '__import__("js")',
        '__import__("pyodide_js")',
        '__import__("pyodide.code").code.run_js("1")',
        '__import__("pyodide.ffi")',
      ]);
      for (const result of found) expect(result).toMatch(/: (ModuleNotFoundError|ImportError)$/);
    });

    test('where it is found all the same, it has nothing of Node and makes no code of texts', async () => {
      const shown = await run(`${TO_JAVASCRIPT}
for name in ("process", "require", "fetch", "globalThis", "WebSocket", "Deno", "XMLHttpRequest", "importScripts", "Buffer"):
    attempt(lambda: getattr(js, name))
    attempt(lambda: getattr(pyodide_js, name))
attempt(lambda: pyodide_js.constructor.constructor("return process")())
attempt(lambda: pyodide_js.loadPackage.constructor("return globalThis")())
attempt(lambda: pyodide_js.FS.readFile.constructor.constructor("return this")())
attempt(lambda: __import__("pyodide.code").code.run_js("1 + 1"))
attempt(lambda: pyodide_js._module.eval("1"))
attempt(lambda: pyodide_js.mountNodeFS("/host", "/"))
def mount():
    pyodide_js.FS.mkdir("/nodefs")
    pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, js, "/nodefs")
    return __import__("os").listdir("/nodefs")
attempt(mount)
attempt(lambda: pyodide_js._module.FS.filesystems.NODEFS.staticInit())
attempt(lambda: pyodide_js._api.loadBinaryFile("/etc/passwd"))
`);
      for (const line of shown.trim().split('\n')) {
        // Promises that never settle, and methods without a result, are harmless.
        expect(line).toMatch(/^refused |^got (None|jsnull|<PyodideFuture|<Future)/);
      }
      expect(shown).toContain('Code generation from strings disallowed');
    });

    test('a file of the machine is not read through Pyodide’s own reader', async () => {
      const shown = await run(`${TO_JAVASCRIPT}
seen = []
attempt(lambda: pyodide_js._api.loadBinaryFile(${JSON.stringify(path.join(agent.folder, 'secret.txt'))}).then(lambda bytes: seen.append(bytes)))
attempt(lambda: pyodide_js.unpackArchive)
print(seen)
`);
      expect(shown).not.toContain(SECRET);
      expect(await run('print(len(seen))')).toBe('0\n');
    });

    test('its memory is bounded as well', async () => {
      // Allocated memory counts even before it is written, which would take long on a busy machine.
      const reply = await call(
        `${TO_JAVASCRIPT}
array = pyodide_js.FS.readFile("/files/data.txt").constructor
held = []
for n in range(400):
    held.append(array.new(16 << 20))
`,
        PYTHON_LIMITS.seconds,
        'arrays',
      );
      // The allocation is refused, or the process ends.
      expect(JSON.stringify(reply)).toMatch(/allocation failed|ended by itself|out of memory/i);
    });
  });
});
