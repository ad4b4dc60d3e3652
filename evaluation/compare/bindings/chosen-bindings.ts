import { existsSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '../../../core/contracts/errors.ts';
import { codeFolder, packageStores } from '../../../core/system/package-root.ts';
import { userPath } from '../../../core/system/user-paths.ts';
import type { Binding } from '../../../protocols/bindings/contract/binding.ts';
import { bindingsIn, fileIn } from '../../teams/user-files.ts';
import type { ChosenBinding } from './arms.ts';

const ALL_BINDINGS = 'all';

export interface Choice {
  /** As `--bindings` takes them: names, files of the user's, or `all`; the baseline first. */
  readonly names: readonly string[];
  readonly implementations: readonly string[];
}

/**
 * The bindings that were asked for. Of `all` those are left out, by name, whose packages are not installed; one that was named is asked
 * to be installed.
 *
 * @throws MeshError `usage` for a name that nothing has, or a package that is missing
 */
export function chosenBindings(
  { names, implementations }: Choice,
  known: readonly Binding[],
): { readonly chosen: readonly ChosenBinding[]; readonly leftOut: readonly string[] } {
  const leftOut: string[] = [];
  const chosen: ChosenBinding[] = [];
  for (const name of names) {
    const isAll = name === ALL_BINDINGS;
    const file = fileIn(name) === undefined ? undefined : userPath(name);
    const named =
      file === undefined ? known.filter((binding) => isAll || binding.name === name) : bindingsIn(file);
    if (named.length === 0) throw new MeshError('usage', unknownText(name, known));
    const own = named.filter(({ implementation }) => implementations.includes(implementation));
    if (own.length === 0) leftOut.push(`${name}: it has no implementation ${implementations.join(' or ')}`);
    for (const binding of own) {
      const missing = binding.packages.filter((one) => !isInstalled(one));
      const is = `${binding.name} ${binding.implementation}`;
      if (missing.length > 0 && !isAll) {
        throw new MeshError(
          'usage',
          `--bindings ${is} needs ${missing.join(' and ')}: npm install ${missing.join(' ')}`,
        );
      }
      if (missing.length > 0) leftOut.push(`${is}: ${missing.join(' and ')} is not installed`);
      else if (!chosen.some(({ binding: other }) => other === binding)) {
        chosen.push({ binding, ...(file === undefined ? {} : { file }) });
      }
    }
  }
  return { chosen, leftOut };
}

function unknownText(name: string, known: readonly Binding[]): string {
  const names = [...new Set(known.map((binding) => binding.name))];
  return `--bindings: there is no binding "${name}"; there are ${names.join(', ')}, and ${ALL_BINDINGS}`;
}

function isInstalled(name: string): boolean {
  return packageStores(codeFolder).some((store) => existsSync(path.join(store, name, 'package.json')));
}
