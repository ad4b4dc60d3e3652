import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { JOB_LIMITS, type JobBounds } from '@gaia-mesh/core/contracts/limits.ts';
import { defineJob, runJob } from '@gaia-mesh/core/system/process/jobs.ts';
import type { DataToolReply } from '../data-tool.ts';
import { type LoadedFile, loadFile, quoteFileName } from './loaded-file.ts';
import { chooseReading, perform, type Reading, stripFileLine } from './reading/reading.ts';

const readDocument = defineJob(
  new URL('./read-confined.ts', import.meta.url),
  'read-document',
  async () =>
    ({ file, reading }: { file: LoadedFile; reading: Reading }) =>
      perform(reading, file),
);

/**
 * Reads a file in a process without rights or keys: when a library hangs, dies or uses up memory over hostile bytes,
 * only this file is not read.
 *
 * @throws MeshError `tool` when the file cannot be read, not in time or not within the memory, or when `signal` is
 * aborted
 */
export async function readConfined(
  file: LoadedFile,
  reading: Reading,
  signal: AbortSignal,
  bounds: JobBounds = JOB_LIMITS.document,
): Promise<DataToolReply> {
  const outcome = await runJob(readDocument, { file, reading }, bounds, { signal });
  if ('answer' in outcome) return outcome.answer;
  throw new MeshError('tool', `${quoteFileName(file.name)} was not read: ${outcome.stopped}`);
}

/**
 * Returns only the text of a document, spreadsheet, archive (its list) or text file, for a prompt. Libraries read it in
 * a process that has none of the caller's rights. `file` is a path that the caller trusts.
 *
 * @throws MeshError `tool` for one that is missing or unreadable (REQ-052), with its path, and for pictures and
 * recordings
 */
export async function readAnyText(file: string, signal: AbortSignal): Promise<string> {
  const loaded = await loadFile(file, path.basename(file));
  const reading = chooseReading(loaded.name);
  if (reading.kind === 'text') return stripFileLine((await perform(reading, loaded)).text);
  return stripFileLine((await readConfined(loaded, reading, signal)).text);
}
