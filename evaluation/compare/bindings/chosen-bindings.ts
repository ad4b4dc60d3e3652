import { MeshError } from '../../../core/contracts/errors.ts';
import { userPath } from '../../../core/system/user-paths.ts';
import type { Binding } from '../../../protocols/bindings/contract/binding.ts';
import { type BindingEntry, bindingNames, entriesNamed } from '../../../protocols/bindings/registry.ts';
import { bindingsIn, fileIn } from '../../teams/user-files.ts';
import type { ChosenBinding } from './arms.ts';

const ALL_BINDINGS = 'all';
/** Of the adapters in our own frames, the one that the others are compared with. */
const OWN = 'mesh/json';

/** Where names are looked up. */
interface Known {
  readonly names: readonly string[];
  /** @throws MeshError `usage` for a name that nothing has */
  entriesNamed(name: string): readonly BindingEntry[];
}

const shipped: Known = { names: [OWN, ...bindingNames()], entriesNamed };

interface Choice {
  /** As `--bindings` takes them: names, files of the user's, or `all`; the baseline first. */
  readonly names: readonly string[];
  readonly implementations: readonly string[];
}

interface Chosen {
  readonly chosen: readonly ChosenBinding[];
  /** Of `all`, those whose packages are not installed; and implementations that a binding does not have. */
  readonly leftOut: readonly string[];
}

/**
 * The bindings that were asked for, in the order of their names, each once.
 *
 * @throws MeshError `usage` for a name that nothing has, `config` for one that was named and whose package is missing
 */
export async function chosenBindings(
  { names, implementations }: Choice,
  known: Known = shipped,
): Promise<Chosen> {
  const chosen = new Map<string, ChosenBinding>();
  const leftOut: string[] = [];
  for (const name of names) {
    const isAll = name === ALL_BINDINGS;
    const file = fileIn(name) === undefined ? undefined : userPath(name);
    const found =
      file === undefined
        ? (isAll ? known.names : [name]).flatMap((one) => known.entriesNamed(one))
        : bindingsIn(file).map(entryOf);
    const own = found.filter(({ implementation }) => implementations.includes(implementation));
    if (own.length === 0) leftOut.push(`${name}: it has no implementation ${implementations.join(' or ')}`);
    for (const entry of own) {
      const id = `${entry.name} ${entry.implementation}`;
      if (chosen.has(id)) continue;
      try {
        const binding = await entry.load();
        chosen.set(id, { binding, ...(file === undefined ? {} : { file }) });
      } catch (error) {
        if (!isAll || !(error instanceof MeshError)) throw error;
        leftOut.push(`${id}: ${error.message}`);
      }
    }
  }
  return { chosen: [...chosen.values()], leftOut };
}

function entryOf(binding: Binding): BindingEntry {
  return { ...binding, load: async () => binding };
}
