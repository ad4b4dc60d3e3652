// Puts the code of a run, and the packages that it loads first, into few files: an agent then starts in half the time, since
// Node takes longer to find 160 modules than to run them. npm does this at the end of an installation (`prepare`). The bundle
// is used for as long as the sources are those that it was made of, and the sources are otherwise. It is never published.
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleFolder, STAMP_FILE, sourceStamp } from './source-stamp.js';

/** Packages of many modules that every process loads; all others are loaded from where they are. */
const BUNDLED = ['zod', 'pino', 'commander', 'yaml'];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = bundleFolder(root);

/** Code finds its files beside itself: in a bundle, too, it is where its source is. */
const ownPlace = {
  name: 'own-place',
  transform: (code, id) => {
    const place = { url: pathToFileURL(id).href, filename: id, dirname: path.dirname(id) };
    return code.includes('import.meta.')
      ? code.replaceAll(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name) => JSON.stringify(place[name]))
      : null;
  },
};

rmSync(folder, { recursive: true, force: true });
try {
  const { rolldown } = await import('rolldown');
  const stamp = sourceStamp(root);
  const bundle = await rolldown({
    input: path.join(root, 'scripts', 'main.ts'),
    platform: 'node',
    plugins: [ownPlace],
    external: (id, importer) =>
      importer !== undefined &&
      !importer.includes('node_modules') &&
      /^[^./]/.test(id) &&
      !path.isAbsolute(id) &&
      !BUNDLED.includes(id),
  });
  await bundle.write({ dir: folder, format: 'esm' });
  writeFileSync(path.join(folder, STAMP_FILE), stamp);
} catch (error) {
  // An installation is whole without it: development dependencies may be left out, sources may be half written.
  rmSync(folder, { recursive: true, force: true });
  console.error(
    `no bundle, runs will start from the sources: ${error instanceof Error ? error.message : error}`,
  );
}
