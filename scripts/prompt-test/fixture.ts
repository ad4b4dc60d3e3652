import { readFileSync, statSync } from 'node:fs';
import { explainFileFault, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';

/** A pattern is checked where it is read, so that a mistake in it has its line. */
const pattern = z.string().refine(isPattern, 'is no regular expression');

const expectationSchema = z.union([
  z.strictObject({ contains: z.string().min(1) }),
  z.strictObject({ excludes: z.string().min(1) }),
  z.strictObject({ matches: pattern }),
  /** A value inside a JSON reply, by its path: `steps.0.tool`. */
  z.strictObject({ field: z.string().min(1), equals: z.json() }),
]);

/** What a reply to a prompt must be like; letters' case makes no difference to texts. */
export type Expectation = z.infer<typeof expectationSchema>;

const fixtureSchema = z.strictObject({
  name: z.string().min(1).max(200),
  /** Texts of the prompt's variables; `answer_format` and `report_format` are the roles' own unless they are here. */
  variables: z.record(z.string(), z.string()),
  expect: z.array(expectationSchema).min(1),
});

/** One case that a prompt is tried on: what it is filled with, and what is expected of the reply. */
export type Fixture = z.infer<typeof fixtureSchema>;

/** A fixture is a question and a page or two; a file of more than this is no file of fixtures. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Each is asked twice; more than this is a benchmark, for which there is `gaia`. */
const MAX_FIXTURES = 1000;

/**
 * Fixtures from a file, a JSON line each.
 *
 * @throws MeshError `config` with file and line
 */
export function readFixtures(file: string): Fixture[] {
  let text: string;
  try {
    if (statSync(file).size > MAX_FILE_BYTES) {
      throw new MeshError('config', `${file}: larger than ${MAX_FILE_BYTES} bytes`);
    }
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof MeshError) throw error;
    throw new MeshError('config', `fixtures ${file}: ${explainFileFault(error)}`, { cause: error });
  }
  const fixtures = text.split('\n').flatMap((line, index) => {
    return line.trim() === '' ? [] : [parseJsonLine(line, fixtureSchema, `${file}:${index + 1}`)];
  });
  if (fixtures.length === 0) throw new MeshError('config', `${file}: there is no fixture in it`);
  if (fixtures.length > MAX_FIXTURES) {
    throw new MeshError('config', `${file}: ${fixtures.length} fixtures, more than ${MAX_FIXTURES}`);
  }
  return fixtures;
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'i');
    return true;
  } catch {
    // It throws for nothing else.
    return false;
  }
}
