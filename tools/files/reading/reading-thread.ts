import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { onAbort } from '@gaia-mesh/core/system/process/abort.ts';
import type PQueue from 'p-queue';
import type { DataToolReply } from '../../data-tool.ts';
import { quoteFileName } from '../find-file.ts';
import type { LoadedFile } from '../loaded-file.ts';
import { perform, type Reading } from './reading.ts';

interface ThreadBounds {
  readonly timeoutMs: number;
  readonly heapMb: number;
  /** Memory outside of the heap, such as an unpacked stream of a document, counts as growth of the whole process. */
  readonly growthBytes: number;
}

/**
 * Bounds of one reading. Spreadsheets of 100 000 rows and documents of 1000 pages take a few seconds and a few 100 MB;
 * only hostile files reach the bounds.
 */
const BOUNDS: ThreadBounds = { timeoutMs: 60_000, heapMb: 512, growthBytes: 800 * 1024 * 1024 };
const MEMORY_CHECK_MS = 100;
/** Maximum threads at a time; others wait. Each may take the memory above, and two keep two cores busy. */
const MAX_THREADS = 2;

/**
 * Readings per thread. A library takes longer to load than most files take to read, so a thread is kept; ending it
 * frees everything that the library keeps of each file.
 */
const READINGS_A_THREAD = 100;

const NAME = 'gaia-mesh reading';
const BEGUN = 'begun';
const STOPPED = 'the run has ended';

interface Work {
  readonly file: LoadedFile;
  readonly reading: Reading;
}

interface Thread {
  readonly worker: Worker;
  readonly heapMb: number;
  /** Removes a thread that ended while it was waiting, so that it is not offered again. */
  readonly forget: () => void;
  readings: number;
}

/** Threads that wait for a file; they keep no process alive. */
const idle: Thread[] = [];

/** The result that a thread reports. A bug arrives with its stack and stays a bug. */
type Outcome = { readonly reply: DataToolReply } | { readonly fault: string } | { readonly bug: string };

/** The reason why a thread was stopped from outside. */
type Ending = { readonly stopped: string };

let queue: Promise<PQueue> | undefined;

/**
 * Reads a file in another thread: a library that hangs or uses up memory over hostile bytes is stopped without
 * affecting anything else. `file.bytes` are transferred, and empty afterwards.
 *
 * @throws MeshError `tool` when the file cannot be read, not in time or not within the memory, or when `signal` is
 * aborted
 */
export async function readInThread(
  file: LoadedFile,
  reading: Reading,
  signal: AbortSignal,
  bounds: ThreadBounds = BOUNDS,
): Promise<DataToolReply> {
  queue ??= import('p-queue').then(({ default: Queue }) => new Queue({ concurrency: MAX_THREADS }));
  const outcome = await (await queue).add(() => runReading(file, reading, signal, bounds));
  if ('reply' in outcome) return outcome.reply;
  if ('fault' in outcome) throw new MeshError('tool', outcome.fault);
  if ('stopped' in outcome) {
    throw new MeshError('tool', `${quoteFileName(file.name)} was not read: ${outcome.stopped}`);
  }
  throw new Error(`reading ${file.name} as ${reading.kind}: ${outcome.bug}`);
}

async function runReading(
  file: LoadedFile,
  reading: Reading,
  signal: AbortSignal,
  { timeoutMs, heapMb, growthBytes }: ThreadBounds,
): Promise<Outcome | Ending> {
  if (signal.aborted) return { stopped: STOPPED };
  const thread = takeThread(heapMb);
  const { worker } = thread;
  const { promise, resolve } = Promise.withResolvers<Outcome | Ending>();
  const unwatch = onAbort(signal, () => resolve({ stopped: STOPPED }));
  const timer = setTimeout(
    () => resolve({ stopped: `it took longer than ${timeoutMs / 1000} s` }),
    timeoutMs,
  );
  const before = process.memoryUsage.rss();
  const watch = setInterval(() => {
    const isTooMuch = process.memoryUsage.rss() - before > growthBytes;
    if (isTooMuch) resolve({ stopped: `it took more than ${growthBytes} bytes of memory` });
  }, MEMORY_CHECK_MS);
  let hasBegun = false;
  const onMessage = (message: typeof BEGUN | Outcome) => {
    if (message === BEGUN) hasBegun = true;
    else resolve(message);
  };
  const onError = (error: unknown) => {
    if (readSystemCode(error) === 'ERR_WORKER_OUT_OF_MEMORY') {
      resolve({ stopped: `it took more than ${heapMb} MB of memory` });
    } else if (hasBegun) {
      // The error was thrown outside of every promise here: only libraries do that, over broken files.
      resolve({ stopped: `its reader failed (${toErrorMessage(error)})` });
    } else {
      resolve({ bug: toErrorMessage(error) });
    }
  };
  const onExit = (code: number) => resolve({ stopped: `its reader ended with code ${code}` });
  worker.on('message', onMessage);
  worker.on('error', onError);
  worker.on('exit', onExit);
  const work: Work = { file, reading };
  worker.postMessage(work, [file.bytes.buffer]);
  let outcome: Outcome | Ending = { stopped: STOPPED };
  try {
    outcome = await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    unwatch();
    worker.off('message', onMessage);
    worker.off('error', onError);
    worker.off('exit', onExit);
    await giveBack(thread, 'reply' in outcome);
  }
  return outcome;
}

function takeThread(heapMb: number): Thread {
  const at = idle.findIndex((thread) => thread.heapMb === heapMb);
  const [kept] = at === -1 ? [] : idle.splice(at, 1);
  if (kept !== undefined) {
    kept.worker.off('exit', kept.forget);
    kept.worker.off('error', kept.forget);
    kept.worker.ref();
    return kept;
  }
  const worker = new Worker(new URL('./reading-thread.ts', import.meta.url), {
    name: NAME,
    workerData: NAME,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    // Libraries print about a file, which belongs in no output of this program. Unread output would keep the process
    // alive, so Node's own warnings are silenced, too.
    stdout: true,
    stderr: true,
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  const thread: Thread = {
    worker,
    heapMb,
    readings: 0,
    forget() {
      const place = idle.indexOf(thread);
      if (place !== -1) idle.splice(place, 1);
    },
  };
  return thread;
}

/** Keeps a thread only when its library worked as expected; after anything else its state is unknown. */
async function giveBack(thread: Thread, isWell: boolean): Promise<void> {
  const { worker } = thread;
  thread.readings += 1;
  if (!isWell || thread.readings >= READINGS_A_THREAD || idle.length >= MAX_THREADS) {
    await worker.terminate();
    return;
  }
  worker.on('exit', thread.forget);
  worker.on('error', thread.forget);
  worker.unref();
  idle.push(thread);
}

// This file is both ends: the code below runs in the thread.
if (!isMainThread && workerData === NAME) {
  for (const stream of [process.stdout, process.stderr]) stream.write = () => true;
  parentPort?.on('message', async ({ file, reading }: Work) => {
    parentPort?.postMessage(BEGUN);
    const outcome = await perform(reading, file).then(
      (reply): Outcome => ({ reply }),
      (error: unknown): Outcome =>
        error instanceof MeshError
          ? { fault: error.message }
          : { bug: error instanceof Error ? `${error.stack}` : String(error) },
    );
    parentPort?.postMessage(outcome);
  });
}
