import path from 'node:path';
import { loadFile } from './load-file.ts';
import { contentOf, perform, readingFor } from './reading.ts';
import { readInThread } from './reading-thread.ts';

/**
 * The text of a document, spreadsheet, archive (its list) or text file, and nothing else, for a prompt. `file` is a path that the
 * caller trusts.
 *
 * @throws MeshError `tool` for one that is missing or unreadable (REQ-052), with its path, and for pictures and recordings
 */
export async function readAnyText(file: string, signal: AbortSignal): Promise<string> {
  const loaded = await loadFile(file, path.basename(file));
  const reading = readingFor(loaded.name);
  const { text } =
    reading.kind === 'text' ? await perform(reading, loaded) : await readInThread(loaded, reading, signal);
  return contentOf(text);
}
