import { execFile } from 'node:child_process';
import os from 'node:os';
import { promisify } from 'node:util';

/** The machine and the versions that a run was made with. */
export function describeEnvironment(version: string): Record<string, string | number> {
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
export async function readGitRevision(folder: string): Promise<string | null> {
  try {
    const args = ['-C', folder, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
    const { stdout } = await promisify(execFile)('git', args, { timeout: 5000 });
    return stdout.trim();
  } catch {
    return null; // No git, or no checkout: an installed package.
  }
}
