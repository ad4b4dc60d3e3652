import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** An archive holds at most this much; what goes beyond is named in the manifest and left out. */
const MAX_ARCHIVE_BYTES = 2 * 1024 * 1024 * 1024;

interface ManifestFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Lists all files below `folder` with their hashes, links and dot files left out; paths with `/`, sorted. */
export async function listFiles(folder: string): Promise<{ files: ManifestFile[]; omitted: string[] }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((name) => !name.split(path.sep).some((part) => part.startsWith('.')))
    .sort();
  const files: ManifestFile[] = [];
  const omitted: string[] = [];
  let total = 0;
  for (const name of names) {
    const file = path.join(folder, name);
    const { size } = await stat(file);
    total += size;
    if (total > MAX_ARCHIVE_BYTES) {
      omitted.push(name);
      continue;
    }
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    files.push({ path: name.split(path.sep).join('/'), bytes: size, sha256: hash.digest('hex') });
  }
  return { files, omitted };
}

/** The machine and the versions that a run was made with. */
export function environmentOf(version: string): Record<string, string | number> {
  return {
    gaia_mesh: version,
    node: process.version,
    platform: process.platform,
    arch: process.arch,
    os_release: os.release(),
    cpu: os.cpus()[0]?.model ?? 'unknown',
    cpus: os.cpus().length,
    memory_bytes: os.totalmem(),
  };
}

/** The checked-out revision of the code at `folder`, `-dirty` where it was changed; null outside a checkout. */
export async function gitRevision(folder: string): Promise<string | null> {
  try {
    const args = ['-C', folder, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
    const { stdout } = await promisify(execFile)('git', args, { timeout: 5000 });
    return stdout.trim();
  } catch {
    return null; // No git, or no checkout: an installed package.
  }
}
