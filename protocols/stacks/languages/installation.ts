import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';

/** Languages whose SDKs are measured, beside JavaScript. */
export type Language = 'python';

/** An installation of a language's peer, in the user's cache. */
interface Installation {
  /** The command that starts the peer; its last argument is the socket of the control channel. */
  readonly command: string;
  readonly args: readonly string[];
  /** File that is there once the installation is whole. */
  readonly mark: string;
  /** What must be there already. */
  readonly needs: string;
  /** The command line that installs it. */
  readonly install: string;
}

/** Resolves a file of this folder. */
const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Describes where the peer of a language is installed, or would be. */
export function describePeer(_language: Language): Installation {
  const requirements = own('./python/requirements.txt');
  const folder = path.join(findCacheFolder(), 'peers', `python-${hashFiles([requirements])}`);
  const [python, pip, mark] = ['bin/python', 'bin/pip', 'installed'].map((name) => path.join(folder, name));
  if (python === undefined || mark === undefined) throw new Error('there are three names');
  return {
    command: python,
    // The package's folder is not written to.
    args: ['-B', own('./python/peer.py')],
    mark,
    needs: 'Python 3.11 or newer',
    install: `python3 -m venv ${folder} && ${pip} install --quiet -r ${requirements} && touch ${mark}`,
  };
}

/** @throws MeshError `config` with the command line that installs the peer if it is not there */
export function findPeer(language: Language, purpose: string): Installation {
  const found = describePeer(language);
  if (existsSync(found.mark)) return found;
  throw new MeshError(
    'config',
    `${purpose} needs packages that are not installed; with ${found.needs}: ${found.install}`,
  );
}

/** Returns a name for the contents of files, so that what was installed for others is not used. */
function hashFiles(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 8);
}
