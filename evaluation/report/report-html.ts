import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import type { BlameFile } from '../blame/blame-file.ts';
import type { ComparisonFile } from '../compare/comparison-file.ts';
import { type BatchData, type BatchSource, readBatchData } from './batch-data.ts';
import { fillPage } from './page-html.ts';
import type { ArchivedRun } from './run/archived-run.ts';
import { buildRunData, type RunData } from './run/run-data.ts';
import type { FolderPlace, RunPlace } from './watch-html.ts';

export interface ReportSources {
  readonly comparison?: ComparisonFile | undefined;
  readonly batch?: BatchSource;
  readonly blame?: BlameFile;
  readonly runs: readonly ArchivedRun[];
}

/** All that a report shows, as it is embedded in its page. */
export interface ReportData {
  readonly batch: BatchData | null;
  readonly blame: BlameFile | null;
  readonly comparison: ComparisonFile | null;
  readonly runs: readonly RunData[];
}

/** A page of results from files, of a run that is on or over, or of a folder. */
export type PageData = (({ readonly kind: 'report' } & ReportData) | RunPlace | FolderPlace) & {
  readonly version: string;
};

/** Builds the report as one HTML file that loads nothing. */
export async function buildReportHtml(sources: ReportSources): Promise<string> {
  const data: PageData = { kind: 'report', version: packageVersion, ...(await buildReportData(sources)) };
  return fillPage(data, false).html;
}

export async function buildReportData({
  comparison,
  batch,
  blame,
  runs,
}: ReportSources): Promise<ReportData> {
  return {
    batch: batch === undefined ? null : readBatchData(batch),
    blame: blame ?? null,
    comparison: comparison ?? null,
    runs: await Promise.all(runs.map(buildRunData)),
  };
}
