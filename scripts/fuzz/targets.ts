import { MeshError } from '../../core/errors.ts';
import { layerNames } from '../../protocols/layers/registry.ts';
import { adapterNames } from '../../protocols/registry.ts';
import { adapterTarget } from './adapters.ts';
import { framing } from './framing.ts';
import { handshake } from './handshake.ts';
import { hub } from './hub.ts';
import { layerTarget } from './layers.ts';
import type { FuzzTarget } from './target.ts';

/** A stack of each kind: compressed, signed, encrypted, and all at once. */
const STACKS = [
  'json+zstd',
  'cbor+deflate-dict+crc32c',
  'json+ed25519',
  'toon+brotli+aes-256-gcm',
  'msgpack+zstd-dict+ed25519+chacha20-poly1305+crc32c',
];

export const fuzzTargets: readonly FuzzTarget[] = [
  framing,
  ...adapterNames.map((name) => adapterTarget(`adapter:${name}`, name)),
  ...layerNames.map(layerTarget),
  ...STACKS.map((spec) => adapterTarget(`stack:${spec}`, spec)),
  handshake,
  hub,
];

/**
 * The targets that `names` choose, each by its whole name or by the part before the colon; all without names.
 *
 * @throws MeshError `usage` for a name that chooses none
 */
export function targetsNamed(names: readonly string[]): readonly FuzzTarget[] {
  const chosen = new Set<FuzzTarget>();
  for (const name of names) {
    const found = fuzzTargets.filter((target) => target.name === name || target.name.startsWith(`${name}:`));
    if (found.length === 0) {
      const known = fuzzTargets.map((target) => target.name).join(', ');
      throw new MeshError('usage', `--target: unknown target "${name}"; known: ${known}`);
    }
    for (const target of found) chosen.add(target);
  }
  return names.length === 0 ? fuzzTargets : [...chosen];
}
