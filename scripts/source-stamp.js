import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Where `bundle.js` puts what it makes of the checkout at `root`, and where the entry looks for it.
 *
 * @param {string} root folder of package.json
 * @returns {string}
 */
export const bundleFolder = (root) => path.join(root, 'node_modules', '.cache', 'gaia-mesh', 'bundle');

/** In that folder: the stamp of the sources that the bundle was made of. */
export const STAMP_FILE = 'stamp.txt';

/**
 * Whether there is a bundle of the checkout at `root`, made of the sources as they are now.
 *
 * @param {string} root folder of package.json
 * @returns {boolean}
 */
export function isBundled(root) {
  const stampFile = path.join(bundleFolder(root), STAMP_FILE);
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === sourceStamp(root);
}

/**
 * Says which sources the checkout at `root` holds: names, sizes and times of all code, and of what is installed. Whatever
 * changes one of them changes the stamp. Takes about 3 ms.
 *
 * @param {string} root folder of package.json
 * @returns {string}
 */
export function sourceStamp(root) {
  const stamp = [root, process.versions.node, stampOf(path.join(root, 'package-lock.json'))];
  for (const folder of ['core', 'protocols', 'tools', 'evaluation', 'config', 'scripts', 'lab']) {
    addFolder(path.join(root, folder), stamp);
  }
  return stamp.join('\n');
}

/**
 * @param {string} folder
 * @param {string[]} stamp
 */
function addFolder(folder, stamp) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) addFolder(name, stamp);
    else if (/(?<!\.test)\.[jt]s$/.test(name)) stamp.push(stampOf(name));
  }
}

/** @param {string} file */
function stampOf(file) {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? `no ${file}` : `${file} ${stat.size} ${stat.mtimeMs}`;
}
