import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import fc from 'fast-check';

/** A target of fuzzing. Its cases depend on the seed alone, whichever other targets run beside it. */
export interface FuzzTarget {
  readonly name: string;
  /** Runs `runs` cases and ends at the first failure, which is returned shrunk. */
  fuzz(batch: FuzzBatch): Promise<Failure | null>;
}

interface FuzzBatch {
  readonly seed: number;
  readonly runs: number;
}

interface Failure {
  /** The shrunk case as fast-check writes it. */
  readonly counterexample: string;
  /** Description of the defect, with the bytes in hex if there are any. */
  readonly reason: string;
}

/** Time limit for shrinking a failure: a case that hangs takes its whole time bound at every step. */
const MAX_SHRINK_MS = 60_000;

/** Creates a target from an arbitrary and a check that throws; the check is prepared once. */
export function fuzzTarget<Case>(
  name: string,
  cases: fc.Arbitrary<Case>,
  prepare: () => Promise<(value: Case) => void | Promise<void>>,
): FuzzTarget {
  let check: ((value: Case) => void | Promise<void>) | undefined;
  return {
    name,
    async fuzz({ seed, runs }) {
      check ??= await prepare();
      const run = check;
      let shrinkUntilMs = Number.POSITIVE_INFINITY;
      // An interruption by fast-check would end the first cases, too, and call a case that takes long sound.
      const property = fc.asyncProperty(cases, async (value) => {
        if (performance.now() > shrinkUntilMs) return;
        try {
          await run(value);
        } catch (error) {
          shrinkUntilMs = Math.min(shrinkUntilMs, performance.now() + MAX_SHRINK_MS);
          throw error;
        }
      });
      const details = await fc.check(property, { seed, numRuns: runs });
      return toFailure(details);
    },
  };
}

function toFailure<Case>(details: fc.RunDetails<[Case]>): Failure | null {
  if (!details.failed || details.counterexample === null) return null;
  const { errorInstance: error } = details;
  return {
    counterexample: fc.stringify(details.counterexample[0]),
    reason: error instanceof Defect ? error.message : error instanceof Error ? `${error.stack}` : `${error}`,
  };
}

/** Wrong behaviour of a target. */
export class Defect extends Error {
  constructor(what: string, bytes?: Uint8Array) {
    super(bytes === undefined ? what : `${what}\nbytes: ${formatHex(bytes)}`);
    this.name = 'Defect';
  }
}

/** Maximum bytes that are shown to a person; the case has them all. */
const MAX_SHOWN_BYTES = 600;

function formatHex(bytes: Uint8Array): string {
  const shown = Buffer.from(bytes.subarray(0, MAX_SHOWN_BYTES)).toString('hex');
  return bytes.length <= MAX_SHOWN_BYTES ? shown : `${shown}… (${bytes.length} in all)`;
}

/**
 * Maximum CPU time of a call on a frame of a few kB; the largest that a layer unpacks, 64 MiB, takes a tenth
 * of it.
 */
const MAX_CALL_MS = 2_000;

/** Maximum characters of a reason, which goes to logs and terminals. */
const MAX_REASON_LENGTH = 1_200;

/**
 * Returns the result of `run`; undefined if it refused in the allowed way.
 *
 * @throws Defect for any other error, and if it took too long
 */
export function tryCall<T>(what: string, bytes: Uint8Array, run: () => T): T | undefined {
  // CPU time of this thread is measured, because the clock would include other work on the machine.
  const before = process.threadCpuUsage();
  const result = tryDecode(what, bytes, run);
  const { user, system } = process.threadCpuUsage(before);
  const tookMs = (user + system) / 1000;
  if (tookMs > MAX_CALL_MS) throw new Defect(`${what}: took ${Math.round(tookMs)} ms`, bytes);
  return result;
}

/** Maximum CPU time for reading a document of a few kB: libraries are loaded with the first one. */
const MAX_READING_MS = 10_000;
/** Maximum growth of the process by one reading. */
const MAX_GROWTH_BYTES = 512 * 2 ** 20;

/**
 * Has foreign bytes read; only a MeshError may refuse them.
 *
 * @throws Defect for any other error, and if it took too long or too much memory
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
    // The reader was stopped for a limit.
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
