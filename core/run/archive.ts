import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MANIFEST_VERSION } from '../recording/read-archive.ts';
import { listFiles } from './manifest.ts';

/** A file of the run as it lies in the archive. */
interface ArchiveText {
  readonly name: string;
  readonly text: string;
}

/**
 * Writes the archive of a run: everything below `workspaces`, the texts given, and `manifest.json`, which lists it all with
 * hashes. Whole or not at all.
 */
export async function writeArchive(
  archiveFile: string,
  workspaces: string,
  texts: readonly ArchiveText[],
  manifest: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const { name, text } of texts) await writeFile(path.join(workspaces, name), text, { mode: 0o600 });
  const { files, omitted } = await listFiles(workspaces);
  const whole = { schema_version: MANIFEST_VERSION, ...manifest, files, omitted };
  await writeFile(path.join(workspaces, 'manifest.json'), `${JSON.stringify(whole, null, 2)}\n`);
  // Loaded when it is needed: until then the agents' start has the processor.
  const { create } = await import('tar');
  const temporary = `${archiveFile}.part`;
  const names = ['manifest.json', ...files.map((file) => file.path)];
  // Level 1: a person waits for it.
  await create(
    { gzip: { level: 1 }, file: temporary, cwd: workspaces, portable: true, noDirRecurse: true, mode: 0o600 },
    names,
  );
  await rename(temporary, archiveFile);
}
