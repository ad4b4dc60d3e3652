// A process that runs Pyodide, see pyodide-python.ts. Arguments: `snapshot` or `serve`; Pyodide's folder; the memory of
// a started interpreter, or ""; the folder of the task's files, or "". As `snapshot` it writes such a memory to its
// standard output; as `serve` it takes requests, one JSON line each.
import { lstatSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import vm from 'node:vm';
import { openRealm } from './pyodide-realm.ts';

declare global {
  var performRequest: () => void;
}

/**
 * Maximum files of the task that are copied into the realm, where they take memory. Larger ones are left out, and the
 * code does not find them.
 */
const MAX_FILES = 500;
const MAX_COPIED_BYTES = 64 * 1024 * 1024;
/**
 * Maximum bytes ever written, all in memory: nothing remains when the interpreter ends. Deleted files count, since they
 * may still be open.
 */
const WRITTEN_BYTES = 128 * 1024 * 1024;
/** Maximum size of a file that the code writes. */
const FILE_BYTES = 32 * 1024 * 1024;
/**
 * Additional time of a call, after which this process ends itself. The parent ends it earlier unless the parent is
 * gone.
 */
const GRACE_MS = 2_000;
const PRINT_ATTEMPTS = 1_000_000;

const [task = 'serve', pyodideFolder = '', snapshotFile = '', filesFolder = ''] = process.argv.slice(2);
const here = import.meta.dirname;

const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
  codeGeneration: { strings: false, wasm: true },
});
const open: typeof openRealm = vm.runInContext(`(${openRealm.toString()})`, context);
const realm = open({
  now: () => performance.now(),
  random: (count) =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(Math.min(count, 65_536)))).toString('base64'),
  asset: (name) => readFileSync(path.join(pyodideFolder, path.basename(name))),
  print,
  complain: (text) => {
    writeSync(2, `${text}\n`);
  },
  file: (name) => readFileSync(path.join(filesFolder, name)),
  soon: (callback) => {
    setImmediate(() => callback());
  },
});

const driver = ['python-driver.py', 'python-tables.py', 'python-pyodide.py']
  .map((name) => readFileSync(path.join(here, 'guest', name), 'utf8'))
  .join('\n');
const snapshot = await realm.start({
  loadPyodide: Reflect.get(await loadRealmModule('pyodide.mjs'), 'loadPyodide'),
  createModule: Reflect.get(await loadRealmModule('pyodide.asm.mjs'), 'default'),
  lockFile: readFileSync(path.join(pyodideFolder, 'pyodide-lock.json'), 'utf8'),
  assets: pyodideFolder,
  driver,
  fileBytes: FILE_BYTES,
  writtenBytes: WRITTEN_BYTES,
  snapshot: snapshotFile === '' ? undefined : readFileSync(snapshotFile),
  makesSnapshot: task === 'snapshot',
});
if (snapshot !== undefined) print(snapshot);
else await serve();

async function serve(): Promise<void> {
  const copied = new Map<string, string>();
  const call = new vm.Script('performRequest()');
  for await (const line of createInterface({ input: process.stdin })) {
    const { mark, timeout_ms: timeoutMs } = JSON.parse(line);
    realm.copy(listChangedFiles(copied));
    let reply = '';
    globalThis.performRequest = () => {
      reply = realm.perform(line);
    };
    call.runInThisContext({ timeout: Number(timeoutMs) + GRACE_MS });
    print(`\x1e${mark} ${reply}\n`);
  }
}

/** Lists files that are new or differ from their copy. It does not follow links, which may lead out of the folder. */
function listChangedFiles(copied: Map<string, string>): string[] {
  if (filesFolder === '') return [];
  let bytes = 0;
  let count = 0;
  const changed: string[] = [];
  for (const entry of readdirSync(filesFolder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const { size, mtimeMs } = lstatSync(file);
    count++;
    bytes += size;
    if (count > MAX_FILES || bytes > MAX_COPIED_BYTES) break;
    const name = path.relative(filesFolder, file).replaceAll(path.sep, '/');
    const state = `${size} ${mtimeMs}`;
    if (copied.get(name) !== state) changed.push(name);
    copied.set(name, state);
  }
  return changed;
}

/**
 * Loads one of Pyodide's modules as a module of the realm. Its imports are replaced: even a refused import would return
 * a promise of the realm outside.
 */
async function loadRealmModule(name: string): Promise<object> {
  const file = path.join(pyodideFolder, name);
  const source = readFileSync(file, 'utf8').replace(/\bimport\s*\(/g, 'importNothing(');
  const module = new vm.SourceTextModule(source, {
    context,
    identifier: file,
    initializeImportMeta: (meta) => {
      meta.url = `file:///${name}`;
    },
  });
  await module.link((specifier) => {
    throw new Error(`${name} imports ${specifier}`);
  });
  await module.evaluate();
  return module.namespace;
}

/** Prints synchronously: output keeps its order and takes no memory here. */
function print(text: string | Uint8Array): void {
  let rest = Buffer.from(text);
  for (let attempt = 0; rest.length > 0 && attempt < PRINT_ATTEMPTS; attempt++) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // A full pipe that does not block.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
}
