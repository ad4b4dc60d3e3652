// Bundles the command line, the library and every program that they start into `dist/`: Node takes longer to find
// hundreds of modules than to run them. npm runs this at the end of an installation (`prepare`); run `npm run build`
// after a change of the sources. It is plain JavaScript, so that the Node that runs npm can run it.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** Packages that are bundled: every process loads them, or they have hundreds of modules. Others are loaded from `node_modules`. */
const BUNDLED = ['zod', 'commander', 'yaml', 'gpt-tokenizer', 'eventsource-parser', 'kysely'];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const dist = path.join(root, 'dist');
const SOURCE_FOLDERS = ['core', 'protocols', 'tools', 'evaluation', 'scripts'];

/** Entry points that users name: the command line, and the exports of `package.json`. */
const ENTRIES = {
  main: 'scripts/main.ts',
  library: 'scripts/library.ts',
  contract: 'protocols/contract/suite.ts',
  'stack-contract': 'protocols/stacks/contract/suite.ts',
};

/** Programs that start often or must stay small: their modules are grouped into a few files. The agent comes last. */
const STARTS = [
  'scripts/command-line/program.ts',
  'scripts/commands/bench.ts',
  'scripts/commands/hub.ts',
  'scripts/launched-agent.ts',
];

/**
 * Matches a program (a process or a thread of its own), which a module names as `new URL('./program.ts',
 * import.meta.url)`.
 */
const PROGRAM = /new URL\(\s*'(\.{1,2}\/[^']+\.ts)',\s*import\.meta\.url\s*,?\s*\)/g;

// Type declarations, which exist when npm packs, stay.
for (const name of existsSync(dist) ? readdirSync(dist) : [])
  if (name.endsWith('.js')) rmSync(path.join(dist, name));
await bundle();

async function bundle() {
  const programs = findPrograms();
  const built = await rolldown({
    input: { ...ENTRIES, ...Object.fromEntries(programs.map((file) => [entryName(file), file])) },
    cwd: root,
    platform: 'node',
    plugins: [{ name: 'locations', transform: rewriteLocations }],
    preserveEntrySignatures: 'allow-extension',
    external: (id, importer) =>
      importer !== undefined &&
      !importer.includes('node_modules') &&
      /^[^./]/.test(id) &&
      !path.isAbsolute(id) &&
      !id.startsWith('@gaia-mesh/') &&
      !BUNDLED.some((name) => id === name || id.startsWith(`${name}/`)),
  });
  await built.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      groups: [{ name: groupStarts(), debugName: 'start', includeDependenciesRecursively: false }],
    },
  });
}

/** Returns the sources that other sources start as programs, relative to the root. */
function findPrograms() {
  const programs = new Set();
  for (const file of listSources()) {
    for (const [, program] of readFileSync(path.join(root, file), 'utf8').matchAll(PROGRAM))
      programs.add(path.posix.join(path.posix.dirname(file), program));
  }
  return [...programs].sort();
}

/**
 * Lists the source files.
 *
 * @returns {string[]} relative to the root, with `/`
 */
function listSources() {
  return SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name) && !/\.(test|d)\.ts$/.test(entry.name))
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/')),
  ).filter((file) => !/(^|\/)(testing|tests|fixtures|node_modules)\//.test(file));
}

/**
 * Returns the name of a program's bundle.
 *
 * @param {string} file a program, relative to the root
 */
function entryName(file) {
  return file.replace(/\.ts$/, '').replaceAll('/', '.');
}

/**
 * Rewrites the locations in a module for the flat folder `dist/`: programs are bundles beside it, and data files stay
 * in place.
 *
 * @param {string} code
 * @param {string} id the module's file
 */
function rewriteLocations(code, id) {
  if (id.startsWith('\0') || id.includes('node_modules') || !code.includes('import.meta.')) return null;
  const source = path.relative(root, id).split(path.sep).join('/');
  const folder = path.posix.dirname(source);
  const location = {
    url: `new URL(${JSON.stringify(`../${source}`)}, import.meta.url).href`,
    filename: `(import.meta.dirname + ${JSON.stringify(`/../${source}`)})`,
    dirname: `(import.meta.dirname + ${JSON.stringify(`/../${folder}`)})`,
  };
  return code
    .replaceAll(PROGRAM, (_, program) => {
      const name = `./${entryName(path.posix.join(folder, program))}.js`;
      return `new URL(${JSON.stringify(name)}, import.meta\u0000.url)`;
    })
    .replaceAll(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name) => location[name])
    .replaceAll('import.meta\u0000.url', 'import.meta.url');
}

/** Names one file for each set of programs that load a module at their start; other modules get files of their own. */
function groupStarts() {
  const starts = STARTS.map((start) => path.join(root, start));
  const agent = starts.at(-1);
  const found = new Map();
  const reach = (start, kinds, context) => {
    const key = kinds.join() + start;
    if (!found.has(key)) {
      const modules = new Set([start]);
      // The set grows during the loop.
      for (const id of modules)
        for (const kind of kinds)
          for (const imported of context.getModuleInfo(id)?.[kind] ?? []) modules.add(imported);
      found.set(key, modules);
    }
    return found.get(key);
  };
  return (id, context) => {
    const users = starts.filter((start) => reach(start, ['importedIds'], context).has(id));
    const isForSome =
      !users.includes(agent) && reach(agent, ['importedIds', 'dynamicallyImportedIds'], context).has(id);
    return users.length === 0 || isForSome
      ? null
      : users.map((start) => path.parse(start).name).join('-and-');
  };
}
