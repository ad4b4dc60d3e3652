import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defaultOut, userPath } from '../../config/user-paths.ts';
import { fileFaultOf, MeshError } from '../../core/errors.ts';
import { besides } from '../gaia/batch-places.ts';
import { openBatch, summariesOf } from '../gaia/finished-batch.ts';
import { type ArchivedRun, readArchivedRun } from '../report/archived-run.ts';
import { readComparison } from '../report/comparison-file.ts';
import { type ReportSources, reportHtml } from '../report/report-html.ts';
import { count } from '../terminal/table.ts';

export interface ReportCommandOptions {
  readonly comparison?: string;
  /** Answers of a batch, or what is beside them. */
  readonly gaia?: string;
  readonly out?: string;
}

/** A page holds a few runs; each may bring some megabytes. */
const MAX_RUNS = 8;

/** Writes runs, a comparison and a batch of questions as one HTML file that opens from disk, and prints its name. */
export async function report(archives: readonly string[], options: ReportCommandOptions): Promise<void> {
  if (archives.length > MAX_RUNS)
    throw new MeshError('usage', `report takes at most ${MAX_RUNS} archives, not ${archives.length}`);
  const comparison =
    options.comparison === undefined ? undefined : readComparison(userPath(options.comparison));
  const runs: ArchivedRun[] = [];
  for (const archive of archivesOf(archives, options)) runs.push(await readArchivedRun(archive));
  const sources: ReportSources = { runs, ...(comparison === undefined ? {} : { comparison }) };
  if (options.gaia === undefined) {
    await write(sources, options.out ?? path.join(defaultOut(), 'report.html'));
    return;
  }
  const batch = openBatch(userPath(options.gaia));
  try {
    const gaia = { batch, summaries: summariesOf(batch) };
    await write({ ...sources, gaia }, options.out ?? besides(batch.answers).report);
  } finally {
    batch.close();
  }
}

async function write(sources: ReportSources, out: string): Promise<void> {
  const html = await reportHtml(sources);
  const file = userPath(out);
  try {
    writeFileSync(file, html);
  } catch (error) {
    throw new MeshError('io', `--out ${file}: ${fileFaultOf(error)}`, { cause: error });
  }
  console.error(`written: ${count(Buffer.byteLength(html) / 1000)} kB`);
  console.log(file);
}

/** A comparison or a batch can stand alone; without them the last run is meant. */
function archivesOf(archives: readonly string[], { comparison, gaia }: ReportCommandOptions): string[] {
  if (archives.length > 0 || comparison !== undefined || gaia !== undefined) return archives.map(userPath);
  const archive = path.join(defaultOut(), 'run_artifacts.tar.gz');
  if (!existsSync(archive))
    throw new MeshError('usage', `there is no run in ${defaultOut()}: npm run bench makes one`);
  return [archive];
}
