import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ProtocolAdapter } from '../../core/adapter.ts';
import { readArchivedRecording } from '../../core/recording/read-archive.ts';
import { shownRevision } from '../docs-page.ts';
import type { ComparisonFile } from './comparison-report.ts';
import { measureHttp } from './measure-http.ts';
import { resultsPage } from './results-page.ts';

export interface Compared {
  /** Archive of the run that the report is about. */
  readonly archive: string;
  readonly adapters: readonly ProtocolAdapter[];
  /** Arguments of the command, its name first. */
  readonly args: readonly string[];
  readonly signal: AbortSignal;
}

/** Measures what HTTP and TLS add, and writes the results page into `file`. */
export async function writeResults(
  file: string,
  report: ComparisonFile,
  { archive, adapters, args, signal }: Compared,
): Promise<void> {
  console.error('what HTTP and TLS add …');
  const http = await measureHttp(await readArchivedRecording(archive), adapters, signal);
  const date = new Date().toISOString().slice(0, 10);
  const revision = await shownRevision();
  writeFileSync(file, resultsPage({ report, http, command: commandOf(args), revision, date }));
  console.error(`written: ${file}`);
}

/** Alone, behind `--option=`, or in a list. */
const ABSOLUTE_PATH = /(?<=^|[=,])\/[^,]+/g;

/** What was typed, for others to type; of files on this machine, only their names. */
export function commandOf([name = '', ...options]: readonly string[]): string {
  const words = options.map((option) =>
    quoted(option.replaceAll(ABSOLUTE_PATH, (file) => path.basename(file))),
  );
  return ['npm', 'run', name, '--', ...words].join(' ');
}

function quoted(word: string): string {
  return /^[\w.,:/=+@%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
