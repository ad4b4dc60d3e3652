import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const here = path.dirname(fileURLToPath(import.meta.url));

/**
 * The folder that holds `core/`, `protocols/`, `tools/`, `config/` and `scripts/`: the checkout, or `dist/` of the
 * installed package.
 */
export const codeFolder: string = path.dirname(here);

/** The folder of `package.json`: the checkout, or the installed package. */
export const packageFolder: string = existsSync(path.join(codeFolder, 'package.json'))
  ? codeFolder
  : path.dirname(codeFolder);

/** The project is a checkout, not a package below somebody's `node_modules`. */
export const isCheckout: boolean = codeFolder === packageFolder;

export const packageVersion: string = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(path.join(packageFolder, 'package.json'), 'utf8'))).version;

/** What an agent process may read: the code, its packages, and no folder of the user's. */
export function readableByAgents(): string[] {
  const code = ['core', 'store', 'protocols', 'tools', 'config', 'scripts'].map(
    (name) => path.join(codeFolder, name) + path.sep,
  );
  return [...code, path.join(packageFolder, 'package.json'), ...packageStores(packageFolder)];
}

/**
 * Where Node looks for the packages that the code in `folder` imports: in `node_modules` there and in every folder above.
 * An installed package has its dependencies beside it; in a workspace or under pnpm they are further up. Node reads through
 * links, so a store that is one is there under both names.
 */
export function packageStores(folder: string): string[] {
  const above = path.dirname(folder);
  const store = path.join(folder, 'node_modules');
  const here =
    path.basename(folder) !== 'node_modules' && existsSync(store)
      ? [...new Set([store, realpathSync(store)])].map((name) => name + path.sep)
      : [];
  return above === folder ? here : [...here, ...packageStores(above)];
}
