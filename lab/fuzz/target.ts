import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import fc from 'fast-check';

/** Something that is fuzzed. Its cases follow from the seed alone, whichever other targets run beside it. */
export interface FuzzTarget {
  readonly name: string;
  /** Takes `runs` cases. Ends at the first failure, shrunken. */
  fuzz(batch: FuzzBatch): Promise<BatchResult>;
}

interface FuzzBatch {
  readonly seed: number;
  readonly runs: number;
  /** Where in the cases of `seed` to begin: the path that a failure printed. */
  readonly path?: string;
}

interface BatchResult {
  readonly runs: number;
  readonly failure: Failure | null;
}

export interface Failure {
  readonly seed: number;
  readonly path: string;
  /** The shrunken case as fast-check writes it. */
  readonly counterexample: string;
  /** What was wrong, with the bytes in hex where there are some. */
  readonly reason: string;
}

/** A failure is shrunken for no longer than this: a case that hangs takes its whole time bound at every step. */
const MAX_SHRINK_MS = 60_000;

/** A target out of an arbitrary and a check that throws; `check` is prepared once. */
export function fuzzTarget<Case>(
  name: string,
  cases: fc.Arbitrary<Case>,
  prepare: () => Promise<(value: Case) => void | Promise<void>>,
): FuzzTarget {
  let check: ((value: Case) => void | Promise<void>) | undefined;
  return {
    name,
    async fuzz({ seed, runs, path }) {
      check ??= await prepare();
      const run = check;
      const details = await fc.check(
        fc.asyncProperty(cases, async (value) => run(value)),
        {
          seed,
          numRuns: runs,
          interruptAfterTimeLimit: MAX_SHRINK_MS,
          ...(path === undefined ? {} : { path }),
        },
      );
      return { runs: details.numRuns, failure: toFailure(details) };
    },
  };
}

function toFailure<Case>(details: fc.RunDetails<[Case]>): Failure | null {
  if (!details.failed || details.counterexample === null) return null;
  const { errorInstance: error } = details;
  return {
    seed: details.seed,
    path: details.counterexamplePath ?? '',
    counterexample: fc.stringify(details.counterexample[0]),
    reason: error instanceof Defect ? error.message : error instanceof Error ? `${error.stack}` : `${error}`,
  };
}

/** What a target did wrong. */
export class Defect extends Error {
  constructor(what: string, bytes?: Uint8Array) {
    super(bytes === undefined ? what : `${what}\nbytes: ${formatHex(bytes)}`);
    this.name = 'Defect';
  }
}

/** More than a person reads; the case has them all. */
const MAX_SHOWN_BYTES = 600;

function formatHex(bytes: Uint8Array): string {
  const shown = Buffer.from(bytes.subarray(0, MAX_SHOWN_BYTES)).toString('hex');
  return bytes.length <= MAX_SHOWN_BYTES ? shown : `${shown}… (${bytes.length} in all)`;
}

/** No call on a frame of a few kB may compute for longer; the largest that a layer unpacks, 64 MiB, takes a tenth of it. */
const MAX_CALL_MS = 2_000;

/** Reasons go to logs and terminals. */
const MAX_REASON_LENGTH = 1_200;

/**
 * The result of `run`; undefined where it refused in the one way that is allowed.
 *
 * @throws Defect for any other error, and where it took too long
 */
export function tryCall<T>(what: string, bytes: Uint8Array, run: () => T): T | undefined {
  // Time of this thread and not of the clock: other work on the machine says nothing.
  const before = process.threadCpuUsage();
  const result = tryDecode(what, bytes, run);
  const { user, system } = process.threadCpuUsage(before);
  const tookMs = (user + system) / 1000;
  if (tookMs > MAX_CALL_MS) throw new Defect(`${what}: took ${Math.round(tookMs)} ms`, bytes);
  return result;
}

/** A document of a few kB may be read for so long: libraries are loaded with the first one. */
const MAX_READING_MS = 10_000;
/** What a reading may leave the process larger by. */
const MAX_GROWTH_BYTES = 512 * 2 ** 20;

/**
 * Has foreign bytes read. A MeshError is the one way to refuse them.
 *
 * @throws Defect for any other error, and where it took too long or too much memory
 */
export async function tryReading(what: string, bytes: Uint8Array, read: () => unknown): Promise<void> {
  const before = process.cpuUsage();
  const rss = process.memoryUsage.rss();
  try {
    await read();
  } catch (error) {
    if (!(error instanceof MeshError)) {
      const thrown = error instanceof Error ? error.stack : String(error);
      throw new Defect(`${what}: threw no MeshError, but ${thrown}`, bytes);
    }
    // What a reader was stopped for.
    if (/ took (longer|more) than /.test(error.message)) throw new Defect(`${what}: ${error.message}`, bytes);
    if (error.message.length > 4 * MAX_REASON_LENGTH)
      throw new Defect(`${what}: refused with ${error.message.length} letters`, bytes);
  }
  const { user, system } = process.cpuUsage(before);
  const tookMs = (user + system) / 1000;
  if (tookMs > MAX_READING_MS) throw new Defect(`${what}: took ${Math.round(tookMs)} ms`, bytes);
  const growth = process.memoryUsage.rss() - rss;
  if (growth > MAX_GROWTH_BYTES) throw new Defect(`${what}: took ${growth} bytes of memory`, bytes);
}

function tryDecode<T>(what: string, bytes: Uint8Array, run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof MeshError && error.code === 'packet') {
      if (error.message.length <= MAX_REASON_LENGTH) return undefined;
      throw new Defect(`${what}: refused with ${error.message.length} letters`, bytes);
    }
    const thrown = error instanceof Error ? error.stack : String(error);
    throw new Defect(`${what}: threw no MeshError with code packet, but ${thrown}`, bytes);
  }
}
