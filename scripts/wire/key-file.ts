import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { fileFaultOf, MeshError, messageOf } from '../../core/contracts/errors.ts';
import { nodeIdSchema } from '../../core/contracts/node-id.ts';
import { issuesOf } from '../../core/contracts/packet.ts';
import { userPath } from '../../core/system/user-paths.ts';
import { jsonText } from '../../evaluation/terminal/print.ts';

/**
 * What ends that are not connected must know of each other: the run's secret, from which all keys are derived, and who is a
 * member of it. Secret: the file is for its owner alone.
 */
const schema = z.strictObject({
  schema_version: z.literal(1),
  run_id: z.string().min(1).max(128),
  secret: z.string().regex(/^[0-9a-f]{64}$/, 'must be 32 bytes in hex'),
  members: z.array(nodeIdSchema).max(10_000).readonly(),
});

export type Keys = Readonly<z.infer<typeof schema>>;

export function freshKeys(): Keys {
  return {
    schema_version: 1,
    run_id: `wire-${randomBytes(6).toString('hex')}`,
    secret: randomBytes(32).toString('hex'),
    members: [],
  };
}

/** @throws MeshError `config` for a file that is not there or holds no keys */
export function readKeys(option: string, name: string): Keys {
  const file = userPath(name);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const fault = error instanceof SyntaxError ? `not JSON: ${messageOf(error)}` : fileFaultOf(error);
    throw new MeshError('config', `${option} ${file}: ${fault}`, { cause: error });
  }
  const result = schema.safeParse(value);
  if (!result.success) throw new MeshError('config', `${option} ${file}: ${issuesOf(result.error)}`);
  return result.data;
}

/** The keys of a session file with `members` in it: made when there is none, written again when somebody is new. */
export function extendKeys(name: string, members: readonly string[]): Keys {
  const file = userPath(name);
  const known = existsSync(file) ? readKeys('--session', name) : freshKeys();
  const all = [...new Set([...known.members, ...members])];
  if (all.length === known.members.length) return known;
  const keys: Keys = { ...known, members: all };
  const part = `${file}.${process.pid}.part`;
  try {
    writeFileSync(part, jsonText(keys), { mode: 0o600, flag: 'wx' });
    renameSync(part, file);
  } catch (error) {
    throw new MeshError('io', `--session ${file}: ${fileFaultOf(error)}`, { cause: error });
  }
  return keys;
}
