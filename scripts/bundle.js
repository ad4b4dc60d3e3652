// Puts the code of a run, and the packages that it loads first, into few files: an agent then starts in half the time, since
// Node takes longer to find 160 modules than to run them. npm does this at the end of an installation (`prepare`). The bundle
// is used for as long as the sources are those that it was made of, and the sources are otherwise. What is published is bundled, too.
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleFolder, isBundled, STAMP_FILE, sourceStamp } from './source-stamp.js';

/** Packages of many modules that every process loads; all others are loaded from where they are. */
const BUNDLED = ['zod', 'pino', 'commander', 'yaml'];

/** What processes begin with that start often, or must stay small: the command line, a run, a hub alone, an agent. */
const STARTS = ['command-line/program', 'commands/bench', 'commands/hub', 'launched-agent'];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

// `dist`: what is published; else the checkout.
if (process.argv[2] === 'dist') {
  await bundle(path.join(root, 'dist', 'scripts', 'main.js'), path.join(root, 'dist', 'bundle'));
} else {
  await bundleCheckout();
}

/**
 * Bundles the program at `input`.
 *
 * @param {string} input its main module
 * @param {string} folder where the files of the bundle go, beside each other
 */
async function bundle(input, folder) {
  // Code finds its files beside itself: in a bundle, too, it is where it was, as seen from the bundle.
  const ownPlace = {
    name: 'own-place',
    transform: (code, id) => {
      // What the bundler brings is nowhere else.
      if (id.startsWith('\0') || !code.includes('import.meta.')) return null;
      const seen = path.relative(folder, id).split(path.sep).join('/');
      const place = {
        url: `new URL(${JSON.stringify(seen)}, import.meta.url).href`,
        filename: `(import.meta.dirname + ${JSON.stringify(`/${seen}`)})`,
        dirname: `(import.meta.dirname + ${JSON.stringify(`/${path.posix.dirname(seen)}`)})`,
      };
      return code.replaceAll(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name) => place[name]);
    },
  };
  // Megabytes of tokens, which the published package need not hold twice: they are loaded from where they are.
  const tables = {
    name: 'tables',
    resolveId: (id) => {
      const [table] = /\/(?:o200k|cl100k)\.js$/.exec(id) ?? [];
      if (table === undefined) return null;
      const file = path.join(root, 'dist', 'core', 'tokens', table);
      return { id: path.relative(folder, file).split(path.sep).join('/'), external: true };
    },
  };
  const { rolldown } = await import('rolldown');
  const built = await rolldown({
    input,
    platform: 'node',
    plugins: [tables, ownPlace],
    preserveEntrySignatures: 'allow-extension',
    external: (id, importer) =>
      importer !== undefined &&
      !importer.includes('node_modules') &&
      /^[^./]/.test(id) &&
      !path.isAbsolute(id) &&
      !BUNDLED.includes(id),
  });
  const starts = STARTS.map((start) => path.join(path.dirname(input), start + path.extname(input)));
  await built.write({
    dir: folder,
    format: 'esm',
    codeSplitting: {
      groups: [{ name: startGroups(starts), debugName: 'start', includeDependenciesRecursively: false }],
    },
  });
}

/**
 * Puts what programs load as they start into a few files, where it would be a hundred: one file for each set of programs. What
 * waits for an `import()` has files of its own, and so has what only some agents load.
 *
 * @param {readonly string[]} starts the programs' first modules, the agents' last
 */
function startGroups(starts) {
  const found = new Map();
  const reached = (start, kinds, context) => {
    const key = kinds.join() + start;
    if (!found.has(key)) {
      const modules = new Set([start]);
      // The set grows while it is gone through.
      for (const id of modules)
        for (const kind of kinds)
          for (const imported of context.getModuleInfo(id)?.[kind] ?? []) modules.add(imported);
      found.set(key, modules);
    }
    return found.get(key);
  };
  const agent = starts.at(-1);
  return (id, context) => {
    const users = starts.filter((start) => reached(start, ['importedIds'], context).has(id));
    const isForSome =
      !users.includes(agent) && reached(agent, ['importedIds', 'dynamicallyImportedIds'], context).has(id);
    return users.length === 0 || isForSome
      ? null
      : users.map((start) => path.parse(start).name).join('-and-');
  };
}

async function bundleCheckout() {
  const folder = bundleFolder(root);
  try {
    if (isBundled(root)) return;
    const stamp = sourceStamp(root);
    rmSync(folder, { recursive: true, force: true });
    await bundle(path.join(root, 'scripts', 'main.ts'), folder);
    writeFileSync(path.join(folder, STAMP_FILE), stamp);
  } catch (error) {
    // An installation is whole without it: development dependencies may be left out, sources may be half written.
    rmSync(folder, { recursive: true, force: true });
    console.error(
      `no bundle, runs will start from the sources: ${error instanceof Error ? error.message : error}`,
    );
  }
}
