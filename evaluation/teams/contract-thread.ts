import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import {
  type ErrorCode,
  MeshError,
  readSystemCode,
  toErrorMessage,
} from '@gaia-mesh/core/contracts/errors.ts';
import { listContractChecks } from '@gaia-mesh/protocols/contract/suite.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { loadEnvelopeWriter, loadUserAdapter } from './user-files.ts';

/** What the contract suite is run on: an adapter that ships with the project, or a file. */
type Subject = { readonly name: string } | { readonly file: string };

interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** What it did wrong. */
  readonly reason?: string;
}

interface Conformance {
  readonly adapter: string;
  readonly hasWriter: boolean;
  readonly results: readonly CheckResult[];
}

interface ContractOptions {
  readonly onResult?: (result: CheckResult) => void;
  /** Whoever only wants to know whether it conforms needs no second failure. */
  readonly stopsAtFailure?: boolean;
  readonly checkSeconds?: number;
}

/** The slowest check takes about a second; one that grows with the square of its bytes, hours. */
export const CHECK_SECONDS = 60;
/** The suite itself takes some 100 MB. */
const HEAP_MB = 1024;
/** Memory outside of the heap, such as blobs, is seen as growth of the whole process. */
const GROWTH_BYTES = 1536 * 1024 * 1024;
const MEMORY_CHECK_MS = 100;
/** An adapter that hangs in three checks will do so in most. */
const MAX_STOPPED = 3;
/** A reason is for people; an adapter may throw anything. */
const MAX_REASON = 2000;

const NAME = 'gaia-mesh contract';

interface Work {
  readonly thread: typeof NAME;
  readonly subject: Subject;
  /** The number of the check to begin with. */
  readonly from: number;
}

type Message =
  | { readonly adapter: string; readonly hasWriter: boolean; readonly names: readonly string[] }
  | { readonly result: CheckResult }
  | { readonly fault: { readonly code: ErrorCode; readonly message: string } }
  | { readonly bug: string };
type Head = Extract<Message, { adapter: string }>;

/**
 * Runs the contract suite in another thread: an adapter that hangs or eats memory is stopped, named with the check that it did so in, and
 * the next checks go on.
 *
 * @throws MeshError `usage` or `config` for a subject that is no adapter, or one that cannot be loaded in time
 */
export async function checkContract(subject: Subject, options: ContractOptions = {}): Promise<Conformance> {
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
      add({ name: other, passed: false, reason: `not tried, as ${MAX_STOPPED} checks had to be stopped` });
    return { adapter, hasWriter, results };
  }
}

/**
 * @param onMessage says whether that is all that was wanted
 * @returns why the thread had to be stopped, if it had to
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
  });
  // What an adapter prints is no result.
  worker.stdout.pipe(process.stderr);
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

// This file is both ends. It may not wait at the top level: users' files, which are loaded with `require`, may import this module.
if (!isMainThread && isWork(workerData)) void serveThread(workerData);
