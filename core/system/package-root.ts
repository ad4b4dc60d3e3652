import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSystemCode } from '../contracts/errors.ts';

const here = path.dirname(fileURLToPath(import.meta.url));

/** Folder of `package.json` and of the source folders: the checkout, or the installed package. */
export const codeFolder: string = path.dirname(path.dirname(here));

/** True in a checkout, which alone holds the sources; false for a package below a user's `node_modules`. */
export const isCheckout: boolean = isReadable(path.join(codeFolder, 'scripts', 'main.ts'));

/** The package's own file, which every process reads: no schema checks it. */
const {
  version,
  exports: entries,
}: {
  version: string;
  exports: Record<string, string | { default: string }>;
} = JSON.parse(readFileSync(path.join(codeFolder, 'package.json'), 'utf8'));

export const packageVersion: string = version;

/** Built files of `gaia-mesh`, `gaia-mesh/contract`, …, by the keys `.`, `./contract`, … */
export const packageEntries: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  Object.entries(entries).map(([name, entry]) => [name, typeof entry === 'string' ? entry : entry.default]),
);

/** Lists the paths that an agent process may read: the code and its packages, but no folder of the user. */
export function listReadablePaths(): string[] {
  const code = ['dist', 'core', 'protocols', 'tools', 'evaluation', 'config', 'scripts'].map(
    (name) => path.join(codeFolder, name) + path.sep,
  );
  return [...code, path.join(codeFolder, 'package.json'), ...findPackageFolders(codeFolder)];
}

/**
 * Finds the folders where Node looks for the packages that code in `folder` imports: `node_modules` there and
 * in every folder above. An installed package has its dependencies beside it; in a workspace or under pnpm
 * they are further up. Node reads through links, so a store behind a link is listed under both names.
 */
export function findPackageFolders(folder: string): string[] {
  const above = path.dirname(folder);
  const store = path.join(folder, 'node_modules');
  const here =
    path.basename(folder) !== 'node_modules' && isReadable(store)
      ? [...new Set([store, realpathSync(store)])].map((name) => name + path.sep)
      : [];
  return above === folder ? here : [...here, ...findPackageFolders(above)];
}

/**
 * Returns false for a folder that this process may not read, since its child could not read it either. Node may grant the files
 * of a folder and still deny the folder itself: if an earlier granted path begins with the folder's name, as in an installed package.
 */
function isReadable(folder: string): boolean {
  try {
    return existsSync(folder);
  } catch (error) {
    if (readSystemCode(error) === 'ERR_ACCESS_DENIED')
      return process.permission.has('fs.read', path.join(folder, 'package.json'));
    throw error;
  }
}
