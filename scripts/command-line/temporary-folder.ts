import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { guard } from '@gaia-mesh/core/system/process/guard.ts';

/** Gives `work` a folder of its own, which is deleted afterwards, even when this process is killed before. */
export async function useTemporaryFolder<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(os.tmpdir(), `gaia-mesh-${name}-`));
  const release = guard({ folder });
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    release();
  }
}
