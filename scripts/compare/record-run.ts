import { spawn } from 'node:child_process';
import path from 'node:path';
import { codeFolder } from '../../config/package-root.ts';
import { MeshError } from '../../core/errors.ts';

/**
 * Runs the default team on the default task and returns its archive.
 *
 * @throws MeshError `agent` when that run fails
 */
export async function recordDefaultRun(folder: string): Promise<string> {
  const out = path.join(folder, 'recorded');
  const entry = path.join(codeFolder, 'scripts', 'gaia-mesh.js');
  console.error('recording the default run …');
  const child = spawn(process.execPath, [entry, 'bench', '--quiet', '--port-base', 'auto', '--out', out], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new MeshError('agent', `the run to record ended with exit code ${code}`);
  return path.join(out, 'run_artifacts.tar.gz');
}
