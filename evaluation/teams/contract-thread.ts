import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import {
  type ErrorCode,
  MeshError,
  readSystemCode,
  toErrorMessage,
} from '@gaia-mesh/core/contracts/errors.ts';
import { listContractChecks } from '@gaia-mesh/protocols/contract/suite.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { printError } from '../terminal/print.ts';
import { loadEnvelopeWriter, loadUserAdapter } from './user-files.ts';

/** The subject of the contract suite: an adapter that ships with the project, or a file. */
type Subject = { readonly name: string } | { readonly file: string };

interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** Reason of a failure. */
  readonly reason?: string;
}

interface Conformance {
  readonly adapter: string;
  readonly hasWriter: boolean;
  readonly results: readonly CheckResult[];
}

/** Timeout of a check. The slowest takes about a second; one that is quadratic in its bytes takes hours. */
export const CHECK_SECONDS = 60;
/** Maximum heap of the thread; the suite itself takes some 100 MB. */
const HEAP_MB = 1024;
/** Maximum growth of the process, which also covers memory outside the heap, such as blobs. */
const GROWTH_BYTES = 1536 * 1024 * 1024;
const MEMORY_CHECK_MS = 100;
/** Maximum checks that are stopped: an adapter that hangs in three of them will hang in most. */
const MAX_STOPPED = 3;
/** Maximum characters of a reason, since an adapter may throw anything. */
const MAX_REASON = 2000;

const NAME = 'gaia-mesh contract';

interface Work {
  readonly thread: typeof NAME;
  readonly subject: Subject;
  /** Number of the first check to run. */
  readonly from: number;
}

type Message =
  | { readonly adapter: string; readonly hasWriter: boolean; readonly names: readonly string[] }
  | { readonly result: CheckResult }
  | { readonly fault: { readonly code: ErrorCode; readonly message: string } }
  | { readonly bug: string };
type Head = Extract<Message, { adapter: string }>;

/**
 * Runs the contract suite in another thread. An adapter that hangs or uses too much memory is stopped, the failed check is named,
 * and the next checks go on.
 *
 * @throws MeshError `usage` or `config` for a subject that is no adapter, or that cannot be loaded in time
 */
export async function checkContract(
  subject: Subject,
  options: {
    readonly onResult?: (result: CheckResult) => void;
    /** Stops at the first failure, for callers that only need a verdict. */
    readonly stopsAtFailure?: boolean;
    readonly checkSeconds?: number;
  } = {},
): Promise<Conformance> {
  const { onResult, stopsAtFailure = false, checkSeconds = CHECK_SECONDS } = options;
  const results: CheckResult[] = [];
  let head: Head | undefined;
  let stopped = 0;
  const add = (result: CheckResult) => {
    results.push(result);
    onResult?.(result);
    return stopsAtFailure && !result.passed;
  };
  for (;;) {
    const reason = await runThread(
      { thread: NAME, subject, from: results.length },
      checkSeconds,
      (message) => {
        if ('result' in message) return add(message.result);
        if ('fault' in message) throw new MeshError(message.fault.code, message.fault.message);
        if ('bug' in message) throw new Error(message.bug);
        head = message;
        return false;
      },
    );
    if (head === undefined) {
      const what = 'file' in subject ? subject.file : subject.name;
      throw new MeshError('config', `${what} was not loaded: ${reason ?? 'its thread ended'}`);
    }
    const { adapter, hasWriter, names } = head;
    const [name, ...others] = names.slice(results.length);
    const hasFailed = results.at(-1)?.passed === false;
    if (name === undefined || (stopsAtFailure && hasFailed)) return { adapter, hasWriter, results };
    stopped += 1;
    const isEnough = add({ name, passed: false, reason: `stopped: ${reason}` });
    if (isEnough) return { adapter, hasWriter, results };
    if (stopped < MAX_STOPPED) continue;
    for (const other of others)
      add({ name: other, passed: false, reason: `not run, because ${MAX_STOPPED} checks had to be stopped` });
    return { adapter, hasWriter, results };
  }
}

/**
 * Runs checks in a thread until it ends or has to be stopped.
 *
 * @param onMessage returns true if no more messages are needed
 * @returns the reason why the thread had to be stopped, if it had to
 */
async function runThread(
  work: Work,
  checkSeconds: number,
  onMessage: (message: Message) => boolean,
): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const worker = new Worker(new URL('./contract-thread.ts', import.meta.url), {
    name: NAME,
    workerData: work,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    stdout: true,
    stderr: true,
  });
  // Output of an adapter must not mix with results on standard output.
  for (const stream of [worker.stdout, worker.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => printError(text.trimEnd()));
  const tooLong = () => resolve(`it took longer than ${checkSeconds} s`);
  let timer = setTimeout(tooLong, checkSeconds * 1000);
  const before = process.memoryUsage.rss();
  const watch = setInterval(() => {
    const isTooMuch = process.memoryUsage.rss() - before > GROWTH_BYTES;
    if (isTooMuch) resolve(`it took more than ${GROWTH_BYTES / 1024 / 1024} MB of memory`);
  }, MEMORY_CHECK_MS);
  worker.on('message', (message: Message) => {
    clearTimeout(timer);
    timer = setTimeout(tooLong, checkSeconds * 1000);
    try {
      if (onMessage(message)) resolve(undefined);
    } catch (error) {
      reject(error);
    }
  });
  worker.on('error', (error: unknown) => {
    const isMemory = readSystemCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
    resolve(
      isMemory
        ? `it took more than ${HEAP_MB} MB of memory`
        : `it threw ${toErrorMessage(error)}`.slice(0, MAX_REASON),
    );
  });
  worker.on('exit', () => resolve('it ended its thread'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    await worker.terminate();
  }
}

async function runChecks({ subject, from }: Work, post: (message: Message) => void): Promise<void> {
  const isFile = 'file' in subject;
  const adapter = isFile ? loadUserAdapter(subject.file) : await loadAdapter(subject.name);
  const writer = isFile ? loadEnvelopeWriter(subject.file) : undefined;
  const checks = listContractChecks(adapter, writer);
  const names = checks.map(({ name }) => name);
  post({ adapter: adapter.name, hasWriter: writer !== undefined, names });
  for (const check of checks.slice(from)) {
    const { name } = check;
    try {
      check.run();
      post({ result: { name, passed: true } });
    } catch (error) {
      post({ result: { name, passed: false, reason: toErrorMessage(error).slice(0, MAX_REASON) } });
    }
  }
}

function isWork(data: unknown): data is Work {
  return typeof data === 'object' && data !== null && 'thread' in data && data.thread === NAME;
}

async function serveThread(work: Work): Promise<void> {
  const post = (message: Message) => parentPort?.postMessage(message);
  try {
    await runChecks(work, post);
  } catch (error) {
    if (error instanceof MeshError) post({ fault: { code: error.code, message: error.message } });
    else post({ bug: error instanceof Error ? `${error.stack}` : String(error) });
  }
}

// This file is both ends of the thread. It must not await at the top level: users' files, which are loaded with `require`, may
// import this module.
if (!isMainThread && isWork(workerData)) void serveThread(workerData);
