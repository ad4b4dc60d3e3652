import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/** Named values that must not change when a batch is resumed: tasks, team, adapter, engine, model, prompts, … */
export type Fingerprint = Readonly<Record<string, string>>;

/** Maximum characters of a value in a message. */
const MAX_SHOWN_CHARACTERS = 60;

/**
 * Checks that a resumed batch has the fingerprint it was begun with.
 *
 * @param file the head of that batch, for the message
 * @throws MeshError `usage`, naming the differences
 */
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
    `--resume: ${file} was started with other settings (${list}): repeat them, or start over without --resume`,
  );
}
