import { execFile } from 'node:child_process';
import os from 'node:os';
import { promisify } from 'node:util';

/** Describes the machine and the versions that a run uses. */
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

/**
 * Returns the checked-out revision of the code at `folder`, with `-dirty` if it was changed; null outside a
 * checkout.
 */
export async function readGitRevision(folder: string): Promise<string | null> {
  try {
    const args = ['-C', folder, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
    const { stdout } = await promisify(execFile)('git', args, { timeout: 5000 });
    return stdout.trim();
  } catch {
    return null; // There is no git or no checkout, as in an installed package.
  }
}
