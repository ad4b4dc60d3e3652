import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { explainSystemFault, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { readLinuxFile } from '@gaia-mesh/core/system/platform.ts';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';
import { awaitChildEnd } from '@gaia-mesh/core/system/process/child-end.ts';
import { guard } from '@gaia-mesh/core/system/process/guard.ts';
import { isolateCommand } from '@gaia-mesh/core/system/process/without-network.ts';

/**
 * Limits of work on untrusted bytes in a process of its own: if a library hangs, eats memory or throws where nothing catches, only that
 * process ends. It may read nothing but code and packages, and write nothing (Node's permission model); it has no
 * environment, and no network if the machine can isolate it. One file holds both ends, so that it is found in sources, in a bundle
 * and in a package:
 *
 *     if (isConfined('read-page')) void answerConfined(async (bytes) => …);
 *
 * Such a module must not await at the top level: users' files, which are loaded with `require`, may import it.
 */
export interface ConfinedLimits {
  readonly timeoutMs: number;
  readonly heapMb: number;
  /** Limit of the whole process, including memory outside the heap; checked from outside, on Linux. */
  readonly rssMb?: number;
  readonly maxOutputBytes?: number;
  /** Allows libraries that start threads of their own. */
  readonly workers?: boolean;
  /** Allows SQLite, which opens files that Node's permissions refuse: only for work that restricts it itself. */
  readonly sqlite?: boolean;
  readonly signal: AbortSignal;
}

/** The outcome of confined work; `stopped` gives the reason for a missing output. */
type ConfinedOutcome = { readonly output: string } | { readonly stopped: string };

/** The environment variable that tells the child its job. */
const JOB_VARIABLE = 'GAIA_MESH_CONFINED_JOB';

/** Maximum output bytes by default, more than a reply may have. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MEMORY_CHECK_MS = 100;
const PAGE_BYTES = 4096;
const MAX_STDERR_CHARACTERS = 2000;
const MAX_REASON_CHARACTERS = 300;
/** The prefix of an error's message on the child's standard error. */
const FAULT = 'confined work failed: ';

/** Runs the module at `program` for `job` on `bytes`, and returns its text. */
export async function runConfined(
  program: URL,
  job: string,
  bytes: Uint8Array,
  {
    timeoutMs,
    heapMb,
    rssMb,
    maxOutputBytes = MAX_OUTPUT_BYTES,
    workers = false,
    sqlite = false,
    signal,
  }: ConfinedLimits,
): Promise<ConfinedOutcome> {
  if (signal.aborted) return { stopped: 'the task has ended' };
  const { program: command, args } = isolateCommand([
    '--permission',
    ...(sqlite ? [] : ['--no-experimental-sqlite']),
    ...(workers ? ['--allow-worker'] : []),
    ...listReadablePaths().map((folder) => `--allow-fs-read=${folder}`),
    `--max-old-space-size=${heapMb}`,
    '--no-warnings',
    fileURLToPath(program),
  ]);
  const child = spawn(command, args, {
    env: { [JOB_VARIABLE]: job },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = awaitChildEnd(child);
  const release = guard({ pid: child.pid });
  const { promise, resolve } = Promise.withResolvers<ConfinedOutcome>();
  const timer = setTimeout(
    () => resolve({ stopped: `it took longer than ${timeoutMs / 1000} s` }),
    timeoutMs,
  );
  const watch = setInterval(() => {
    if (rssMb !== undefined && readRssMb(child.pid) > rssMb) {
      resolve({ stopped: `it took more than ${rssMb} MB of memory` });
    }
  }, MEMORY_CHECK_MS);
  const unwatch = onAbort(signal, () => resolve({ stopped: 'the task has ended' }));
  const parts: Buffer[] = [];
  let size = 0;
  let said = '';
  child.stdout?.on('data', (part: Buffer) => {
    parts.push(part);
    size += part.length;
    if (size > maxOutputBytes) resolve({ stopped: `it wrote more than ${maxOutputBytes} bytes` });
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_STDERR_CHARACTERS);
  });
  // A child that ended early does not read the rest; its exit says more.
  child.stdin?.on('error', () => child.stdin.destroy());
  child.stdin?.end(bytes);
  void ended.then(({ code, signal: killed, error }) => {
    if (error !== undefined) resolve({ stopped: explainSystemFault(error) ?? error.message });
    else if (code === 0) resolve({ output: Buffer.concat(parts).toString() });
    else resolve({ stopped: findOwnReason(said) ?? describeCrash(killed ?? `code ${code}`, said) });
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    unwatch();
    child.kill('SIGKILL');
    release();
  }
}

/** Returns the process's memory; 0 if it is unknown. */
function readRssMb(pid: number | undefined): number {
  const pages = Number(readLinuxFile(`/proc/${pid}/statm`)?.split(' ')[1] ?? 0);
  return (pages * PAGE_BYTES) / 2 ** 20;
}

/** Bytes of the length that precedes a task's JSON. */
const LENGTH_BYTES = 4;

/** Puts `task` in front of the bytes, for a child that needs more than its job's name. */
export function packTask(task: JsonObject, bytes: Uint8Array): Buffer {
  const head = Buffer.from(JSON.stringify(task));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, bytes]);
}

/** Splits the result of {@link packTask}. */
export function unpackTask<Task extends JsonObject>(
  packed: Uint8Array,
): { task: Task; bytes: Uint8Array<ArrayBuffer> } {
  const begin = LENGTH_BYTES + Buffer.from(packed.buffer, packed.byteOffset).readUInt32BE();
  const task = JSON.parse(Buffer.from(packed.subarray(LENGTH_BYTES, begin)).toString());
  return { task, bytes: new Uint8Array(packed.subarray(begin)) };
}

export function isConfined(job: string): boolean {
  return process.env[JOB_VARIABLE] === job;
}

/**
 * Runs the child's end: bytes from standard input, the text of `work` to standard output. Anything that a library throws over
 * untrusted bytes is reported in one line as their fault.
 */
export async function answerConfined(work: (bytes: Uint8Array) => Promise<string>): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part);
  const [stream, text] = await work(Buffer.concat(parts)).then(
    (answer) => [process.stdout, answer] as const,
    // The parent keeps the end of what is written here, and looks for the prefix in it.
    (error: unknown) =>
      [process.stderr, `${FAULT}${toErrorMessage(error).slice(0, MAX_REASON_CHARACTERS)}`] as const,
  );
  await new Promise<void>((resolve) => stream.write(text, () => resolve()));
  // Threads of a library may still run.
  process.exit(stream === process.stdout ? 0 : 1);
}

/** Returns the reason that {@link answerConfined} wrote; undefined for a process that ended in another way. */
function findOwnReason(said: string): string | undefined {
  const own = said.lastIndexOf(FAULT);
  return own === -1 ? undefined : joinLines(said.slice(own + FAULT.length));
}

/** Describes the end of a process, with the line that Node writes for an uncaught error. */
function describeCrash(how: string, said: string): string {
  const last = said.split('\n').findLast((line) => /^\w*Error\b.*:|^FATAL ERROR/.test(line));
  return `its reader ended with ${how}${last === undefined ? '' : ` (${joinLines(last)})`}`;
}

function joinLines(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, MAX_REASON_CHARACTERS);
}

/** Returns the folders of this project's code and of the packages that it finds. */
function listReadablePaths(): string[] {
  const code = fileURLToPath(new URL('../../', import.meta.url));
  const folders = ['core', 'dist', 'scripts', 'tools'].map((name) => path.join(code, name));
  for (let folder = code; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const store = path.join(folder, 'node_modules');
    if (path.basename(folder) !== 'node_modules' && isReadable(store))
      folders.push(store, realpathSync(store));
  }
  // In a bundle, the module that reads the package's version is loaded with others.
  return [...[...new Set(folders)].map((folder) => folder + path.sep), path.join(code, 'package.json')];
}

/** Returns false for a folder that this process may not read either: its child could not use it. */
function isReadable(folder: string): boolean {
  try {
    return existsSync(folder);
  } catch (error) {
    if (readSystemCode(error) === 'ERR_ACCESS_DENIED') return false;
    throw error;
  }
}
