import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { XMLParser } from 'fast-xml-parser';
import * as z from 'zod';

/** A2A's own test kit, which is not part of the repository but may be in a folder beside it. */
const run = fileURLToPath(new URL('../../../../shared/suites/a2a-tck/run', import.meta.url));

/** Result of each test of the kit, without tests that do not apply to a server's transport. */
export type KitResults = ReadonlyMap<string, 'passed' | 'failed' | 'skipped'>;

const TIMEOUT_MS = 280_000;

const arrayOf = <T extends z.ZodType>(item: T) =>
  z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(item));
const caseSchema = z.looseObject({
  classname: z.string(),
  name: z.string(),
  failure: z.unknown().optional(),
  error: z.unknown().optional(),
  skipped: z.looseObject({ type: z.string() }).optional(),
});
const junitSchema = z.object({
  testsuites: z.object({ testsuite: arrayOf(z.object({ testcase: arrayOf(caseSchema) })) }),
});

/**
 * Returns true if the kit can be run; otherwise prints a note.
 *
 * @throws Error with CI=true, where the kit is there and its packages of Python are missing and cannot be
 * installed
 */
export async function isKitThere(): Promise<boolean> {
  const isThere = existsSync(run) && (await isReady());
  if (!isThere)
    console.warn('skipped: the test kit of A2A, which needs ../shared/suites/a2a-tck beside the repository');
  return isThere;
}

async function isReady(): Promise<boolean> {
  try {
    await kit(['http://127.0.0.1', '--version'], os.tmpdir(), [0]);
    return true;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    console.warn(String(error));
    return false;
  }
}

/**
 * Runs the kit against a server, each transport by itself and all at once, as it mostly waits.
 *
 * @param transports those of its card, as the kit names them
 */
export async function kitResults(
  url: string,
  transports: readonly ('jsonrpc' | 'http_json' | 'grpc')[],
): Promise<KitResults> {
  const all = await Promise.all(transports.map((transport) => resultsOver(url, transport)));
  const merged = new Map<string, 'passed' | 'failed' | 'skipped'>();
  for (const results of all) {
    for (const [name, result] of results) {
      const before = merged.get(name);
      // Runs of the other transports skip the tests for one transport.
      if (before === undefined || before === 'skipped' || result === 'failed') merged.set(name, result);
    }
  }
  return merged;
}

async function resultsOver(url: string, transport: string): Promise<KitResults> {
  const out = await mkdtemp(path.join(os.tmpdir(), 'gaia-mesh-kit-'));
  try {
    await kit([url, '--transport', transport], out, [0, 1]);
    const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' });
    const { testsuites } = junitSchema.parse(
      parser.parse(await readFile(path.join(out, 'junit.xml'), 'utf8')),
    );
    const cases = testsuites.testsuite.flatMap(({ testcase }) => testcase);
    return new Map(
      cases.map(({ classname, name, failure, error, skipped }) => {
        // An unmet SHOULD is an expected failure for the kit, and a failure here.
        const isFailed = failure !== undefined || error !== undefined || skipped?.type === 'pytest.xfail';
        const own = `${classname.replace(/^tests\.compatibility\./, '')} ${name}`;
        return [own, isFailed ? 'failed' : skipped === undefined ? 'passed' : 'skipped'];
      }),
    );
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

async function kit(args: readonly string[], out: string, exitCodes: readonly number[]): Promise<void> {
  const child = spawn(run, args, { env: { ...process.env, OUT: out }, timeout: TIMEOUT_MS });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, 'close');
  if (!exitCodes.includes(Number(code ?? -1)))
    throw new Error(`the kit ended with exit code ${code}: ${(await output).join('\n').slice(-2000)}`);
}
