import { createHash, type Hash } from 'node:crypto';
import { closeSync, realpathSync } from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentPermissions, UserFile } from '@gaia-mesh/core/agent/spec.ts';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import { openUserFile, readUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { codeFolder, findPackageFolders, packageEntries } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import type { EnvelopeWriter } from '@gaia-mesh/protocols/contract/suite.ts';
import { adapterNames, addAdapter } from '@gaia-mesh/protocols/registry.ts';
import type { Stack } from '@gaia-mesh/stacks/contract/stack.ts';
import type { EngineOptions } from '@gaia-mesh/tools/engines/engine-options.ts';
import { addEngine, engineNames } from '@gaia-mesh/tools/engines/registry.ts';
import { addTool } from '@gaia-mesh/tools/registry.ts';

/**
 * Kinds of extensions that users keep in files of their own: adapters, tools and engines. A file is accepted wherever a name is:
 * it is loaded, its exports become known by their names, and agents are told which files to load.
 */
type Kind = UserFile['kind'];

/** A file such as `./mine.ts`; an adapter may have layers around it: `./mine.ts+zstd`. */
const FILE_PATTERN = /^(?<file>.+\.[cm]?[jt]s)(?<layers>\+.*)?$/;
/** Maximum bytes of a user's module; a bundle with its packages has a few. */
const MAX_CODE_BYTES = 64 * 1024 * 1024;
const NAME_PATTERN = /^[a-z0-9][a-z0-9_-]*$/;

interface LoadedUserFile extends UserFile {
  readonly name: string;
}
const known: LoadedUserFile[] = [];

/**
 * Returns the file without layers; undefined for the name of something that ships with the project.
 *
 * @throws MeshError `usage` for a file that is no module
 */
export function parseFileName(text: string): string | undefined {
  const file = FILE_PATTERN.exec(text)?.groups?.file;
  // No name contains a point.
  if (file === undefined && /\.\w+(\+|$)/.test(text))
    throw new MeshError(
      'usage',
      `${text}: expected a module (a file that ends in .ts, .mts, .cts, .js, .mjs or .cjs), or a name without a point`,
    );
  return file;
}

/**
 * Resolves `text` to a name: itself, or the name of the named file's export.
 *
 * @param resolvePath resolves relative paths; by default against the user's folder
 * @throws MeshError `usage` if there is no such file, `config` if it exports nothing of that kind or its name is taken
 */
export function resolveUserName(kind: Kind, text: string, resolvePath = resolveUserPath): string {
  const file = parseFileName(text);
  return file === undefined ? text : register(kind, resolvePath(file)) + text.slice(file.length);
}

/** Registers the exports of a file and returns their name. */
export function register(kind: Kind, file: string): string {
  const before = known.find((one) => one.kind === kind && one.file === file);
  if (before !== undefined) return before.name;
  const name = REGISTER[kind](loadExports(file), file);
  known.push({ kind, name, file });
  return name;
}

/** Returns the files that a process must load to know all adapters, and the wanted tool and engine. */
export function listUserFiles(wanted: { readonly tool?: string; readonly engine?: string } = {}): UserFile[] {
  return known
    .filter(({ kind, name }) => kind === 'adapter' || wanted[kind] === name)
    .map(({ kind, file }) => ({ kind, file }));
}

/**
 * Returns the paths that an agent's process must read to load these files: their folders, and the packages that Node finds from
 * there.
 */
export function listUserReads(files: readonly UserFile[]): NonNullable<AgentPermissions['reads']> {
  const folders = new Set(
    files.flatMap(({ file }) => [path.dirname(file), path.dirname(realpathSync(file))]),
  );
  return [...folders].flatMap((folder) => [folder + path.sep, ...findPackageFolders(folder)]);
}

/** Adds the contents of tools' and engines' files to a hash, since other contents may give other answers. */
export function hashUserFiles(hash: Hash, names: readonly string[]): void {
  for (const { kind, name, file } of known) {
    if (kind === 'adapter' || !names.includes(name)) continue;
    hash.update(`\0${kind} ${name}\0`).update(
      createHash('sha256')
        .update(readUserFile(file, { what: kind, maxBytes: MAX_CODE_BYTES }))
        .digest(),
    );
  }
}

/**
 * Loads an adapter from a user's file, and the writer that the file exports for the contract suite, if any.
 *
 * @throws MeshError as {@link resolveUserName} does
 */
export function loadUserAdapter(file: string): {
  readonly adapter: ProtocolAdapter;
  readonly writer: EnvelopeWriter | undefined;
} {
  const exported = Object.values(loadExports(file));
  const adapter = exported.find(isAdapter);
  if (adapter !== undefined) return { adapter, writer: exported.find(isEnvelopeWriter) };
  throw new MeshError('config', `${file} exports no adapter: an object with a name and a function open`);
}

/**
 * Loads the stacks of a user's file.
 *
 * @throws MeshError `config` for a file that exports no stack
 */
export function readStacks(file: string): readonly Stack[] {
  const stacks = Object.values(loadExports(file)).flat().filter(isStack);
  if (stacks.length > 0) return stacks;
  throw new MeshError('config', `${file} exports no stack: an object with name, traits, serve and connect`);
}

const REGISTER: Readonly<Record<Kind, (exported: Record<string, unknown>, file: string) => string>> = {
  adapter(_exported, file) {
    const { adapter } = loadUserAdapter(file);
    checkName('adapter', adapter.name, adapterNames, file);
    addAdapter(adapter);
    return adapter.name;
  },
  // A tool with the name of a shipped tool replaces it, since other agents call it by that name.
  tool(exported, file) {
    const tool = Object.values(exported).find(isTool);
    if (tool === undefined) {
      throw new MeshError(
        'config',
        `${file} exports no tool: an object with name, accepts, emits and a function run`,
      );
    }
    checkName('tool', tool.name, [], file);
    addTool(tool);
    return tool.name;
  },
  engine(exported, file) {
    const engine = Object.values(exported).find(isEngine);
    const maker = Object.entries(exported).find(isEngineMaker);
    const name = engine?.name ?? maker?.[0].replace(/Engine$/, '').toLowerCase();
    if (name === undefined) {
      throw new MeshError(
        'config',
        `${file} exports no engine: an object with name, tokenSource and a function perform, or a function <name>Engine that makes one`,
      );
    }
    checkName('engine', name, engineNames, file);
    addEngine(name, (options) => engine ?? createUserEngine(maker?.[1], options, file));
    return name;
  },
};

function createUserEngine(
  maker: ((options: EngineOptions) => unknown) | undefined,
  options: EngineOptions,
  file: string,
): Engine {
  const engine = maker?.(options);
  if (isEngine(engine)) return engine;
  throw new MeshError('config', `${file}: its function makes no engine`);
}

function checkName(kind: Kind, name: string, taken: readonly string[], file: string): void {
  if (!NAME_PATTERN.test(name)) {
    throw new MeshError('config', `${file}: the name "${name}" must be lower-case letters, digits, - and _`);
  }
  if (taken.includes(name)) {
    throw new MeshError('config', `${file}: there is an ${kind} ${name} already; give yours another name`);
  }
}

const loadFile = module.createRequire(import.meta.url);
let isHooked = false;

function loadExports(file: string): Record<string, unknown> {
  closeSync(openUserFile(file, { what: 'module', code: 'usage' }));
  if (!isHooked) importOurselves();
  isHooked = true;
  try {
    return loadFile(file);
  } catch (error) {
    const isReadAsCommonJs = error instanceof SyntaxError && MODULE_SYNTAX.test(error.message);
    const remedy = isReadAsCommonJs ? '; set "type": "module" in its package.json, or name it .mts' : '';
    throw new MeshError('config', `${file} cannot be loaded: ${toErrorMessage(error)}${remedy}`, {
      cause: error,
    });
  }
}

/** Matches what Node says of a module's syntax in a package of CommonJS, which `npm init` makes. */
const MODULE_SYNTAX = /import statement outside a module|Unexpected token 'export'/;

/** Resolves imports of `gaia-mesh` in a user's file to this installation, wherever the file is. */
function importOurselves(): void {
  module.registerHooks({
    resolve(specifier, context, next) {
      const entry = /^gaia-mesh(\/.+)?$/.exec(specifier);
      const built = entry === null ? undefined : packageEntries[`.${entry[1] ?? ''}`];
      if (built === undefined) return next(specifier, context);
      return {
        url: pathToFileURL(path.join(codeFolder, built)).href,
        format: 'module',
        shortCircuit: true,
      };
    },
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isAdapter(value: unknown): value is ProtocolAdapter {
  return isObject(value) && typeof value.name === 'string' && typeof value.open === 'function';
}

function isStack(value: unknown): value is Stack {
  return (
    isObject(value) &&
    typeof value.name === 'string' &&
    isObject(value.traits) &&
    typeof value.serve === 'function' &&
    typeof value.connect === 'function'
  );
}

function isEnvelopeWriter(value: unknown): value is EnvelopeWriter {
  return isObject(value) && typeof value.write === 'function';
}

function isTool(value: unknown): value is Tool {
  return (
    isObject(value) &&
    typeof value.name === 'string' &&
    Array.isArray(value.accepts) &&
    Array.isArray(value.emits) &&
    typeof value.run === 'function'
  );
}

function isEngine(value: unknown): value is Engine {
  return isObject(value) && typeof value.name === 'string' && typeof value.perform === 'function';
}

function isEngineMaker(entry: [string, unknown]): entry is [string, (options: EngineOptions) => unknown] {
  return entry[0].endsWith('Engine') && typeof entry[1] === 'function';
}
