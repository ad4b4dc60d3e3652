import { MeshError } from '../../../../core/contracts/errors.ts';
import type { Binding } from '../../../../protocols/bindings/contract/binding.ts';
import { bindingNamed } from '../../../../protocols/bindings/registry.ts';
import type { BindingRef } from './protocol.ts';

/** @throws MeshError `usage` for a name that nothing has, `config` for a file that exports no such binding or a missing package */
export async function bindingOf({ name, implementation, file }: BindingRef): Promise<Binding> {
  if (file === undefined) return bindingNamed(name, implementation);
  const found = (await bindingsOf(file)).find(
    (binding) => binding.name === name && binding.implementation === implementation,
  );
  if (found === undefined)
    throw new MeshError('config', `${file} exports no binding ${name} (${implementation})`);
  return found;
}

/** What loads users' files knows all adapters and tools: the process of a binding that ships has none of that in its memory. */
async function bindingsOf(file: string): Promise<readonly Binding[]> {
  const { bindingsIn } = await import('../../../teams/user-files.ts');
  return bindingsIn(file);
}
