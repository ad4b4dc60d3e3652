import { existsSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import { keyVariables } from '@gaia-mesh/tools/keys.ts';

/**
 * Variables that a `.env` may set: keys, names and models. A downloaded folder may contain a `.env`, which must not decide
 * where keys are sent, which programs load, or the secret by which a run knows its agents.
 */
const KNOWN = [
  ...keyVariables,
  'HF_USERNAME',
  'GAIA_MESH_CONTACT',
  'GEMINI_MODEL',
  'VISION_MODEL',
  'WHISPER_MODEL',
];
const MAX_BYTES = 64 * 1024;

/**
 * Loads keys from `.env` in the user's folder; variables of the environment win (RA-50). Reports on standard error what
 * it loaded.
 */
export function loadKeys(): void {
  const file = resolveUserPath('.env');
  if (!existsSync(file)) return;
  const entries = Object.entries(parseEnv(readUserText(file, { what: 'keys', maxBytes: MAX_BYTES })));
  const fresh = entries.filter(([name]) => process.env[name] === undefined);
  const [read, left] = [true, false].map((isKnown) =>
    fresh.filter(([name]) => KNOWN.includes(name) === isKnown),
  );
  for (const [name, value] of read ?? []) process.env[name] = value;
  const names = (list: typeof fresh = []) => list.map(([name]) => toOneLine(name, 64)).join(', ');
  const said = [
    ...(names(read) === '' ? [] : [`read ${names(read)}`]),
    ...(names(left) === ''
      ? []
      : [`left out ${names(left)} (only keys, names and models are loaded; set others in the environment)`]),
  ];
  if (said.length > 0) printError(`.env: ${said.join('; ')}`);
}
