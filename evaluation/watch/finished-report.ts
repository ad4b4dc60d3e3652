import { openBatch, summarizeTeams } from '../batch/finished-batch.ts';
import { readComparison } from '../compare/comparison-file.ts';
import { buildReportData, type ReportData } from '../report/report-html.ts';
import { readArchivedRun } from '../report/run/archived-run.ts';

/** The reports of what is over, from the files that it left. Each throws a MeshError where they are not there, or not such files. */

export async function buildRunReport(archive: string): Promise<ReportData> {
  return buildReportData({ runs: [await readArchivedRun(archive)] });
}

/** @param file the batch's answers, journal, or head */
export async function buildBatchReport(file: string): Promise<ReportData> {
  const batch = openBatch(file);
  try {
    return await buildReportData({ runs: [], gaia: { batch, summaries: summarizeTeams(batch) } });
  } finally {
    batch.close();
  }
}

export async function buildComparisonReport(file: string): Promise<ReportData> {
  return buildReportData({ runs: [], comparison: readComparison(file) });
}
