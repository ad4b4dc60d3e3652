import type { ProtocolAdapter } from '../core/adapter.ts';
import { MeshError } from '../core/errors.ts';

/** Every adapter, one line each. Imported when asked for: a process loads only what it speaks. */
const adapters: Readonly<Record<string, () => Promise<ProtocolAdapter>>> = {
  json: () => import('./json.ts').then((module) => module.json),
  msgpack: () => import('./msgpack.ts').then((module) => module.msgpack),
};

export const adapterNames: readonly string[] = Object.keys(adapters);

/** @throws MeshError `usage` for a name that is not registered; the message lists those that are */
export async function adapterNamed(name: string): Promise<ProtocolAdapter> {
  const load = Object.hasOwn(adapters, name) ? adapters[name] : undefined;
  if (load !== undefined) return load();
  const wanted = name.toLowerCase();
  const near = adapterNames.find(
    (known) => wanted !== '' && (known.includes(wanted) || wanted.includes(known)),
  );
  const hint = near === undefined ? '' : ` (did you mean ${near}?)`;
  throw new MeshError('usage', `unknown adapter "${name}"; known: ${adapterNames.join(', ')}${hint}`);
}
