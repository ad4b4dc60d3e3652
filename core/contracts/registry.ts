import { MeshError } from './errors.ts';

/** Parts of one kind (adapters, tools, engines) by name. To add one, add a line to its registry's file. */
interface Registry<Loaded> {
  readonly names: readonly string[];
  /** @throws MeshError `usage` for a name that is not registered; the message lists those that are */
  load(name: string): Promise<Loaded>;
  /** Adds a part that a user brings. */
  add(name: string, part: Loaded): void;
}

/**
 * Creates a registry of parts.
 *
 * @param kind what the parts are, for messages
 * @param shipped imports of the parts, made on demand since a process loads only what it uses
 */
export function createRegistry<Loaded>(
  kind: string,
  shipped: Readonly<Record<string, () => Promise<Loaded>>>,
): Registry<Loaded> {
  const loaders = { ...shipped };
  const names = Object.keys(loaders);
  return {
    names,
    load(name) {
      const loader = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
      return loader === undefined ? Promise.reject(createUnknownError(kind, name, names)) : loader();
    },
    add(name, part) {
      if (!names.includes(name)) names.push(name);
      loaders[name] = () => Promise.resolve(part);
    },
  };
}

/**
 * Returns the error for an unknown name; it lists the known names and suggests the one that was probably
 * meant.
 */
export function createUnknownError(kind: string, name: string, known: readonly string[]): MeshError {
  const wanted = name.toLowerCase();
  const near = known.find((other) => wanted !== '' && (other.includes(wanted) || wanted.includes(other)));
  const hint = near === undefined ? '' : ` (did you mean ${near}?)`;
  return new MeshError('usage', `unknown ${kind} "${name}"; known: ${known.join(', ')}${hint}`);
}
