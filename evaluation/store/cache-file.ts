import path from 'node:path';
import { MeshError, readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import { STORE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { makeFolder } from '@gaia-mesh/core/system/files/make-folder.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import { setAside } from './sql/set-aside.ts';
import type { StoreOptions } from './store.ts';

/** Maximum characters of the file's own text in a message. */
const SHOWN_CHARACTERS = 40;

/**
 * Reads answers by question from a plain `{question: answer}` file (RA-07), an export and import of the store's cache. A missing
 * file has none. A `.json` file that cannot be parsed is a torn or damaged cache: it is renamed to `<file>.corrupt-<n>`, the user
 * is warned, and the result is empty (RA-09). Any other file belongs to something else and stays where it is.
 *
 * @throws MeshError `store` if the file exists but cannot be read or is too large, `config` if it is something else
 */
export function readCacheFile(file: string, warn: StoreOptions['warn']): Map<string, string> {
  let text: string;
  try {
    text = readUserText(file, { what: 'answer cache', maxBytes: STORE_LIMITS.cacheFileBytes, code: 'store' });
  } catch (error) {
    if (error instanceof MeshError && readSystemCode(error.cause) === 'ENOENT') return new Map();
    throw error;
  }
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch {
    if (path.extname(file) !== '.json') throw refuse(file, 'text that is not JSON');
    const aside = setAside(file);
    warn(
      `${file} is not an answer cache (a JSON object of texts): it was set aside as ${aside}, and the cache starts empty`,
    );
    return new Map();
  }
  return readAnswers(file, value);
}

/** Reads the answers without a schema, because a question may be any text, even `__proto__`. */
function readAnswers(file: string, value: unknown): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse(file, Array.isArray(value) ? 'a list' : JSON.stringify(value).slice(0, SHOWN_CHARACTERS));
  const answers = new Map<string, string>();
  for (const [question, answer] of Object.entries(value)) {
    if (typeof answer !== 'string')
      throw refuse(
        file,
        `a key ${JSON.stringify(question.slice(0, SHOWN_CHARACTERS))} whose value is no text`,
      );
    answers.set(question, answer);
  }
  return answers;
}

function refuse(file: string, found: string): MeshError {
  return new MeshError(
    'config',
    `${file} is not an answer cache: expected a JSON object {question: answer} of texts, found ${found}; the file was not changed`,
  );
}

/**
 * Writes the answers. If two processes write them, the last one wins; only the store itself supports several writers.
 *
 * @throws MeshError `io`
 */
export function writeCacheFile(file: string, answers: ReadonlyMap<string, string>): void {
  makeFolder(path.dirname(file));
  writeWhole(file, `${JSON.stringify(Object.fromEntries(answers), null, 2)}\n`);
}
