import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import fc from 'fast-check';
import { test } from 'vitest';

/** Cases of a test; `npm run fuzz` draws more. */
export const RUNS = Number(process.env.FUZZ_RUNS ?? 10);
/** The seed differs every time, so that what one run misses the next may find. A failure prints it. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const MS_PER_CASE = 2_000;
/** Time limit for shrinking a failure: a case that hangs takes its whole time bound at every step. */
const MAX_SHRINK_MS = 60_000;

/** Defines a test that draws cases and checks each; `prepare` makes the check, which throws at a defect. */
export function fuzz<Case>(
  name: string,
  cases: fc.Arbitrary<Case>,
  prepare: () => Promise<(value: Case) => void | Promise<void>>,
  runs = RUNS,
): void {
  const title = `${name} stands hostile cases`;
  test(title, { timeout: 150_000 + runs * MS_PER_CASE }, async () => {
    const check = await prepare();
    let shrinkUntilMs = Number.POSITIVE_INFINITY;
    // An interruption by fast-check would end the first cases, too, and call a case that takes long sound.
    const property = fc.asyncProperty(cases, async (value) => {
      if (performance.now() > shrinkUntilMs) return;
      try {
        await check(value);
      } catch (error) {
        shrinkUntilMs = Math.min(shrinkUntilMs, performance.now() + MAX_SHRINK_MS);
        throw error;
      }
    });
    await fc.assert(property, { seed: SEED, numRuns: runs });
  });
}

/** Wrong behaviour of the code under test. */
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
