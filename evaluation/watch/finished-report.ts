import { openBatch, summarizeTeams } from '../batch/finished-batch.ts';
import type { ReportData } from '../report/page-data.ts';

// These functions build the reports of what is over from the files that it left. Each throws a MeshError where the files
// are missing or of another kind. A run that nobody watches loads none of the modules that build reports.

export async function buildRunReport(archive: string): Promise<ReportData> {
  const { readArchivedRun } = await import('../report/run/archived-run.ts');
  return buildReport({ runs: [await readArchivedRun(archive)] });
}

/** @param file the batch's answers, journal, or head */
export async function buildBatchReport(file: string): Promise<ReportData> {
  const batch = openBatch(file);
  try {
    return await buildReport({ runs: [], batch: { batch, summaries: summarizeTeams(batch) } });
  } finally {
    batch.close();
  }
}

export async function buildComparisonReport(file: string): Promise<ReportData> {
  const { readComparison } = await import('../compare/comparison-file.ts');
  return buildReport({ runs: [], comparison: readComparison(file) });
}

const buildReport: typeof import('../report/report-html.ts').buildReportData = async (found) =>
  (await import('../report/report-html.ts')).buildReportData(found);
