import { execFile } from 'node:child_process';
import os from 'node:os';
import { promisify } from 'node:util';
import { codeFolder, packageVersion } from '../system/package-root.ts';

/** Describes the machine and the versions that a run uses. */
export function describeEnvironment(): Record<string, string | number> {
  return {
    gaia_mesh: packageVersion,
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
 * Returns the checked-out revision of the code, with `-dirty` if it was changed; null outside a
 * checkout.
 */
export async function readGitRevision(): Promise<string | null> {
  try {
    const args = ['-C', codeFolder, 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
    const { stdout } = await promisify(execFile)('git', args, { timeout: 5000 });
    return stdout.trim();
  } catch {
    return null; // There is no git or no checkout, as in an installed package.
  }
}
