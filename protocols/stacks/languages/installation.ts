import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';

/** Languages other than JavaScript whose SDKs are measured. */
export type Language = 'python' | 'go';

/** An installation of a language's peer, in the user's cache. */
interface Installation {
  /** The command that starts the peer; its last argument is the socket of the control channel. */
  readonly command: string;
  readonly args: readonly string[];
  /** File that is there once the installation is whole. */
  readonly mark: string;
  /** The language that must be there already. */
  readonly needs: string;
  /** The command line that installs it. */
  readonly install: string;
}

/** Resolves a file of this folder. */
const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Describes the installation of a language's peer, in a folder whose name depends on the peer's sources. */
export function describePeer(language: Language): Installation {
  return language === 'python' ? describePython() : describeGo();
}

function describePython(): Installation {
  const requirements = own('./python/requirements.txt');
  const folder = nameFolder('python', [requirements]);
  const [python, pip, mark] = [
    path.join(folder, 'bin', 'python'),
    path.join(folder, 'bin', 'pip'),
    path.join(folder, 'installed'),
  ];
  return {
    command: python,
    // The package's folder is not written to.
    args: ['-B', own('./python/peer.py')],
    mark,
    needs: 'Python 3.11 or newer',
    install: `python3 -m venv ${folder} && ${pip} install --quiet -r ${requirements} && touch ${mark}`,
  };
}

function describeGo(): Installation {
  const module = own('..');
  const sources = ['languages/go', 'languages/go/peer', 'mcp/go', 'a2a/go'].flatMap((folder) =>
    readdirSync(path.join(module, folder))
      .filter((name) => name.endsWith('.go'))
      .map((name) => path.join(module, folder, name)),
  );
  const folder = nameFolder('go', [path.join(module, 'go.sum'), ...sources]);
  const program = path.join(folder, 'peer');
  return {
    command: program,
    args: [],
    mark: program,
    needs: 'Go 1.26 or newer',
    install: `mkdir -p ${folder} && go build -C ${module} -o ${program} ./languages/go`,
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

/** Returns a folder of the user's cache whose name is derived from the contents of files, so that changed files get a new one. */
function nameFolder(language: Language, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return path.join(findCacheFolder(), 'peers', `${language}-${hash.digest('hex').slice(0, 8)}`);
}
