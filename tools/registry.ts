import { MeshError } from '../core/errors.ts';
import type { Tool } from '../core/tool.ts';

// One line a tool. Imported when asked for: an agent loads the one tool it has, weights and all.
const loaders: Readonly<Record<string, () => Promise<Tool>>> = {
  search: async () => (await import('./search.ts')).search,
  extract: async () => (await import('./extract.ts')).extract,
  triple: async () => (await import('./triple.ts')).triple,
  reason: async () => (await import('./reason.ts')).reason,
};

export const toolNames: readonly string[] = Object.keys(loaders);

/** @throws MeshError `usage` for a name that is not in {@link toolNames} */
export async function toolNamed(name: string): Promise<Tool> {
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  if (load === undefined) {
    throw new MeshError('usage', `no tool named ${JSON.stringify(name)}; there are: ${toolNames.join(', ')}`);
  }
  return load();
}
