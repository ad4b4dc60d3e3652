import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import type { Stack } from '@gaia-mesh/stacks/contract/stack.ts';
import { findStackEntries, listStackNames, type StackEntry } from '@gaia-mesh/stacks/registry.ts';
import { parseFileName, readStacks } from '../../teams/user-files.ts';
import type { ChosenStack } from './arms.ts';

const ALL_STACKS = 'all';
/** The adapter in our own frames that the others are compared with. */
const OWN = 'mesh/json';

/** The stacks that names refer to. */
interface StackCatalog {
  readonly names: readonly string[];
  /** @throws MeshError `usage` if no stack has this name */
  findStackEntries(name: string): readonly StackEntry[];
}

const shipped: StackCatalog = { names: [OWN, ...listStackNames()], findStackEntries };

interface Choice {
  /** Names as `--stacks` takes them: stacks, the user's files, or `all`; the baseline is first. */
  readonly names: readonly string[];
  readonly implementations: readonly string[];
}

interface Chosen {
  readonly chosen: readonly ChosenStack[];
  /** Stacks of `all` whose packages are not installed, and implementations that a stack lacks. */
  readonly leftOut: readonly string[];
}

/**
 * Resolves the requested stacks in the order of their names, each once.
 *
 * @throws MeshError `usage` for an unknown name, `config` if packages of named stacks are missing
 */
export async function chooseStacks(
  { names, implementations }: Choice,
  known: StackCatalog = shipped,
): Promise<Chosen> {
  const chosen = new Map<string, ChosenStack>();
  const leftOut: string[] = [];
  const lacking: { readonly id: string; readonly packages: readonly string[]; readonly error: MeshError }[] =
    [];
  for (const name of names) {
    const isAll = name === ALL_STACKS;
    const file = parseFileName(name) === undefined ? undefined : resolveUserPath(name);
    const found =
      file === undefined
        ? (isAll ? known.names : [name]).flatMap((one) => known.findStackEntries(one))
        : readStacks(file).map(toStackEntry);
    const own = found.filter(({ implementation }) => implementations.includes(implementation));
    if (own.length === 0) leftOut.push(`${name}: it has no implementation ${implementations.join(' or ')}`);
    for (const entry of own) {
      const id = `${entry.name} ${entry.implementation}`;
      if (chosen.has(id)) continue;
      try {
        const stack = await entry.load();
        chosen.set(id, { stack, file });
      } catch (error) {
        if (!(error instanceof MeshError)) throw error;
        if (isAll) leftOut.push(`${id}: ${error.message}`);
        else if (entry.packages === undefined) throw error;
        else lacking.push({ id, packages: entry.packages, error });
      }
    }
  }
  const [first, ...others] = lacking;
  // One line installs all that is missing, before anything is measured.
  if (first !== undefined && others.length === 0) throw first.error;
  if (first !== undefined) {
    const packages = [...new Set(lacking.flatMap((one) => one.packages))];
    throw new MeshError(
      'config',
      `--stacks ${lacking.map(({ id }) => id).join(', ')} need packages that are not installed: npm install ${packages.join(' ')}`,
      { cause: first.error },
    );
  }
  return { chosen: [...chosen.values()].flatMap((one, _, all) => [one, ...mixLanguages(one, all)]), leftOut };
}

/** Returns a stack's clients of the servers in other languages, one of the two ends being the SDK's for JavaScript. */
function mixLanguages({ stack, file }: ChosenStack, all: readonly ChosenStack[]): readonly ChosenStack[] {
  if (file !== undefined || stack.implementation === 'bare') return [];
  const others = all.filter(
    (other) =>
      other.file === undefined &&
      other.stack.name === stack.name &&
      other.stack.implementation !== stack.implementation &&
      other.stack.implementation !== 'bare' &&
      [stack, other.stack].some(({ implementation }) => implementation === 'sdk'),
  );
  return others.map((other) => ({ stack, server: other.stack }));
}

function toStackEntry(stack: Stack): StackEntry {
  return { ...stack, load: async () => stack };
}
