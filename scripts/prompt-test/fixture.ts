import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';

/** A regular expression, checked when it is read, so that a mistake is reported with its line. */
const pattern = z.string().refine(isPattern, 'is no regular expression');

const expectationSchema = z.union([
  z.strictObject({ contains: z.string().min(1) }),
  z.strictObject({ excludes: z.string().min(1) }),
  z.strictObject({ matches: pattern }),
  /** A value inside a JSON reply, by its path: `steps.0.tool`. */
  z.strictObject({ field: z.string().min(1), equals: z.json() }),
]);

/** An expectation of a reply; comparisons of texts ignore case. */
export type Expectation = z.infer<typeof expectationSchema>;

const fixtureSchema = z.strictObject({
  name: z.string().min(1).max(200),
  /** Texts of the prompt's variables; `answer_format` and `report_format` default to those of the roles. */
  variables: z.record(z.string(), z.string()),
  expect: z.array(expectationSchema).min(1),
});

/** One case for a prompt: the values of its variables, and what is expected of the reply. */
export type Fixture = z.infer<typeof fixtureSchema>;

/** Maximum size of a file of fixtures; a fixture is a question and a page or two. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Maximum number of fixtures, each of which is asked twice; `gaia` is for larger benchmarks. */
const MAX_FIXTURES = 1000;

/**
 * Reads fixtures from a file, one JSON line each.
 *
 * @throws MeshError `config` with file and line
 */
export function readFixtures(file: string): Fixture[] {
  const text = readUserText(file, { what: 'fixtures', maxBytes: MAX_FILE_BYTES });
  const fixtures = text.split('\n').flatMap((line, index) => {
    return line.trim() === '' ? [] : [parseJsonLine(line, fixtureSchema, `${file}:${index + 1}`)];
  });
  if (fixtures.length === 0) throw new MeshError('config', `${file}: it has no fixtures`);
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
    // RegExp throws only for an invalid pattern.
    return false;
  }
}
