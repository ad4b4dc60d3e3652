import { openBatch, summariesOf } from '../batch/finished-batch.ts';
import { comparisonFileText, parseComparison } from '../compare/comparison-file.ts';
import { isStacksFile, parseStacks } from '../compare/stacks/figures/stacks-file.ts';
import { type ReportData, reportData } from '../report/report-html.ts';
import { readArchivedRun } from '../report/run/archived-run.ts';

/** The reports of what is over, from the files that it left. Each throws a MeshError where they are not there, or not such files. */

export async function reportOfRun(archive: string): Promise<ReportData> {
  return reportData({ runs: [await readArchivedRun(archive)] });
}

/** @param file answers of a batch, its journal, or its head */
export async function reportOfBatch(file: string): Promise<ReportData> {
  const batch = openBatch(file);
  try {
    return await reportData({ runs: [], gaia: { batch, summaries: summariesOf(batch) } });
  } finally {
    batch.close();
  }
}

export async function reportOfComparison(file: string): Promise<ReportData> {
  const text = comparisonFileText(file);
  return isStacksFile(text)
    ? reportData({ runs: [], stacks: parseStacks(text, file) })
    : reportData({ runs: [], comparison: parseComparison(text, file) });
}
