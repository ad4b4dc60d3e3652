import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/** What must be the same for a batch to be gone on with, by name: tasks, team, adapter, engine, model, prompts, … */
export type Fingerprint = Readonly<Record<string, string>>;

/** Of a value, as much as a message needs. */
const MAX_SHOWN_CHARACTERS = 60;

/** @throws MeshError `usage` that names what differs; `file` is what was begun */
export function checkSetup(file: string, then: Fingerprint, now: Fingerprint): void {
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])].sort();
  const changed = names.filter((name) => then[name] !== now[name]);
  if (changed.length === 0) return;
  const shown = (value: string | undefined) =>
    value === undefined ? 'none' : value.slice(0, MAX_SHOWN_CHARACTERS);
  const list = changed
    .map((name) => `${name}: ${shown(then[name])} then, ${shown(now[name])} now`)
    .join('; ');
  throw new MeshError(
    'usage',
    `--resume: ${file} was begun with another set-up (${list}): ask for the same again, or begin anew without --resume`,
  );
}
