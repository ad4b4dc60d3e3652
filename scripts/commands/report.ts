import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import { fileFaultOf, MeshError } from '../../core/errors.ts';
import { type ArchivedRun, readArchivedRun } from '../report/archived-run.ts';
import { readComparison } from '../report/comparison-file.ts';
import { reportHtml } from '../report/report-html.ts';
import { count } from '../terminal/table.ts';

export interface ReportCommandOptions {
  readonly comparison?: string;
  readonly out?: string;
}

/** A page holds a few runs; each may bring some megabytes. */
const MAX_RUNS = 8;

/** Writes runs and a comparison as one HTML file that opens from disk, and prints its name. */
export async function report(archives: readonly string[], options: ReportCommandOptions): Promise<void> {
  if (archives.length > MAX_RUNS)
    throw new MeshError('usage', `report takes at most ${MAX_RUNS} archives, not ${archives.length}`);
  const comparison =
    options.comparison === undefined ? undefined : readComparison(userPath(options.comparison));
  const runs: ArchivedRun[] = [];
  for (const archive of archivesOf(archives, options)) runs.push(await readArchivedRun(archive));
  const html = await reportHtml({ runs, ...(comparison === undefined ? {} : { comparison }) });
  const file = options.out === undefined ? path.join(defaultOut(), 'report.html') : userPath(options.out);
  try {
    writeFileSync(file, html);
  } catch (error) {
    throw new MeshError('io', `--out ${file}: ${fileFaultOf(error)}`, { cause: error });
  }
  console.error(`written: ${count(Buffer.byteLength(html) / 1000)} kB`);
  console.log(file);
}

/** A comparison can stand alone; without one the last run is meant. */
function archivesOf(archives: readonly string[], { comparison }: ReportCommandOptions): string[] {
  if (archives.length > 0 || comparison !== undefined) return archives.map(userPath);
  const archive = path.join(defaultOut(), 'run_artifacts.tar.gz');
  if (!existsSync(archive))
    throw new MeshError('usage', `there is no run in ${defaultOut()}: npm run bench makes one`);
  return [archive];
}
