// Bundles the command line, the library and every program that they start into `dist/`: Node takes longer to find
// hundreds of modules than to run them. npm runs this at the end of an installation (`prepare`); run `npm run build`
// after a change of the sources. It is plain JavaScript, so that the Node that runs npm can run it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** Packages that are bundled: every process loads them, or they have hundreds of modules. Others are loaded from `node_modules`. */
const BUNDLED = [
  'zod',
  'commander',
  'yaml',
  'gpt-tokenizer',
  'eventsource-parser',
  'kysely',
  'wink-nlp',
  'wink-eng-lite-web-model',
  'stemmer',
];

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

/** The tools of the default run, and what each of its agents loads besides. */
const DEFAULT_TOOLS = ['search', 'extract', 'triple', 'reason'].map((tool) => `tools/pipeline/${tool}.ts`);
const DEFAULT_PARTS = ['protocols/json.ts', 'tools/engines/extractive.ts'];

/**
 * Matches a program (a process or a thread of its own), which a module names as `new URL('./program.ts',
 * import.meta.url)`.
 */
const PROGRAM = /new URL\(\s*'(\.{1,2}\/[^']+\.ts)',\s*import\.meta\.url\s*,?\s*\)/g;

// Delete earlier bundles, but keep the type declarations: they exist when npm packs the project.
for (const name of existsSync(dist) ? readdirSync(dist) : [])
  if (name.endsWith('.js')) rmSync(path.join(dist, name), { force: true });
await Promise.all([bundle(), bundlePage()]);

async function bundle() {
  const programs = findPrograms();
  const built = await rolldown({
    input: { ...ENTRIES, ...Object.fromEntries(programs.map((file) => [entryName(file), file])) },
    cwd: root,
    platform: 'node',
    onLog: refuseMissing,
    plugins: [{ name: 'locations', transform: rewriteLocations, renderChunk: takeBuiltins }],
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

/**
 * Fails if a package is missing. Rolldown only warns, and the bundle would then fail when it starts.
 *
 * @param {string} level
 * @param {{ code?: string, message: string }} log
 * @param {(level: string, log: object) => void} report
 */
function refuseMissing(level, log, report) {
  if (log.code === 'UNRESOLVED_IMPORT') throw new Error(`${log.message}; run "npm install"`);
  report(level, log);
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

/**
 * Takes Node's own modules as they are. An `import` reads every export of such a module, and with it loads modules that no
 * program needs: a twentieth of the start of an agent.
 *
 * @param {string} code of a bundle
 */
function takeBuiltins(code) {
  return code.replaceAll(
    // Processes may be started without SQLite: its import then says so.
    /^import (\w+|\{[^}]*\}) from "(node:(?!sqlite)[\w/]+)";$/gm,
    (_, names, name) =>
      `const ${names.replaceAll(' as ', ': ')} = globalThis.process.getBuiltinModule("${name}");`,
  );
}

/**
 * Names one file for each set of programs that load a module at their start, one for what all agents of the default run load on
 * demand, and one for the rest of what programs share with some agents; other modules get files of their own. To find a file takes
 * Node longer than to read a few kilobytes that it does not need.
 */
function groupStarts() {
  const absolute = (file) => path.join(root, file);
  const starts = STARTS.map(absolute);
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
    // The entry configures zod before any schema is made.
    if (/[\\/]node_modules[\\/]zod[\\/]/.test(id)) return 'zod';
    const isReached = (file) => reach(absolute(file), ['importedIds'], context).has(id);
    const users = starts.filter((start) => reach(start, ['importedIds'], context).has(id));
    const names = users.map((start) => path.parse(start).name).join('-and-');
    if (users.includes(agent)) return names;
    if (DEFAULT_TOOLS.every(isReached) || DEFAULT_PARTS.some(isReached)) return 'default-agent';
    const isForSome = reach(agent, ['importedIds', 'dynamicallyImportedIds'], context).has(id);
    if (users.length === 0) return null;
    return isForSome ? `${names}-and-some-agents` : names;
  };
}

/**
 * Builds the page that shows results into one file, `dist/viewer.html`: its policy allows its own script and style by their
 * hashes. `evaluation/report/page-html.ts` puts the data in.
 */
async function bundlePage() {
  const folder = path.join(root, 'evaluation', 'viewer');
  const built = await rolldown({
    input: path.join(folder, 'app.tsx'),
    cwd: root,
    platform: 'browser',
    onLog: refuseMissing,
    transform: {
      jsx: { runtime: 'automatic', importSource: 'preact' },
      define: { 'process.env.NODE_ENV': '"production"' },
    },
    plugins: [{ name: 'border', load: (id) => checkPageModule(folder, id) }],
  });
  const { output } = await built.generate({ format: 'iife', minify: true });
  const [{ code, moduleIds }] = output;
  const script = code.trim();
  // These texts would end the script's element early.
  if (/<\/script|<!--/i.test(script)) throw new Error('the script of the page holds </script or <!--');
  const style = readFileSync(path.join(folder, 'viewer.css'), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ');
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "connect-src 'none'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const parts = {
    POLICY: policy,
    '<!-- STYLE -->': `<style>${style}</style>`,
    '<!-- SCRIPT -->': `<!--\n${listNotices(moduleIds)}\n-->\n<script>${script}</script>`,
  };
  const html = readFileSync(path.join(folder, 'page.html'), 'utf8').replaceAll(
    /POLICY|<!-- (?:STYLE|SCRIPT) -->/g,
    (name) => parts[name],
  );
  mkdirSync(dist, { recursive: true });
  writeFileSync(path.join(dist, 'viewer.html'), html);
}

/** Fails if the page imports a module outside of `evaluation`: modules that need Node cannot be bundled for a browser. */
function checkPageModule(folder, id) {
  if (id.startsWith(path.dirname(folder)) || id.includes('node_modules') || id.startsWith('\0')) return null;
  throw new Error(`the page must not import ${path.relative(root, id)}: types alone may come from there`);
}

/** Returns the notices of the packages in the page. Packages with equal licence texts share one. */
function listNotices(moduleIds) {
  const packages = new Map();
  for (const id of moduleIds) {
    const [, at] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
    if (at !== undefined) packages.set(at, JSON.parse(readFileSync(path.join(at, 'package.json'), 'utf8')));
  }
  const texts = new Map();
  for (const [at, { name, version }] of packages) {
    const file = readdirSync(at).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : readFileSync(path.join(at, file), 'utf8').trim();
    const copyright = /^Copyright.*$/im.exec(text)?.[0] ?? '';
    const terms = text
      .replace(copyright, '')
      .replace(/^(?:The )?(?:MIT|ISC) Licen[cs]e(?: \(MIT\))?\s*/i, '')
      .trim();
    const key = terms.replaceAll(/\s+/g, ' ');
    const known = texts.get(key) ?? { terms, names: [] };
    known.names.push(`${name} ${version}: ${copyright}`);
    texts.set(key, known);
  }
  return [...texts.values()]
    .map(({ terms, names }) => `${names.join('\n')}\n\n${terms}`)
    .join('\n\n')
    .replaceAll('--', '- -');
}
