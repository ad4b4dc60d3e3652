import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DOCUMENT_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { answerConfined, isConfined, packTask, runConfined, unpackTask } from '../web/confined.ts';
import { quoteFileName } from './find-file.ts';
import { loadFile } from './load-file.ts';
import type { LoadedFile } from './loaded-file.ts';
import { chooseReading, perform, type Reading, stripFileLine } from './reading/reading.ts';

const JOB = 'read-document';
/** Limits equal to those of documents that agents read in a thread, see `reading-thread.ts`. */
const LIMITS = { timeoutMs: 60_000, heapMb: 512, rssMb: 800, maxOutputBytes: 2 * MAX_DOCUMENT_BYTES };
/** Limits of a table of questions: all of GAIA takes a tenth of them. */
const ROWS_LIMITS = { ...LIMITS, timeoutMs: 20_000, heapMb: 256, rssMb: 350 };

/**
 * Reads a file in a process without rights or keys, for a caller that has both. When that process dies, only this file
 * is not read.
 *
 * @throws MeshError `tool` when the file cannot be read, not in time or not within the memory, or when `signal` is
 * aborted
 */
export async function readConfined(
  { name, bytes }: LoadedFile,
  reading: Reading,
  signal: AbortSignal,
): Promise<string> {
  const input = packTask({ name, reading }, bytes);
  const outcome = await runConfined(new URL('./read-confined.ts', import.meta.url), JOB, input, {
    ...(reading.kind === 'rows' ? ROWS_LIMITS : LIMITS),
    signal,
  });
  if ('output' in outcome) return outcome.output;
  const { stopped } = outcome;
  // Readers name the file in their reasons.
  const isNamed = stopped.includes(quoteFileName(name));
  throw new MeshError('tool', isNamed ? stopped : `${quoteFileName(name)} was not read: ${stopped}`);
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
  return stripFileLine(await readConfined(loaded, reading, signal));
}

async function readHere(input: Uint8Array): Promise<string> {
  const { task, bytes } = unpackTask<{ name: string; reading: Reading }>(input);
  return (await perform(task.reading, { name: task.name, bytes })).text;
}

if (isConfined(JOB)) void answerConfined(readHere);
