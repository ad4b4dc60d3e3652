import path from 'node:path';
import { loadFile } from './load-file.ts';
import { readConfined } from './read-confined.ts';
import { contentOf, perform, readingFor } from './reading/reading.ts';

/**
 * The text of a document, spreadsheet, archive (its list) or text file, and nothing else, for a prompt; libraries read it in a
 * process that has none of the caller's rights. `file` is a path that the
 * caller trusts.
 *
 * @throws MeshError `tool` for one that is missing or unreadable (REQ-052), with its path, and for pictures and recordings
 */
export async function readAnyText(file: string, signal: AbortSignal): Promise<string> {
  const loaded = await loadFile(file, path.basename(file));
  const reading = readingFor(loaded.name);
  if (reading.kind === 'text') return contentOf((await perform(reading, loaded)).text);
  return contentOf(await readConfined(loaded, reading, signal));
}
