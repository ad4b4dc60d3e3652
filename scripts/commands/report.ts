import { statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { findDefaultOut, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { openBatch, summarizeTeams } from '@gaia-mesh/evaluation/batch/finished-batch.ts';
import { readComparison } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import { deriveBatchPaths } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import { argument, defineTable, option, text } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { buildReportHtml, type ReportSources } from '@gaia-mesh/evaluation/report/report-html.ts';
import { type ArchivedRun, readArchivedRun } from '@gaia-mesh/evaluation/report/run/archived-run.ts';
import { print, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { defineOptions } from '../command-line/options.ts';
import { findLastArchive } from '../command-line/result-folder.ts';

const reportTable = defineTable({
  options: z.object({
    archives: argument(
      '[archives...]',
      'show these archives beside the first (default: the last run)',
      z.array(z.string()),
    ),
    comparison: option('<file>', 'add a comparison (comparison.json)', text.optional()),
    /** Answers of a batch, or a file beside them. */
    gaia: option('<file>', 'add a batch of questions, by its answers file', text.optional()),
    out: option('<file>', 'write the page to this file (default: report.html)', text.optional()),
  }),
});

type ReportOptions = z.output<typeof reportTable.options>;

/** Maximum runs of a page; each may add some megabytes. */
const MAX_RUNS = 8;

export function defineReport(command: Command): void {
  defineOptions(command, reportTable, run);
}

/** Writes runs, a comparison and a batch of questions as one HTML file that opens from disk, and prints its name. */
async function run(options: ReportOptions): Promise<void> {
  const { archives } = options;
  if (archives.length > MAX_RUNS)
    throw new MeshError('usage', `report takes at most ${MAX_RUNS} archives, not ${archives.length}`);
  const comparison =
    options.comparison === undefined ? undefined : readComparison(resolveUserPath(options.comparison));
  const runs: ArchivedRun[] = [];
  for (const archive of resolveArchives(options)) runs.push(await readArchivedRun(archive));
  const sources: ReportSources = { runs, comparison };
  if (options.gaia === undefined) {
    await write(sources, options.out ?? path.join(findDefaultOut(), 'report.html'));
    return;
  }
  const batch = openBatch(resolveUserPath(options.gaia));
  try {
    await write(
      { ...sources, batch: { batch, summaries: summarizeTeams(batch) } },
      options.out ?? deriveBatchPaths(batch.answers).report,
    );
  } finally {
    batch.close();
  }
}

async function write(sources: ReportSources, out: string): Promise<void> {
  const html = await buildReportHtml(sources);
  const file = resolveUserPath(out);
  writeWhole(file, html);
  printError(`written: ${count(Buffer.byteLength(html) / 1000)} kB`);
  print(file);
}

/** Returns the archives to show: a comparison or a batch can stand alone; without them it is the last run. */
function resolveArchives({ archives, comparison, gaia }: ReportOptions): string[] {
  const isLast = archives.length === 0 && comparison === undefined && gaia === undefined;
  return isLast ? [findLastArchive()] : archives.map(resolveArchive);
}

/** Returns an archive's file; a folder stands for the archive that `--out` wrote into it. */
function resolveArchive(typed: string): string {
  const place = resolveUserPath(typed);
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? findLastArchive(place) : place;
}
