import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { userPath } from '../config/user-paths.ts';
import type { ProtocolAdapter } from '../core/adapter.ts';
import { MeshError, messageOf } from '../core/errors.ts';
import { contractChecks } from '../protocols/contract.ts';
import { adapterNamed, adapterNames } from '../protocols/registry.ts';

/** `./mine.ts`, or `./mine.ts+zstd`: a file of the user's, and layers around what it exports. */
const FILE_SPEC = /^(?<file>.+\.[cm]?[jt]s)(?<layers>\+.*)?$/;

/** Adapters to run packets through, and what an agent must be told so that it knows them, too. */
export interface ChosenAdapters {
  readonly adapters: readonly ProtocolAdapter[];
  readonly agentArguments: readonly string[];
  /** Folders that agents must be able to read. */
  readonly readable: readonly string[];
}

/**
 * The adapters that `specs` name: of the registry, or files of the user's, which must pass the contract suite.
 *
 * @throws MeshError `usage` for names that nothing has, `config` for a file that holds no adapter or one that does not conform
 */
export async function chosenAdapters(specs: readonly string[]): Promise<ChosenAdapters> {
  const adapters: ProtocolAdapter[] = [];
  const files = new Set<string>();
  for (const spec of specs) {
    const { file, layers = '' } = FILE_SPEC.exec(spec)?.groups ?? {};
    if (file === undefined) {
      adapters.push(await adapterNamed(spec));
      continue;
    }
    const own = await loadAdapterFile(file);
    assertConforms(own, file);
    adapters.push(await adapterNamed(own.name + layers, [own]));
    files.add(userPath(file));
  }
  return {
    adapters,
    agentArguments: [...files].map((file) => `--adapter-file=${file}`),
    readable: [...files].map((file) => path.dirname(file) + path.sep),
  };
}

/**
 * The adapter that a file exports.
 *
 * @throws MeshError `usage` when there is no such file, `config` when it exports none or one whose name is taken
 */
export async function loadAdapterFile(name: string): Promise<ProtocolAdapter> {
  const file = userPath(name);
  if (!existsSync(file)) {
    throw new MeshError(
      'usage',
      `${file}: there is no such file; expected one, or an adapter: ${adapterNames.join(', ')}`,
    );
  }
  let exported: Record<string, unknown>;
  try {
    exported = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new MeshError('config', `${file} cannot be loaded: ${messageOf(error)}`, { cause: error });
  }
  const adapter = Object.values(exported).find(isAdapter);
  if (adapter === undefined) {
    throw new MeshError('config', `${file} exports no adapter: an object with a name and a function open`);
  }
  return adapter;
}

function assertConforms(adapter: ProtocolAdapter, file: string): void {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(adapter.name)) {
    throw new MeshError(
      'config',
      `${file}: the name "${adapter.name}" must be lower-case letters, digits and -`,
    );
  }
  if (adapterNames.includes(adapter.name)) {
    throw new MeshError(
      'config',
      `${file}: there is an adapter ${adapter.name} already; give yours another name`,
    );
  }
  for (const check of contractChecks(adapter)) {
    try {
      check.run();
    } catch (error) {
      throw new MeshError(
        'config',
        `${file} does not conform, so nothing it is compared with would mean anything: ${check.name}: ` +
          `${messageOf(error)}; see all with: npm run conformance -- ${file}`,
        { cause: error },
      );
    }
  }
}

function isAdapter(value: unknown): value is ProtocolAdapter {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'name' in value && typeof value.name === 'string' && 'open' in value && typeof value.open === 'function'
  );
}
