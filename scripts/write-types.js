// Writes the type declarations of what the package exports to `dist/types/`, before npm packs it. `tsc --build` has made a declaration of
// each source; this copies those that the exports reach, with imports between packages as relative paths.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const types = path.join(root, 'dist', 'types');

const { workspaces, exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
/** The sources behind the package's exports. */
const entries = Object.values(exports).flatMap((entry) =>
  entry.types === undefined ? [] : [entry.types.replace('./dist/types/', '').replace(/\.d\.ts$/, '.ts')],
);
/** The folder of each package, the deepest first, by its name. */
const folders = new Map(
  workspaces
    .toSorted((a, b) => b.length - a.length)
    .map((folder) => [
      JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')).name,
      folder,
    ]),
);

rmSync(types, { recursive: true, force: true });
const sources = new Set(entries);
// The set grows during the loop.
for (const source of sources) {
  const text = readFileSync(findDeclaration(source), 'utf8').replaceAll(
    /(from |import\()(['"])((?:\.\.?|@gaia-mesh)\/[^'"]+)\2/g,
    (_, before, quote, specifier) => {
      const target = resolveSource(source, specifier);
      sources.add(target);
      const relative = path.posix.relative(path.posix.dirname(source), target).replace(/\.ts$/, '.js');
      return `${before}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`;
    },
  );
  const file = path.join(types, source.replace(/\.ts$/, '.d.ts'));
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/**
 * Returns the declaration that `tsc --build` made of a source.
 *
 * @param {string} source relative to the root
 */
function findDeclaration(source) {
  const folder = [...folders.values()].find((each) => source.startsWith(`${each}/`));
  const made = path.join(root, 'node_modules', '.cache', 'types', folder.replaceAll('/', '-'));
  return path.join(made, source.slice(folder.length + 1).replace(/\.ts$/, '.d.ts'));
}

/**
 * Returns the source that an import names, relative to the root.
 *
 * @param {string} source the source with the import, relative to the root
 * @param {string} specifier
 */
function resolveSource(source, specifier) {
  if (!specifier.startsWith('@')) return path.posix.join(path.posix.dirname(source), specifier);
  const name = specifier.split('/').slice(0, 2).join('/');
  return path.posix.join(folders.get(name), specifier.slice(name.length + 1) || 'index.ts');
}
