import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { readLinuxFile } from '@gaia-mesh/core/system/platform.ts';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';
import { guard } from '@gaia-mesh/core/system/process/guard.ts';
import { isolateNodeCommand } from '@gaia-mesh/core/system/process/without-network.ts';

/**
 * Work on bytes of strangers in a process of its own: where a library hangs, eats memory or throws where nobody catches, that
 * process ends, and nothing else. It may read code and packages, nothing else, and write nothing (Node's permission model); it has no
 * environment, and no network where the machine can see to that. One file holds both ends, so that it is found in sources, in a bundle
 * and in a package:
 *
 *     if (isConfined('read-page')) void answerConfined(async (bytes) => …);
 *
 * It may not wait at the top level: users' files, which are loaded with `require`, may import such a module.
 */
export interface ConfinedLimits {
  readonly timeoutMs: number;
  readonly heapMb: number;
  /** Of the whole process, what lies outside the heap among it; looked at from outside, on Linux. */
  readonly rssMb?: number;
  readonly maxOutputBytes?: number;
  /** Libraries that bring threads of their own. */
  readonly workers?: boolean;
  /** SQLite opens files that Node's permissions refuse: only for work that has it refuse them. */
  readonly sqlite?: boolean;
  readonly signal: AbortSignal;
}

/** What came of it; `stopped` says in words why nothing did. */
type ConfinedOutcome = { readonly output: string } | { readonly stopped: string };

/** Names the job in the child's environment. */
const JOB_VARIABLE = 'GAIA_MESH_CONFINED_JOB';

/** A text of this many bytes is more than a reply may have. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const MEMORY_CHECK_MS = 100;
const PAGE_BYTES = 4096;
const MAX_STDERR_CHARACTERS = 2000;
/** Before the message of what was thrown. */
const FAULT = 'confined work failed: ';

/** Starts the module at `program` for `job`, gives it `bytes`, and waits for its text. */
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
  const { program: command, args } = isolateNodeCommand([
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
  child.stdout.on('data', (part: Buffer) => {
    parts.push(part);
    size += part.length;
    if (size > maxOutputBytes) resolve({ stopped: `it wrote more than ${maxOutputBytes} bytes` });
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MAX_STDERR_CHARACTERS);
  });
  // A child that ended early does not take the rest; its end tells more.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(bytes);
  child.once('error', ({ message }) => resolve({ stopped: message }));
  child.once('close', (code, killed) => {
    if (code === 0) resolve({ output: Buffer.concat(parts).toString() });
    else resolve({ stopped: `its reader ended with ${killed ?? `code ${code}`}${findThrownReason(said)}` });
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

/** 0 where nobody says. */
function readRssMb(pid: number | undefined): number {
  const pages = Number(readLinuxFile(`/proc/${pid}/statm`)?.split(' ')[1] ?? 0);
  return (pages * PAGE_BYTES) / 2 ** 20;
}

/** Before the bytes of a task: the length of the JSON that says what to do with them. */
const LENGTH_BYTES = 4;

/** Puts `task` before bytes, for a child that is told more than its job. */
export function packTask(task: JsonObject, bytes: Uint8Array): Buffer {
  const head = Buffer.from(JSON.stringify(task));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, bytes]);
}

/** Takes what {@link packTask} made apart. */
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
 * The child's end: bytes from standard input, the text of `work` to standard output. Whatever a library throws over bytes of
 * strangers is the bytes' fault, and said in one line.
 */
export async function answerConfined(work: (bytes: Uint8Array) => Promise<string>): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part);
  const [stream, text] = await work(Buffer.concat(parts)).then(
    (answer) => [process.stdout, answer] as const,
    (error: unknown) => [process.stderr, `${FAULT}${toErrorMessage(error)}`] as const,
  );
  await new Promise<void>((resolve) => stream.write(text, () => resolve()));
  // Threads of a library may be left.
  process.exit(stream === process.stdout ? 0 : 1);
}

/** What was thrown: by our own line, else by the one that Node writes when nobody caught it. */
function findThrownReason(said: string): string {
  const own = said.lastIndexOf(FAULT);
  const lines =
    own === -1
      ? said.split('\n').filter((line) => /^\w*Error\b.*:|^FATAL ERROR/.test(line))
      : [said.slice(own + FAULT.length)];
  return lines.length === 0 ? '' : ` (${lines.at(-1)?.replace(/\s+/g, ' ').slice(0, 300)})`;
}

/** This project's code, and the packages that it finds. */
function listReadablePaths(): string[] {
  const code = fileURLToPath(new URL('../../', import.meta.url));
  const folders = ['core', 'dist', 'scripts', 'tools'].map((name) => path.join(code, name));
  for (let folder = code; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const store = path.join(folder, 'node_modules');
    if (path.basename(folder) !== 'node_modules' && isReadable(store))
      folders.push(store, realpathSync(store));
  }
  // In a bundle the module that reads the package's version is loaded with others.
  return [...[...new Set(folders)].map((folder) => folder + path.sep), path.join(code, 'package.json')];
}

/** A folder that this process may not look at is no use to its child. */
function isReadable(folder: string): boolean {
  try {
    return existsSync(folder);
  } catch (error) {
    if (readSystemCode(error) === 'ERR_ACCESS_DENIED') return false;
    throw error;
  }
}
