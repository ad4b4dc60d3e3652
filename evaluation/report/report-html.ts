import type { BlameFile } from '../blame/blame-file.ts';
import type { ComparisonFile } from '../compare/comparison-file.ts';
import { type BatchSource, readBatchData } from './batch-data.ts';
import type { ReportData } from './page-data.ts';
import { fillPage } from './page-html.ts';
import type { ArchivedRun } from './run/archived-run.ts';
import { buildRunData } from './run/run-data.ts';

export interface ReportSources {
  readonly comparison?: ComparisonFile | undefined;
  readonly batch?: BatchSource;
  readonly blame?: BlameFile;
  readonly runs: readonly ArchivedRun[];
}

/** Builds the report as one HTML file that loads nothing. */
export async function buildReportHtml(sources: ReportSources): Promise<string> {
  return fillPage({ kind: 'report', ...(await buildReportData(sources)) }, false).html;
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
